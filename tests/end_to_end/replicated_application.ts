import { type Application, type ApplicationOptions, startProcess } from "@/tests/application.ts";
import type { RedisServer } from "@/tests/redis_server.ts";
import { ReplicaPool, RoundRobinProxy } from "./round_robin_proxy.ts";
import { type Role, ROLES, startUpstreams } from "./upstreams.ts";

const REPLICAS = 2;
/** The same at each start: a login outlives a restart. */
const SESSION_KEY = btoa("s".repeat(32));

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

  const upstreams = stack.use(await startUpstreams(options, resultsUrl));
  const { process: upstream, redis } = upstreams;
  const running = new Set([upstream]);
  const end = async (application: Application, how: "stop" | "kill") => {
    if (!running.delete(application)) return null;
    // A test may have ended it already.
    return how === "stop" ? await application.stop() : await application.kill().catch(() => null);
  };
  stack.defer(async () => {
    await Promise.all([...running].map((application) => end(application, "kill")));
  });
  const all = [upstream];
  const run = async (options: ApplicationOptions) => {
    const application = await startProcess(options);
    running.add(application);
    all.push(application);
    return application;
  };

  const common = {
    ...upstreams.common,
    HOST: "127.0.0.1",
    TRUSTED_HOPS: "1",
    RESULTS_SESSION_KEY: SESSION_KEY,
    ...roleEnv,
  };
  const settings: Record<Role, Record<string, string>> = {
    gateway: upstreams.ofRole.gateway,
    results: {
      ...upstreams.ofRole.results,
      // The proxy at the edge, and the web role.
      TRUSTED_HOPS: "2",
    },
    web: {
      ...upstreams.ofRole.web,
      GATEWAY_URL: addresses.gateway,
      ...(!isStorageOnly && {
        CAMPAIGN_RESULTS_PROXY: `${addresses.results}/results`,
        KUBECONFIG: upstreams.kubeconfig,
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
    dataFolder: upstream.dataFolder,
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
