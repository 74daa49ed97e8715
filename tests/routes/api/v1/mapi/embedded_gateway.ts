import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { startStore, type Store } from "@/embedded/tests/store/store_fixture.ts";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";
import type { App } from "@/lib/http/app.ts";
import type { StoreAddresses } from "@/lib/std/store_addresses.ts";
import { type FixtureOptions, SECRET, withGateway } from "@/tests/routes/gateway_fixture.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  json(): Record<string, unknown>;
}

/** Calls the gateway below /api/v1/mapi. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

interface CallOptions {
  /** A user of the tenant `archive`; its curator when absent. */
  readonly user?: string;
  readonly headers?: Record<string, string>;
}

type Body = BodyInit | Readonly<Record<string, unknown>>;

/** The gateway in front of an embedded store, both over the network. */
export interface EmbeddedGateway {
  readonly app: App;
  readonly origin: string;
  readonly store: Store;
  /** Calls the management plane as a user of a tenant, or of the system level (null). */
  as(tenant: string | null, user: string, password?: string): Call;
  /** Calls the gateway below /api/v1. */
  call(method: string, path: string, body?: Body, options?: CallOptions): Promise<Response>;
  /** The same for a JSON response, which must be a success. */
  json(method: string, path: string, body?: Body): Promise<Record<string, unknown>>;
}

interface EmbeddedOptions extends FixtureOptions {
  /** The gateway's time, ms since 1970. S3 wants the present one, which it is when absent. */
  readonly now?: () => number;
  readonly start?: typeof startStore;
  /** Marks requests as the gateway's own. */
  readonly mark?: StoreAddresses["mark"];
}

/** A test with a gateway in front of a fresh embedded store, whose threads outlive it. */
export function embeddedTest(name: string, body: (fixture: EmbeddedGateway) => Promise<void>): void {
  Deno.test(name, () => withEmbeddedGateway(body));
}

/** Runs a test's body with a gateway in front of a fresh embedded store. */
export async function withEmbeddedGateway(
  body: (fixture: EmbeddedGateway) => Promise<void>,
  { now = Date.now, start = startStore, mark, ...options }: EmbeddedOptions = {},
): Promise<void> {
  await using store = await start();
  const level = (tenant: string | null) => {
    const address = store.server.address(tenant);
    if (!address) throw new Error(`no tenant ${tenant}`);
    return address;
  };
  const addresses = {
    s3: (tenant: string | null) => {
      const { s3 } = level(tenant);
      return Promise.resolve({ endpoint: s3, publicEndpoint: s3 });
    },
    mapi: (tenant: string | null) => Promise.resolve(level(tenant).mapi),
    mark,
  };
  const bearer = async (tenant: string | null, user: string, password = SAMPLE_PASSWORD) =>
    `Bearer ${await issueToken({ sub: user, pwd: password, tenant }, tokenKey(SECRET), {
      nowSeconds: now() / 1000,
      lifetimeMinutes: 480,
    })}`;
  const given = { ...options, gateway: { addresses, ...options.gateway }, app: { now, ...options.app } };
  await withGateway(given, async ({ app, origin }) => {
    const call: EmbeddedGateway["call"] = async (method, path, body, { user = "curator", headers } = {}) =>
      await app.request(`/api/v1${path}`, {
        method,
        headers: {
          ...(isJson(body) ? { "content-type": "application/json" } : {}),
          ...headers,
          authorization: await bearer("archive", user),
        },
        body: isJson(body) ? JSON.stringify(body) : body,
      });
    await body({
      app,
      origin,
      store,
      as(tenant, user, password) {
        const authorization = bearer(tenant, user, password);
        return async (method, path, given) => {
          const response = await fetch(`${origin}/api/v1/mapi${path}`, {
            method,
            redirect: "manual",
            headers: { authorization: await authorization },
            body: given === undefined ? undefined : JSON.stringify(given),
          });
          const text = await response.text();
          return { status: response.status, text, json: () => JSON.parse(text) };
        };
      },
      call,
      async json(method, path, body) {
        const response = await call(method, path, body);
        const text = await response.text();
        assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
        return JSON.parse(text);
      },
    });
  });
}

function isJson(body: Body | undefined): body is Readonly<Record<string, unknown>> {
  return typeof body === "object" && Object.getPrototypeOf(body) === Object.prototype;
}

/** A user account with all roles. */
export function administrator(username: string): Record<string, unknown> {
  return {
    username,
    fullName: username,
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    roles: { role: ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"] },
  };
}
