import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Application, type ApplicationOptions, startProcess } from "@/tests/application.ts";
import type { RedisServer } from "@/tests/redis_server.ts";
import { type Role, ROLES, startUpstreams } from "@/tests/end_to_end/upstreams.ts";

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

const LOOPBACK = "127.0.0.1";
/** A result of a health check holds so long, ms. A request is never sent by an older one. */
const HEALTH_MS = 250;
/** They are of one connection alone. */
const CONNECTION_HEADERS = ["connection", "keep-alive", "expect"];
/** A proxy at the edge writes them itself. */
const FORWARDED_HEADERS = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];

/** The replicas of a role: which of them the next request is sent to. */
export class ReplicaPool {
  #origins: readonly string[] = [];
  #next = 0;
  readonly #health = new Map<string, { readonly at: number; readonly isServing: Promise<boolean> }>();
  readonly #inFlight = new Map<string, number>();
  #waiting: { readonly origin: string; readonly resolve: () => void }[] = [];

  /** Without trailing slashes. */
  set origins(origins: readonly string[]) {
    this.#origins = origins;
  }

  /** Those that serve by their health check, in turns, the one to try first at the beginning; all, where none does. */
  async inTurn(): Promise<readonly string[]> {
    const origins = this.#origins;
    const serving = await Promise.all(origins.map((origin) => this.isServing(origin)));
    const first = this.#next++;
    const turned = origins.map((_, index) => (first + index) % origins.length);
    const chosen = turned.filter((index) => serving[index]);
    return (chosen.length > 0 ? chosen : turned).map((index) => origins[index]);
  }

  /** Whether requests are sent to a replica. */
  isServing(origin: string): Promise<boolean> {
    const known = this.#health.get(origin);
    if (known && performance.now() - known.at < HEALTH_MS) return known.isServing;
    const isServing = isHealthy(origin);
    this.#health.set(origin, { at: performance.now(), isServing });
    return isServing;
  }

  /** How many requests a replica has not responded to yet, bodies included. */
  inFlight(origin: string): number {
    return this.#inFlight.get(origin) ?? 0;
  }

  /** Resolves when the next request is sent to a replica. */
  nextSent(origin: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ origin, resolve }));
  }

  /** Counts a request for a replica, until the function that is returned is called. */
  enter(origin: string): () => void {
    this.#inFlight.set(origin, this.inFlight(origin) + 1);
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#inFlight.set(origin, this.inFlight(origin) - 1);
      hasLeft = true;
    };
  }

  /** To be called when a request has a connection to a replica. */
  connected(origin: string): void {
    for (const waiting of this.#waiting.filter((waiting) => waiting.origin === origin)) waiting.resolve();
    this.#waiting = this.#waiting.filter((waiting) => waiting.origin !== origin);
  }
}

async function isHealthy(origin: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const check = request(`${origin}/healthz`, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    check.on("error", () => resolve(false));
    check.end();
  });
}

interface RoundRobinOptions {
  /** The replicas that handle a path. */
  readonly route: (path: string) => ReplicaPool;
  /** Whether it writes who the client is, as a proxy at the edge does; a balancer within the network does not. */
  readonly isEdge: boolean;
}

/**
 * A proxy over replicas, as an operator would have one: a replica whose health check fails gets no requests, and a
 * request whose connection could not be made is sent to another one. What fails later is 502, or a connection that is
 * cut where the response has begun. It has a connection for each request.
 */
export class RoundRobinProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: RoundRobinOptions;

  private constructor(server: Server, options: RoundRobinOptions) {
    this.#server = server;
    this.#options = options;
  }

  static async start(options: RoundRobinOptions): Promise<RoundRobinProxy> {
    const server = createServer();
    // A client that takes an idle connection just as it is closed here has a request without an answer.
    server.keepAliveTimeout = 0;
    const proxy = new RoundRobinProxy(server, options);
    server.on("request", (from, to) => proxy.#pass(from, to));
    await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
    return proxy;
  }

  /** Without a trailing slash. */
  get origin(): string {
    return `http://${LOOPBACK}:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const pool = this.#options.route(from.url ?? "/");
    for (const origin of await pool.inTurn()) {
      if (await this.#sentTo(origin, pool, from, to)) return;
    }
    badGateway(to);
  }

  /** Passes a request on. @returns false where there was no connection, so that nothing of it was sent */
  #sentTo(origin: string, pool: ReplicaPool, from: IncomingMessage, to: ServerResponse): Promise<boolean> {
    const { promise: isSent, resolve } = Promise.withResolvers<boolean>();
    const leave = pool.enter(origin);
    const { hostname, port } = new URL(origin);
    const { method, url: path } = from;
    const headers = this.#headersOf(from);
    const sending = request({ hostname, port, method, path, headers, setHost: false, agent: false });
    let isConnected = false;
    const connected = () => {
      isConnected = true;
      resolve(true);
      pool.connected(origin);
      from.pipe(sending);
    };
    sending.on("socket", (socket) => socket.connecting ? socket.once("connect", connected) : connected());
    sending.on("response", (response) => {
      to.writeHead(response.statusCode ?? 502, passedOn(response.rawHeaders, CONNECTION_HEADERS));
      response.pipe(to);
      response.on("close", () => response.complete || to.destroy());
    });
    sending.on("error", () => {
      leave();
      if (!isConnected) resolve(false);
      else if (to.headersSent) to.destroy();
      else badGateway(to);
    });
    to.on("close", () => {
      leave();
      sending.destroy();
    });
    return isSent;
  }

  #headersOf({ rawHeaders, socket }: IncomingMessage): string[] {
    if (!this.#options.isEdge) return passedOn(rawHeaders, CONNECTION_HEADERS);
    const headers = passedOn(rawHeaders, [...CONNECTION_HEADERS, ...FORWARDED_HEADERS]);
    return [...headers, "X-Forwarded-For", socket.remoteAddress ?? "", "X-Forwarded-Proto", "http"];
  }
}

function badGateway(to: ServerResponse): void {
  if (to.destroyed) return;
  to.writeHead(502, { "Content-Type": "text/plain", Connection: "close" });
  to.end("the replica ended");
}

/** Names and values in turns, without the headers of these names. */
function passedOn(rawHeaders: readonly string[], left: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !left.includes(rawHeaders[index - index % 2].toLowerCase()));
}
