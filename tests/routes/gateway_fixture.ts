import { taskHandlers } from "@/compose/tasks.ts";
import { GuessLimits } from "@/lib/auth/credential_memory.ts";
import { AcceptedIdentities, issueToken, tokenKey } from "@/lib/auth/admission.ts";
import { type Identify, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { type App, batchedLog, serving } from "@/lib/http/app.ts";
import { type UpstreamClient, upstreamClient } from "@/lib/http/upstream.ts";
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { drainingServer } from "@/lib/process/listener.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { CONDITION_TABLES } from "@/lib/s3/store_kind.ts";
import type { TimeBounds } from "@/lib/std/body_reader.ts";
import type { StoreAddresses } from "@/lib/std/store_addresses.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import { PROCESS_CLOCK, steadyTime, taskKeys } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { type AppDeps, buildApp } from "@/compose/app.ts";
import type { GatewayDeps } from "@/routes/gateway.ts";
import { freePort } from "@/tests/free_port.ts";

/** What the fake store was sent. */
export interface Seen {
  readonly method: string;
  /** Path and query exactly as they came. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
}

export type FakeAnswer = (request: Request, seen: Seen) => Response | Promise<Response>;

type Json = Awaited<ReturnType<Response["json"]>>;

export interface Fixture {
  readonly app: App;
  /** Origin of the gateway on a real port. */
  readonly origin: string;
  readonly storeOrigin: string;
  readonly seen: Seen[];
  readonly logged: () => Record<string, unknown>[];
  readonly bearer: { Authorization: string };
  /** Calls the gateway over the network with a bearer token. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** POSTs JSON in the same way, and reads the JSON of the response. */
  post(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Json }>;
  answer(answer: FakeAnswer): void;
}

export const SECRET = new TextEncoder().encode("a secret that only tests know, 32+");
export const NOW = Date.UTC(2026, 10, 20, 7, 31, 17);

/** Who calls where a test does not say. */
export const CURATOR = { username: "curator", password: "p4ssw0rd", tenant: "archive" };

/** What differs of the ways to the store. */
interface StoreOptions extends Pick<Partial<S3>, "region" | "conditions" | "mayTruncate"> {
  readonly addresses?: StoreAddresses;
  readonly upstreams?: { readonly s3: UpstreamClient; readonly mapi: UpstreamClient };
  readonly s3TimeoutMs?: number;
  readonly bodyBounds?: TimeBounds;
}

export interface FixtureOptions {
  readonly gateway?: Partial<GatewayDeps> & StoreOptions;
  readonly app?: Partial<AppDeps>;
  readonly tasks?: Partial<ConstructorParameters<typeof TaskRunner>[0]>;
  readonly identify?: Identify;
  readonly timeoutMs?: number;
  /** Whether the store has accepted the fixture's caller just before; true when absent. */
  readonly proven?: boolean;
  /** What the store answers from the start, where stored tasks go on at once. */
  readonly answer?: FakeAnswer;
}

/** A gateway and a store that answers what the test says, both on ports of their own, ended with the test's body. */
export async function withGateway(options: FixtureOptions, body: (fixture: Fixture) => Promise<void>): Promise<void> {
  const seen: Seen[] = [];
  let answer: FakeAnswer = options.answer ?? (() => new Response("no answer was set", { status: 599 }));
  const store = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const record = {
      method: request.method,
      target: request.url.slice(request.url.indexOf("/", "http://".length)),
      headers: new Headers(request.headers),
      body: await request.text(),
    };
    seen.push(record);
    return await answer(request, record);
  });
  const storeOrigin = `http://127.0.0.1:${store.addr.port}`;
  const client = upstreamClient({ verifyTls: true, timeoutMs: options.timeoutMs ?? 60_000 });
  let lines = "";
  const accepted = new AcceptedIdentities(() => NOW);
  if (options.proven ?? true) accepted.accept(accepted.digest(CURATOR));
  const log = batchedLog((text) => lines += text);
  const {
    addresses = {
      s3: () => Promise.resolve({ endpoint: storeOrigin, publicEndpoint: "https://share.example.org" }),
      mapi: () => Promise.resolve(storeOrigin),
    },
    upstreams = { s3: client, mapi: client },
    region = "us-east-1",
    conditions = () => Promise.resolve(CONDITION_TABLES.embedded),
    mayTruncate,
    s3TimeoutMs: timeoutMs,
    bodyBounds: bounds,
    ...given
  } = options.gateway ?? {};
  const now = options.app?.now ?? (() => NOW);
  const s3 = { addresses, upstream: upstreams.s3, region, now, timeoutMs, bounds, conditions, mayTruncate };
  const tasks = new TaskRunner({
    store: new SqliteTaskStore(":memory:", steadyTime()),
    keys: taskKeys(SECRET),
    handlers: taskHandlers(s3),
    bounds: { maxPerOwner: 10, maxPerTenant: 200, max: 200 },
    clock: PROCESS_CLOCK,
    log,
    ...options.tasks,
  });
  tasks.start();
  const app = buildApp({
    web: null,
    results: null,
    resultsStore: null,
    gateway: {
      tokenSecrets: [SECRET],
      tokenLifetimeMinutes: 480,
      accepted,
      guesses: new GuessLimits(() => NOW),
      identify: options.identify ?? storeIdentities("native"),
      s3,
      mapi: { addresses, upstream: upstreams.mapi, timeoutMs: options.timeoutMs ?? 60_000 },
      tasks,
      backend: "hcp",
      mapiEnabled: true,
      sharedKeys: null,
      corsOrigins: "*",
      ...given,
    },
    allowedHosts: null,
    log,
    now,
    ...options.app,
  });
  const limits: ConnectionLimits = { ...DEFAULT_CONNECTION_LIMITS, responses: bounds };
  const handler = serving(app);
  const gateway = drainingServer({ port: 0, hostname: "127.0.0.1", limits }, handler, handler);
  const origin = `http://127.0.0.1:${gateway.port}`;
  const token = await issueToken({ sub: "curator", pwd: "p4ssw0rd", tenant: "archive" }, tokenKey(SECRET), {
    nowSeconds: NOW / 1000,
    lifetimeMinutes: 480,
  });
  const bearer = { Authorization: `Bearer ${token}` };
  const call: Fixture["call"] = (path, init = {}) =>
    fetch(origin + path, { redirect: "manual", ...init, headers: { ...bearer, ...init.headers } });
  try {
    await body({
      app,
      origin,
      storeOrigin,
      seen,
      bearer,
      logged() {
        log.flush();
        return lines.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
      },
      call,
      async post(path, body) {
        const headers = { "content-type": "application/json" };
        const response = await call(path, { method: "POST", headers, body: JSON.stringify(body) });
        return { status: response.status, body: await response.json() };
      },
      answer(given) {
        answer = given;
      },
    });
  } finally {
    log.flush();
    await tasks.stop();
    await gateway.drain();
    await tasks.store.close();
    await store.shutdown();
  }
}

