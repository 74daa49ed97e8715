import { readPorts } from "@/embedded/store/ports.ts";
import { RESULTS_BUCKET, RESULTS_TENANT } from "@/embedded/store/server/samples.ts";
import { type Application, type ApplicationOptions, startProcess } from "@/tests/application.ts";
import { TEST_CA } from "@/tests/lib/http/certificates.ts";
import { RedisServer } from "@/tests/redis_server.ts";
import { mapiFront } from "./mapi_front.ts";
import { ReplicaPool, RoundRobinProxy } from "./round_robin_proxy.ts";

const REPLICAS = 2;
/** The same at each start: a login outlives a restart. */
const SESSION_KEY = btoa("s".repeat(32));
export const ROLES = ["gateway", "results", "web"] as const;
type Role = (typeof ROLES)[number];

/** Paths of the API that are the web role's; the others are the gateway's. */
const WEB_API = /^\/api\/v1\/(?:jobs|version)\b/;
const GATEWAY_PATHS = /^\/(?:api\/v1\/|docs\b|openapi\.json\b)/;

/** A process of a role. */
export interface Replica {
  readonly role: Role;
  readonly process: Application;
  /** Without a trailing slash. */
  readonly origin: string;
}

/** The application with its roles apart, two processes of each, over one Redis and behind a proxy. */
export interface ReplicatedApplication extends Application, AsyncDisposable {
  readonly redis: RedisServer;
  pool(role: Role): ReplicaPool;
  replicas(role: Role): readonly Replica[];
  /** Starts a replica in place of one that has ended. */
  replace(ended: Replica): Promise<Replica>;
}

interface ReplicatedOptions extends ApplicationOptions {
  /** Further settings of the roles. */
  readonly roleEnv?: Readonly<Record<string, string>>;
}

/**
 * Starts a process with the embedded store and cluster, a Redis, and two processes of each role that know of both, and of
 * each other, by settings alone. Its `site` is the address of the proxy. The store's tenant is that of the results; it
 * is reached as a store of one's own.
 */
export async function startReplicated(options: ReplicatedOptions = {}): Promise<ReplicatedApplication> {
  const { env = {}, roleEnv = {} } = options;
  const isStorageOnly = "CAMPAIGN_WEB_SITE_ONLY" in env;
  await using stack = new AsyncDisposableStack();
  const lasting = options.dataFolder;
  const redis = stack.use(await RedisServer.start({ folder: lasting && `${lasting}/redis` }));
  const running = new Set<Application>();
  const end = async (application: Application, how: "stop" | "kill") => {
    if (!running.delete(application)) return null;
    // A test may have ended it already.
    return how === "stop" ? await application.stop() : await application.kill().catch(() => null);
  };
  stack.defer(async () => {
    await Promise.all([...running].map((application) => end(application, "kill")));
  });
  const all: Application[] = [];
  const run = async (options: ApplicationOptions) => {
    const application = await startProcess(options);
    running.add(application);
    all.push(application);
    return application;
  };

  const pools = { gateway: new ReplicaPool(), results: new ReplicaPool(), web: new ReplicaPool() };
  const edge = stack.use(
    await RoundRobinProxy.start({
      isEdge: true,
      route: (path) => GATEWAY_PATHS.test(path) && !WEB_API.test(path) ? pools.gateway : pools.web,
    }),
  );
  const inside = async (role: Role) =>
    stack.use(await RoundRobinProxy.start({ isEdge: false, route: () => pools[role] })).origin;
  const addresses = { gateway: await inside("gateway"), results: await inside("results") };
  const resultsUrl = `${edge.origin}/results`;

  const dataFolder = lasting ?? `${redis.folder}/data`;
  const upstream = await run({ dataFolder, env: { CAMPAIGN_RESULTS_URL: resultsUrl, ...env } });
  const front = stack.use(mapiFront(dataFolder));
  const ca = `${redis.folder}/ca.pem`;
  await Deno.writeTextFile(ca, TEST_CA);

  const store = `http://127.0.0.1:${readPorts(`${dataFolder}/ports.json`)[`s3 ${RESULTS_TENANT}`]}`;
  const common = {
    ...env,
    EMBEDDED: "off",
    HOST: "127.0.0.1",
    TRUSTED_HOPS: "1",
    REDIS_URL: redis.url,
    RESULTS_SESSION_KEY: SESSION_KEY,
    ...roleEnv,
  };
  const settings: Record<Role, Record<string, string>> = {
    gateway: {
      API_SECRET_KEY: "a key of these tests, long enough to sign with",
      HCP_HOST: "localhost",
      HCP_PORT: String(front.port),
      S3_ENDPOINT_URL: store,
      CA_FILE: ca,
    },
    results: {
      // The proxy at the edge, and the web role.
      TRUSTED_HOPS: "2",
      RESULTS_S3_ENDPOINT: store,
      RESULTS_S3_BUCKET: RESULTS_BUCKET,
      RESULTS_TENANT,
    },
    web: {
      GATEWAY_URL: addresses.gateway,
      CAMPAIGN_RESULTS_URL: resultsUrl,
      RESULTS_TENANT,
      ...(!isStorageOnly && {
        CAMPAIGN_RESULTS_PROXY: `${addresses.results}/results`,
        KUBECONFIG: `${dataFolder}/kubeconfig`,
      }),
    },
  };
  const replicas = new Map<Role, Replica[]>();
  const start = async (role: Role): Promise<Replica> => {
    const process = await run({
      dataFolder: `${redis.folder}/unused`,
      env: { ...common, ...settings[role], ROLES: role },
    });
    return { role, process, origin: process.site.replace(/\/$/, "") };
  };
  const use = (role: Role, now: Replica[]) => {
    replicas.set(role, now);
    pools[role].origins = now.map(({ origin }) => origin);
  };
  const roles = ROLES.filter((role) => role !== "results" || !isStorageOnly);
  // One after the other: the runtime's starts wait for each other's lock, and those of other tests would.
  for (const role of roles) {
    const started: Replica[] = [];
    while (started.length < REPLICAS) started.push(await start(role));
    use(role, started);
  }

  const stopped = async (how: "stop" | "kill") => {
    const processes = [...running].filter((application) => application !== upstream);
    const ended = await Promise.all(processes.map((process) => end(process, how)));
    ended.push(await end(upstream, how));
    return ended.flatMap((status) => status ?? []);
  };
  const parts = stack.move();
  return {
    site: `${edge.origin}/`,
    pid: upstream.pid,
    dataFolder,
    redis,
    output: () => all.map((application) => application.output()).join(""),
    async stop() {
      const statuses = await stopped("stop");
      await parts.disposeAsync();
      return statuses.find(({ code }) => code !== 0) ?? statuses[0];
    },
    async kill() {
      await stopped("kill");
      await parts.disposeAsync();
    },
    pool: (role) => pools[role],
    replicas: (role) => replicas.get(role) ?? [],
    async replace(ended) {
      running.delete(ended.process);
      const replica = await start(ended.role);
      use(ended.role, (replicas.get(ended.role) ?? []).map((one) => one === ended ? replica : one));
      return replica;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
