import {
  addressKey,
  DEFAULT_MAX_REQUESTS,
  type Full,
  maxTenantRequests,
  peerAddress,
  type RawTarget,
  rawTarget,
  Slots,
} from "@/lib/http/request_context.ts";
import type { ServeConnection, ServedConnection } from "@/lib/runtime/serve_connection.ts";
import { atMostEvery, deadline } from "@/lib/std/timing.ts";
import { announcedLength, STREAM_BOUNDS, type TimeBounds, totalMs } from "@/lib/std/body_reader.ts";
import type { AcceptedConnection, ConnectionOrigin } from "./sockets.ts";
import { faultResponse, type Handler, type HandlerInfo } from "./handler.ts";

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
