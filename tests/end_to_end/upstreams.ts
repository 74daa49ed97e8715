import { readPorts } from "@/embedded/store/ports.ts";
import { RESULTS_BUCKET, RESULTS_TENANT } from "@/embedded/store/server/sample_data.ts";
import { type Application, type ApplicationOptions, startProcess } from "@/tests/application.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { RedisServer } from "@/tests/redis_server.ts";

/** The roles, in the order in which they are started where they are apart. */
export const ROLES = ["gateway", "results", "web"] as const;
export type Role = (typeof ROLES)[number];

type Settings = Readonly<Record<string, string>>;

/** A process with the embedded store and cluster, and a Redis, which others reach by settings alone, as their own. */
export interface Upstreams extends AsyncDisposable {
  readonly process: Application;
  readonly redis: RedisServer;
  /** Of every role. */
  readonly common: Settings;
  /** Of a role in front of them. They name no other role. */
  readonly ofRole: Readonly<Record<Role, Settings>>;
  /** The path of a kubeconfig of the cluster. */
  readonly kubeconfig: string;
}

/**
 * Starts them. The store's tenant is that of the results.
 *
 * @param options with the folder that outlives them, if any
 * @param resultsUrl where results are for people
 */
export async function startUpstreams(options: ApplicationOptions, resultsUrl: string): Promise<Upstreams> {
  await using stack = new AsyncDisposableStack();
  const { env = {}, dataFolder: lasting } = options;
  const redis = stack.use(await RedisServer.start({ folder: lasting && `${lasting}/redis` }));
  const dataFolder = lasting ?? `${redis.folder}/data`;
  const process = await startProcess({ dataFolder, env: { CAMPAIGN_RESULTS_URL: resultsUrl, ...env } });
  // A test may have ended it already.
  stack.defer(() => process.kill().catch(() => {}));
  const front = stack.use(mapiFront(dataFolder));
  const store = `http://127.0.0.1:${readPorts(`${dataFolder}/ports.json`)[`s3 ${RESULTS_TENANT}`]}`;
  const parts = stack.move();
  return {
    process,
    redis,
    common: { ...env, EMBEDDED: "off", REDIS_URL: redis.url },
    ofRole: {
      gateway: {
        API_SECRET_KEY: "a key of these tests, long enough to sign with",
        HCP_HOST: "localhost",
        HCP_PORT: String(front.port),
        S3_ENDPOINT_URL: store,
        CA_CERTIFICATES: TEST_CA,
      },
      results: { RESULTS_S3_ENDPOINT: store, RESULTS_S3_BUCKET: RESULTS_BUCKET, RESULTS_TENANT },
      web: { CAMPAIGN_RESULTS_URL: resultsUrl, RESULTS_TENANT },
    },
    kubeconfig: `${dataFolder}/kubeconfig`,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** The management API of an embedded store as that of a store of one's own: over TLS, with one address for all tenants. */
export interface MapiFront extends AsyncDisposable {
  readonly port: number;
}

/** @param dataFolder of the embedded store */
export function mapiFront(dataFolder: string): MapiFront {
  const tls = { cert: TEST_CERTIFICATE, key: TEST_KEY };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {}, ...tls }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = request.body && await request.bytes();
    const ports = readPorts(`${dataFolder}/ports.json`);
    const tenant = /^\/mapi\/tenants\/([^/]+)/.exec(pathname)?.[1].toLowerCase();
    const send = (port: number) =>
      fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method, headers, body, redirect: "manual" });
    // An account is of the tenant, or of the system level, which has a port of its own.
    const ofTenant = ports[`mapi ${tenant}`];
    if (ofTenant !== undefined) {
      const response = await send(ofTenant);
      if (response.status !== 401 && response.status !== 403) return response;
      const other = await send(ports.mapi);
      const [shown, left] = other.status === 401 || other.status === 403 ? [response, other] : [other, response];
      await left.body?.cancel();
      return shown;
    }
    return await send(ports.mapi);
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}
