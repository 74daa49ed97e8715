import { addDefaultHeaders } from "@/lib/http/request_context.ts";
import {
  addressKey,
  clientAddress,
  DEFAULT_MAX_REQUESTS,
  type Full,
  maxTenantRequests,
  peerAddress,
  type RawTarget,
  rawTarget,
  redactText,
  REQUEST_ID_HEADER,
  requestId,
  type RequestInfo,
  Slots,
} from "@/lib/http/request_context.ts";
import type { ServeConnection, ServedConnection } from "@/lib/runtime/http.ts";
import {
  announcedLength,
  cancelBody,
  deadline,
  STREAM_BOUNDS,
  thenCancelBody,
  type TimeBounds,
  totalMs,
} from "@/lib/std/body_reader.ts";
import { atMostEvery, sleep } from "@/lib/std/timing.ts";

/** Limits of the connections of a server. */
export interface ConnectionLimits {
  /** Open at a time; as many requests may run at a time, of which HTTP/2 sends several on one connection. */
  readonly max: number;
  /** The same from one address (IPv6: from one /64); null: as many as there are, as behind a proxy. */
  readonly maxPerAddress: number | null;
  /** Longest time from the connection to the end of the first request's head, ms. */
  readonly headMs: number;
  /** Longest time from a response to the end of the next request's head, ms. */
  readonly idleMs: number;
  /** How fast a response of known length must be read; {@link STREAM_BOUNDS} when absent. */
  readonly responses?: TimeBounds;
}

export const DEFAULT_MAX_CONNECTIONS = 4096;
/** Connections of one address: fewer than the requests of one tenant, so that none takes all their slots. */
export function maxPerAddress(maxRequests: number): number {
  return Math.ceil(maxTenantRequests(maxRequests) * 3 / 4);
}
const DEFAULT_HEAD_SECONDS = 30;
/** Longer than the 90 s of `fetch` and the timeouts of most proxies: clients must close idle connections first. */
export const DEFAULT_IDLE_SECONDS = 120;

/** The connections of a server. */
export interface ConnectionFigures {
  readonly open: number;
  readonly max: number;
  /** Closed at once because of a limit, since the start, by what was full. */
  readonly refused: Readonly<Record<Full, number>>;
}

/** The limits of a server to which nothing else was set. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  max: DEFAULT_MAX_CONNECTIONS,
  maxPerAddress: maxPerAddress(DEFAULT_MAX_REQUESTS),
  headMs: DEFAULT_HEAD_SECONDS * 1000,
  idleMs: DEFAULT_IDLE_SECONDS * 1000,
};

/**
 * The runtime reports a response whose body is not a stream as complete before it is sent, so this many bytes may still
 * be in buffers then. Longer bodies stream or are read faster.
 */
const UNSENT_BYTES = 1024 * 1024;
/** A response of this length fits into the buffers of a connection, bytes. */
const BUFFERED_BYTES = 64 * 1024;
/** How often connections are checked, ms. */
const CHECK_EVERY_MS = 1000;
/** Shortest time between two reports of a reached limit, ms. */
const REPORT_EVERY_MS = 60_000;
/** The settings of the limits. */
const LIMITS: Readonly<Record<Full, string>> = {
  all: "MAX_CONNECTIONS",
  address: "the share of one address of MAX_REQUESTS",
};

/** The state of an open connection. There are thousands, so it is small. */
interface Open {
  served: ServedConnection | null;
  /** Requests whose response is not complete. */
  running: number;
  /** Deadline by `performance.now`, ms; extended while the client reads bytes from buffers. */
  until: number;
  /** Bytes that the client of `origin` had taken when {@link until} was set. */
  takenBefore: number;
  /** The client's side, if this process passes the bytes on. */
  readonly origin: ConnectionOrigin | null;
  readonly peer: Deno.NetAddr;
  /** The key of its client address. */
  readonly address: string;
}

/**
 * The open connections of a server: counts them in all and by address, and breaks off those that send no request in
 * time or do not read what they requested.
 */
