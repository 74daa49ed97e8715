import { PutObjectCommand } from "@aws-sdk/client-s3";
import { randomBytes } from "node:crypto";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { GuessLimits } from "@/lib/auth/credential_memory.ts";
import { AcceptedIdentities } from "@/lib/auth/admission.ts";
import { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import { givenSessionKeys } from "@/lib/auth/session_token.ts";
import { type AddRoute, batchedLog, defaultHeaders, httpApp, type RequestLog, routesOf } from "@/lib/http/app.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { remoteResults, type ResultsService } from "@/lib/results/results_service.ts";
import { IDLE_MS, STREAM_BOUNDS } from "@/lib/std/body_reader.ts";
import { inProcessResults, mountResults, resultsRole } from "@/routes/results.ts";
import type { ResultsDeps } from "@/routes/results/login.ts";
import { mountPassThrough } from "@/routes/web.ts";

export const STEM = "results_session";
export const NAMESPACE = "batch-default";
export const CREDENTIALS = { username: "reader", password: SAMPLE_PASSWORD };

type FakeStore = (request: Request) => Response | Promise<Response>;

/** Deps of a results role over the S3 endpoint of one tenant. */
export function resultsDeps(endpoint: string, changes: Partial<ResultsDeps> = {}): ResultsDeps {
  const address = { endpoint, publicEndpoint: endpoint };
  return {
    store: {
      s3: {
        addresses: { s3: () => Promise.resolve(address) },
        region: "us-east-1",
        upstream: upstreamClient({ verifyTls: true, timeoutMs: 10_000 }),
        now: Date.now,
      },
      tenant: "archive",
      bucket: "campaigns",
    },
    namespaces: [NAMESPACE, "batch-other"],
    keyDerivation: "hcp",
    loginTenant: "archive",
    sessionKeys: givenSessionKeys(randomBytes(32)),
    sessionHours: 8,
    revoked: new RevokedSessions(null, batchedLog(() => {}), Date.now),
    cookieStem: STEM,
    trustedHops: 1,
    guesses: new GuessLimits(changes.now ?? Date.now),
    accepted: new AcceptedIdentities(changes.now ?? Date.now),
    log: batchedLog(() => {}),
    now: Date.now,
    ...changes,
  };
}

/** A server on a free port, ended with its scope. */
export function serve(handler: Deno.ServeHandler<Deno.NetAddr>) {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, handler);
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    port: server.addr.port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An app around one role, as compose/app.ts makes it. */
function around(mount: (add: AddRoute) => void, trustedHops = 0): Deno.ServeHandler<Deno.NetAddr> {
  const app = httpApp({ log: batchedLog(() => {}), trustedHops });
  app.use(defaultHeaders);
  mount(routesOf(app));
  return (request, info) => app.fetch(request, info);
}

/** The web role before a results service, behind one proxy of ours unless `trustedHops` says another number. */
export function web(
  service: ResultsService,
  log: RequestLog = batchedLog(() => {}),
  idleMs = IDLE_MS,
  trustedHops = 1,
) {
  const bounds = { ...STREAM_BOUNDS, idleMs };
  return serve(around((add) => mountPassThrough(add, { service, cookieStem: STEM, log, bounds }), trustedHops));
}

/** Both ways of having the results role behind the web role, each as a service. */
export async function* bothWays(deps: ResultsDeps): AsyncGenerator<{ way: string; service: ResultsService }> {
  yield { way: "in process", service: inProcessResults(resultsRole(deps)) };
  await using role = serve(around((add) => mountResults(add, resultsRole(deps))));
  yield { way: "remote", service: remoteService(role.origin) };
}

export function remoteService(origin: string, timeoutMs = 10_000): ResultsService {
  return remoteResults(`${origin}/results`, upstreamClient({ verifyTls: true, timeoutMs }));
}

/** An embedded store with result files in it. */
export async function filledStore(files: Record<string, { body: string | Uint8Array; type?: string }>) {
  const store = await startStore();
  const client = store.client("archive", "curator");
  for (const [key, { body, type }] of Object.entries(files)) {
    await client.send(new PutObjectCommand({ Bucket: "campaigns", Key: key, Body: body, ContentType: type }));
  }
  client.destroy();
  return store;
}

export function login(
  origin: string,
  credentials: unknown = CREDENTIALS,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${origin}/results/_login`, {
    method: "POST",
    redirect: "manual",
    headers: { "Content-Type": "application/json", "Origin": origin, ...headers },
    body: typeof credentials === "string" ? credentials : JSON.stringify(credentials),
  });
}

/** The `Cookie` header that a browser would send after this answer. */
export function cookieOf(response: Response): string {
  return (response.headers.get("Set-Cookie") ?? "").split(";", 1)[0];
}