/** A test with a gateway and a store of its own; see {@link withGateway}. */
export function gatewayTest(
  name: string,
  body: (fixture: Fixture) => Promise<void>,
  options: FixtureOptions = {},
): void {
  Deno.test(name, () => withGateway(options, body));
}

/** The addresses of a store that has both of its ports at one origin. */
export function addressesAt(origin: string): StoreAddresses {
  return {
    s3: () => Promise.resolve({ endpoint: origin, publicEndpoint: origin }),
    mapi: () => Promise.resolve(origin),
  };
}

/** The addresses of a store that cannot be reached. */
export function nowhere(): StoreAddresses {
  return addressesAt(`http://127.0.0.1:${freePort()}`);
}

/** A page of a listing of objects of two bytes; it is the last one without a token. */
export function listing(
  keys: readonly string[],
  { token = null, prefixes = [] }: { readonly token?: string | null; readonly prefixes?: readonly string[] } = {},
): Response {
  const entries = keys.map((key) =>
    `<Contents><Key>${encodeURIComponent(key)}</Key><Size>2</Size><ETag>&quot;e&quot;</ETag></Contents>`
  );
  const folders = prefixes.map((prefix) => `<CommonPrefixes><Prefix>${prefix}</Prefix></CommonPrefixes>`);
  const next = token === null ? "" : `<NextContinuationToken>${token}</NextContinuationToken>`;
  return new Response(
    `<ListBucketResult><IsTruncated>${token !== null}</IsTruncated>${next}<EncodingType>url</EncodingType>` +
      `${entries.join("")}${folders.join("")}</ListBucketResult>`,
  );
}

/** An S3 error answer. */
export function s3Error(status: number, code: string, message: string): Response {
  return new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`, {
    status,
    headers: { "Content-Type": "application/xml" },
  });
}