export class Connections {
  readonly #open = new Set<Open>();
  readonly #connections: Slots;
  readonly #requests: Slots;
  /** Whether each setting may be reported as reached now. */
  readonly #mayReport = { all: atMostEvery(REPORT_EVERY_MS), address: atMostEvery(REPORT_EVERY_MS) };
  readonly #refused: Record<Full, number> = { all: 0, address: 0 };
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly serve: ServeConnection,
    private readonly limits: ConnectionLimits,
    private readonly handler: Handler,
  ) {
    const maxPerAddress = limits.maxPerAddress ?? limits.max;
    this.#connections = new Slots(limits.max, maxPerAddress);
    this.#requests = new Slots(limits.max, maxPerAddress);
  }

  /** How many are open. */
  get count(): number {
    return this.#open.size;
  }

  get figures(): ConnectionFigures {
    return { open: this.count, max: this.limits.max, refused: this.#refused };
  }

  /** Serves a new connection, or closes it when a limit is reached. */
  add(connection: AcceptedConnection, origin?: ConnectionOrigin): void {
    const peer = origin?.peer ?? connection.remoteAddr;
    const address = addressKey(peerAddress({ remoteAddr: peer }));
    const slot = this.#connections.enter(address);
    if (typeof slot === "string") {
      this.#report(slot);
      connection.close();
      origin?.close();
      return;
    }
    const open: Open = {
      served: null,
      running: 0,
      until: performance.now() + this.limits.headMs,
      takenBefore: 0,
      origin: origin ?? null,
      peer,
      address,
    };
    const served = this.serve(connection, (request, info) => this.#respond(open, request, info), faultResponse);
    open.served = origin ? passedOn(served, origin) : served;
    this.#open.add(open);
    this.#watch();
    if (origin) served.finished.then(() => waitFor(open, this.limits.idleMs));
    open.served.finished.then(() => {
      slot();
      this.#ended(open);
    });
  }

  /** Ends all connections after their requests under way. */
  async shutdown(): Promise<void> {
    await Promise.all(Array.from(this.#open, ({ served }) => served?.shutdown().then(() => served.finished)));
  }

  /** Breaks all connections off. */
  cut(): void {
    for (const { served } of this.#open) served?.cut();
  }

  async #respond(open: Open, request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Promise<Response> {
    const slot = this.#requests.enter(open.address);
    if (typeof slot === "string") {
      // Concurrent requests of HTTP/2 share a few connections, and have the same limits as connections.
      this.#report(slot);
      open.served?.cut();
      return new Response(null, { status: 503 });
    }
    open.running++;
    // The handler has its own deadlines.
    open.until = Infinity;
    const { idleMs, responses = STREAM_BOUNDS } = this.limits;
    let unsentMs = 0;
    let closes = false;
    let isComplete = false;
    let forgetBound = () => {};
    const complete = () => {
      isComplete = true;
      forgetBound();
      slot();
      if (--open.running > 0) return;
      waitFor(open, idleMs + unsentMs);
      // The runtime leaves closing to the client.
      if (closes) open.served?.shutdown();
    };
    if (request.method === "HEAD") {
      // The response to a HEAD has no body to send.
      try {
        const response = await this.handler(request, new ConnectionInfo(open, request));
        closes = response.headers.get("Connection") === "close";
        return response;
      } finally {
        complete();
      }
    }
    info.completed.then(complete, complete);
    const response = await this.handler(request, new ConnectionInfo(open, request, info.completed));
    closes = response.headers.get("Connection") === "close";
    const length = announcedLength(response);
    const unsentBytes = Math.min(length ?? UNSENT_BYTES, UNSENT_BYTES);
    if (unsentBytes > BUFFERED_BYTES) unsentMs = totalMs(unsentBytes, responses);
    // Each response has a deadline, since several may be under way: in HTTP/2, or with pipelined requests. A response
    // without a length that is not complete yet is a stream, which breaks off its connection by itself.
    if (length !== null && !isComplete) forgetBound = deadline(totalMs(length, responses), () => open.served?.cut());
    return response;
  }

  #ended(open: Open): void {
    this.#open.delete(open);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #watch(): void {
    const { headMs, idleMs, responses = STREAM_BOUNDS } = this.limits;
    this.#timer ??= setInterval(() => {
      const now = performance.now();
      for (const open of this.#open) if (open.until + takenMs(open, responses) <= now) open.served?.cut();
    }, Math.min(CHECK_EVERY_MS, headMs, idleMs, responses.slackMs));
  }

  #report(full: Full): void {
    this.#refused[full]++;
    if (!this.#mayReport[full]()) return;
    console.error(`connections: ${LIMITS[full]} is reached with ${this.#open.size} open, new ones are closed`);
  }
}

/** Sets the idle timeout of a connection from now on, ms. */
function waitFor(open: Open, ms: number): void {
  open.until = performance.now() + ms;
  open.takenBefore = open.origin?.taken() ?? 0;
}

/** Time for the bytes that the client has read since then, at the minimum rate, ms. */
function takenMs({ origin, takenBefore }: Open, { minBytesPerSecond }: TimeBounds): number {
  return origin === null ? 0 : (origin.taken() - takenBefore) / minBytesPerSecond * 1000;
}

/** A spliced connection ends when its client has read all bytes. */
function passedOn(served: ServedConnection, origin: ConnectionOrigin): ServedConnection {
  return {
    finished: Promise.all([served.finished, origin.ended]).then(() => {}),
    shutdown: () => served.shutdown(),
    // The runtime does not cut off a handshake that does not end: closing the client's side does.
    cut() {
      served.cut();
      origin.close();
    },
  };
}

/** The peer and the target of a request, and the way to end its connection. */
class ConnectionInfo implements HandlerInfo {
  readonly completed: Promise<void> | undefined;
  #target: RawTarget | undefined;

  constructor(private readonly open: Open, private readonly request: Request, completed?: Promise<void>) {
    this.completed = completed;
  }

  /** Cached, since several functions of a request use it. */
  get target(): RawTarget {
    return this.#target ??= rawTarget(this.request.url);
  }

  /** Stored with the connection: the runtime would read it again for each request. */
  get remoteAddr(): Deno.NetAddr {
    return this.open.peer;
  }

  breakOff(): void {
    this.open.served?.cut();
  }
}

/** Counts the requests under way, so that a server can wait for them. */
interface CountedHandler {
  readonly handle: Handler;
  /** Sets the handler of requests from now on. */
  handleBy(handler: Handler): void;
  /** Refuses further requests, and resolves when those under way have their responses. */
  drain(): Promise<void>;
}

/**
 * Handles requests whose Host header names a host, and counts them.
 *
 * @param refuse returns the response to what arrives after {@link CountedHandler.drain}; `Connection: close` is added
 */
export function countedHandler(first: Handler, refuse: Handler): CountedHandler {
  let handler = first;
  let running = 0;
  let draining = false;
  const idle = Promise.withResolvers<void>();
  // Separate from `refused`: the frame of an async function retains the variables of all branches.
  const refused: Handler = async (request, info) => {
    const response = await thenCancelBody(request, () => refuse(request, info));
    response.headers.set("Connection", "close");
    return response;
  };
  const handled: Handler = async (request, info) => {
    running++;
    try {
      return await handler(request, info);
    } finally {
      running--;
      cancelBody(request);
      if (draining && running === 0) idle.resolve();
    }
  };
  const counted: Handler = (request, info) => {
    if (!namesHost(request)) return thenCancelBody(request, noHostResponse);
    return draining ? refused(request, info) : handled(request, info);
  };
  return {
    handle: counted,
    handleBy: (later) => handler = later,
    async drain() {
      draining = true;
      if (running > 0) await idle.promise;
    },
  };
}

/** A connection with plain HTTP, or one with TLS whose handshake may not be done. */
type AcceptedConnection = Deno.TcpConn | Deno.TlsConn;

/** The client's side of a connection whose bytes are passed on to it. */
interface ConnectionOrigin extends Splice {
  readonly peer: Deno.NetAddr;
}

/** A listening socket whose connections are handed out. */
export interface AcceptedSocket {
  readonly port: number;
  /** Accepts nothing more; connections that are open stay. */
  close(): void;
  /** Resolves when the last connection was handed out. */
  readonly ended: Promise<void>;
}

/** Takes the connections of a socket. */
export interface ConnectionTaker {
  /** How many it holds. */
  readonly count: number;
  /** @param origin where the connection does not know it itself */
  add(connection: AcceptedConnection, origin?: ConnectionOrigin): void;
}

/** Delay after an error before the next connection is accepted, ms: without descriptors each try would fail at once. */
const AFTER_ACCEPT_ERROR_MS = 100;

/** Hands each connection of a listener to `taker` until it is closed. */
export function acceptConnections<C extends Deno.Conn<Deno.NetAddr>>(
  listener: Deno.Listener<C, Deno.NetAddr>,
  taker: { readonly count: number; add(connection: C): void },
): AcceptedSocket {
  let closed = false;
  const accept = async () => {
    let failing = false;
    while (!closed) {
      try {
        taker.add(await listener.accept());
        failing = false;
      } catch (error) {
        if (closed) return;
        if (!failing) console.error(`connections: none can be accepted (${error}), ${taker.count} are open`);
        failing = true;
        await sleep(AFTER_ACCEPT_ERROR_MS);
      }
    }
  };
  return {
    port: listener.addr.port,
    close() {
      if (closed) return;
      closed = true;
      listener.close();
    },
    ended: accept(),
  };
}

/** Two connections whose bytes are passed on to each other. */
export interface Splice {
  /** Resolves when both are closed. */
  readonly ended: Promise<void>;
  /** Bytes that `client` has taken so far. */
  taken(): number;
  /** Closes both at once. */
  close(): void;
}

/** The connection of a request. */
export interface HandlerInfo extends Pick<RequestInfo, "completed" | "target" | "breakOff"> {
  readonly remoteAddr: Deno.NetAddr;
}

/** Handles a request of a server on a TCP port. */
export type Handler = (request: Request, info: HandlerInfo) => Response | Promise<Response>;

/**
 * The response where a handler threw, which is a fault beyond all code that renders errors. It says as little as
 * theirs; the stack goes to standard error without secrets.
 */
export function faultResponse(error: unknown): Response {
  console.error(redactText(error instanceof Error ? error.stack ?? error.message : String(error)));
  const response = new Response("Internal Server Error", { status: 500 });
  addDefaultHeaders(response.headers);
  return response;
}

/** A host and perhaps a port (RFC 3986, section 3.2.2), loosely: without delimiters of an authority. */
const HOST = /^[\w.~%!$&'()*+,;=:[\]-]*$/;

/** Nearly all requests name what the last one named. */
let lastHost = "";

/**
 * Whether a request names a host, or none (RFC 9112, section 3.2). The runtime writes the header in front of the path, so
 * that a slash in it would make another path of the request than proxies in front have seen.
 */
export function namesHost({ headers }: Pick<Request, "headers">): boolean {
  const host = headers.get("Host");
  if (host === null || host === lastHost) return true;
  if (!HOST.test(host)) return false;
  lastHost = host;
  return true;
}

/** The response to any other request: its connection is closed, as where a head cannot be read. */
export function noHostResponse(): Response {
  const response = new Response("The Host header is not a host\n", { status: 400, headers: { Connection: "close" } });
  addDefaultHeaders(response.headers);
  return response;
}

interface Leaving {
  /** Whether a path is a probe, by which a proxy decides where it sends requests. */
  readonly isProbe: (path: string) => boolean;
  /** Handles probes. */
  readonly stopping: Handler;
}

/**
 * Handles requests as before while proxies in front turn to other replicas: probes are handled by `stopping`, and each
 * connection is closed behind its next response, since a proxy would send further requests on it.
 */
export function leaving(handler: Handler, { isProbe, stopping }: Leaving): Handler {
  return async function leave(request, info) {
    const handle = isProbe(new URL(request.url).pathname) ? stopping : handler;
    const response = await handle(request, info);
    response.headers.set("Connection", "close");
    return response;
  };
}

const RETRY_AFTER_SECONDS = 1;
const REFUSAL_BODY = JSON.stringify({ detail: "Stackroom is overloaded, try again" });
/** They are cloned: creating a response with its headers costs ten times as much. */
const REFUSAL = refusal(REFUSAL_BODY);
const REFUSAL_OF_HEAD = refusal(null);

interface ShedLoad {
  readonly shedder: Pick<LoadShedder, "enter">;
  /** Paths that are always handled, such as probes: an orchestrator would end a process that is busy. */
  readonly always: ReadonlySet<string>;
  /** How many proxies in front of this process are ours. */
  readonly trustedHops: number;
}

/**
 * Refuses the requests that an overloaded process cannot handle in time, with 503 and `Retry-After`. They are neither
 * routed nor logged, so that most of the process is left for those that it admits.
 */
export function shedLoad(handler: Handler, { shedder, always, trustedHops }: ShedLoad): Handler {
  const admitted = async (request: Request, info: HandlerInfo, leave: () => void) => {
    try {
      return await handler(request, info);
    } finally {
      leave();
    }
  };
  return function shed(request, info) {
    if (always.has((info.target ?? rawTarget(request.url)).path)) return handler(request, info);
    const isRead = request.method === "GET" || request.method === "HEAD";
    const forwardedFor = trustedHops > 0 ? request.headers.get("X-Forwarded-For") : null;
    const address = addressKey(clientAddress(forwardedFor, peerAddress(info), trustedHops));
    const leave = shedder.enter(isRead, address);
    if (leave) return admitted(request, info, leave);
    cancelBody(request);
    const response = (request.method === "HEAD" ? REFUSAL_OF_HEAD : REFUSAL).clone();
    response.headers.set(REQUEST_ID_HEADER, requestId(request.headers.get(REQUEST_ID_HEADER)));
    return response;
  };
}

function refusal(body: string | null): Response {
  const headers = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "private, no-store",
    "Retry-After": String(RETRY_AFTER_SECONDS),
  });
  addDefaultHeaders(headers);
  return new Response(body, { status: 503, headers });
}

