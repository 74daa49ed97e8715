import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { issueToken, tokenKey } from "@/lib/auth/token.ts";
import type { App } from "@/lib/http/app.ts";
import { startStore } from "@/tests/embedded/store/store_fixture.ts";
import { NOW, SECRET, withGateway } from "@/tests/routes/gateway_fixture.ts";

/** The threads of the store outlive single tests. */
export const leaks = { sanitizeOps: false, sanitizeResources: false };

export interface Answer {
  readonly status: number;
  readonly text: string;
  json(): Record<string, unknown>;
}

/** Calls the gateway below /api/v1/mapi. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** The gateway in front of an embedded store, both over the network. */
export interface EmbeddedGateway {
  readonly app: App;
  readonly store: Awaited<ReturnType<typeof startStore>>;
  /** Calls as a user of a tenant, or of the system level (null). */
  as(tenant: string | null, user: string, password?: string): Call;
}

/**
 * Runs a test's body with a gateway in front of a fresh embedded store.
 *
 * @param now the gateway's time, ms since 1970; S3 wants the present one (`Date.now`)
 */
export async function withEmbeddedGateway(
  body: (fixture: EmbeddedGateway) => Promise<void>,
  now: () => number = () => NOW,
): Promise<void> {
  await using store = await startStore();
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
  };
  await withGateway({ gateway: { addresses }, app: { now } }, async ({ app, origin }) => {
    await body({
      app,
      store,
      as(tenant, user, password = SAMPLE_PASSWORD) {
        const claims = { sub: user, pwd: password, tenant };
        const token = issueToken(claims, tokenKey(SECRET), now() / 1000, 480);
        return async (method, path, given) => {
          const response = await fetch(`${origin}/api/v1/mapi${path}`, {
            method,
            redirect: "manual",
            headers: { authorization: `Bearer ${await token}` },
            body: given === undefined ? undefined : JSON.stringify(given),
          });
          const text = await response.text();
          return { status: response.status, text, json: () => JSON.parse(text) };
        };
      },
    });
  });
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
