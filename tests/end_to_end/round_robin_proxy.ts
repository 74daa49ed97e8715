import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

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