/** How late the event loop may be for long, ms. A higher bound lets requests wait longer before any is refused. */
export const MAX_EVENT_LOOP_DELAY_MS = 50;

/** How often the delay is measured while requests come, ms. */
const TICK_MS = 5;
/** An overload has so many late ticks in a row: one long pause is none. */
const LATE_TICKS = 3;
/** A turn of the event loop that takes so many times the delay that may be is an overload at once. */
const LONG_TURN = 4;
/** An overload has so many requests at a time: with fewer, the process is late for other reasons. */
const LEAST_IN_FLIGHT = 100;
/** During an overload, requests are refused while the delay is above this, ms. */
const LEAST_DELAY_MS = MAX_EVENT_LOOP_DELAY_MS / 5;
/** During an overload, so many reads and as many writes of each address are always handled. */
export const ALWAYS_OF_ADDRESS = 4;
/** During an overload, so many reads and as many writes are handled otherwise: they may wait for another thread. */
const MOST_OF_KIND = 32;
/** It is over when the event loop was not late for so long, ms. */
const CALM_MS = 1000;
/** When no request came for so long, the delay is not measured, ms. */
const IDLE_MS = 1000;

/** The state of a {@link LoadShedder}. */
export interface ShedderFigures {
  readonly isShedding: boolean;
  /** Requests since the start. */
  readonly refused: number;
}

interface LoadShedderOptions {
  /** A clock that only goes forward, ms. */
  readonly now?: () => number;
  /** Calls a function later; it must not keep the process alive. */
  readonly after?: (ms: number, call: () => void) => void;
  /** Called when an overload starts, and when it ends with the number of refused requests. */
  readonly onChange?: (isShedding: boolean, refused: number) => void;
}

/**
 * Refuses requests while the event loop is late. Without it all of them wait in a queue that only grows.
 *
 * The delay is that of a timer: about the length of a turn of the event loop. An overload starts when the delay is above
 * {@link MAX_EVENT_LOOP_DELAY_MS} several times in a row, or far above it once, while many requests are handled. During an
 * overload, requests are refused while the delay is above a fifth of that, and beyond a fixed number. A few requests of
 * each address are always admitted, so that a client that sends many keeps out no other one. Reads and writes count
 * separately, since a body may arrive slowly.
 */
export class LoadShedder {
  readonly #now: () => number;
  readonly #after: (ms: number, call: () => void) => void;
  readonly #onChange: (isShedding: boolean, refused: number) => void;
  readonly #tick = () => this.#look();
  #isTicking = false;
  #tickedAt = 0;
  /** The delay of the last tick, ms. */
  #delay = 0;
  #lateTicks = 0;
  #arrivedAt = 0;
  /** Requests since the last tick. */
  #arrivals = 0;
  /** Most admitted requests without a response since the last tick. */
  #mostInFlight = 0;
  readonly #reads = new Slots(Infinity);
  readonly #writes = new Slots(Infinity);
  #isShedding = false;
  #refused = 0;
  #refusedBefore = 0;
  #lateAt = 0;

  constructor({ now, after, onChange }: LoadShedderOptions) {
    this.#now = now ?? (() => performance.now());
    this.#after = after ?? ((ms, call) => Deno.unrefTimer(setTimeout(call, ms)));
    this.#onChange = onChange ?? (() => {});
  }

  get figures(): ShedderFigures {
    return { isShedding: this.#isShedding, refused: this.#refused };
  }

  /**
   * @param address key of the client's address
   * @returns a function to be called when a request that has just come has its response; null: it is not handled
   */
  enter(isRead: boolean, address: string): (() => void) | null {
    const now = this.#now();
    if (!this.#isTicking) this.#start(now);
    this.#arrivals++;
    // Timers come before requests, so this is how long the turn has taken.
    const delay = now - this.#tickedAt - TICK_MS;
    const isMany = this.#arrivals >= LEAST_IN_FLIGHT && this.#inFlight >= LEAST_IN_FLIGHT;
    if (!this.#isShedding && isMany && delay > LONG_TURN * MAX_EVENT_LOOP_DELAY_MS) this.#begin(now);
    const kind = isRead ? this.#reads : this.#writes;
    const isTooMany = Math.max(delay, this.#delay) > LEAST_DELAY_MS || kind.count >= MOST_OF_KIND;
    if (this.#isShedding && isTooMany && kind.countOf(address) >= ALWAYS_OF_ADDRESS) {
      this.#refused++;
      return null;
    }
    const leave = kind.enter(address);
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#inFlight);
    return typeof leave === "function" ? leave : null;
  }

  /** Admitted requests without a response. */
  get #inFlight(): number {
    return this.#reads.count + this.#writes.count;
  }

  #start(now: number): void {
    this.#isTicking = true;
    this.#tickedAt = this.#arrivedAt = now;
    this.#delay = this.#lateTicks = 0;
    this.#after(TICK_MS, this.#tick);
  }

  #look(): void {
    const now = this.#now();
    this.#delay = now - this.#tickedAt - TICK_MS;
    if (this.#arrivals > 0) this.#arrivedAt = now;
    const isLate = this.#delay > MAX_EVENT_LOOP_DELAY_MS && this.#mostInFlight >= LEAST_IN_FLIGHT;
    this.#lateTicks = isLate ? this.#lateTicks + 1 : 0;
    if (!this.#isShedding && this.#lateTicks >= LATE_TICKS) this.#begin(now);
    if (this.#delay > LEAST_DELAY_MS) this.#lateAt = now;
    if (this.#isShedding && now - this.#lateAt >= CALM_MS) this.#end();
    this.#tickedAt = now;
    this.#arrivals = 0;
    this.#mostInFlight = this.#inFlight;
    if (!this.#isShedding && now - this.#arrivedAt >= IDLE_MS) this.#isTicking = false;
    else this.#after(TICK_MS, this.#tick);
  }

  #begin(now: number): void {
    this.#isShedding = true;
    this.#refusedBefore = this.#refused;
    this.#lateAt = now;
    this.#onChange(true, 0);
  }

  #end(): void {
    this.#isShedding = false;
    this.#lateTicks = 0;
    this.#onChange(false, this.#refused - this.#refusedBefore);
  }
}
