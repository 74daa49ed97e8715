import { addressKey, peerAddress } from "@/lib/http/client_address.ts";
import { DEFAULT_MAX_REQUESTS, type Full, maxTenantRequests, Slots } from "@/lib/http/limit_concurrency.ts";
import { type RawTarget, rawTarget } from "@/lib/http/raw_path.ts";
import type { ServeConnection, ServedConnection } from "@/lib/runtime/serve_connection.ts";
import { atMostEvery, deadline } from "@/lib/std/timing.ts";
import { announcedLength, STREAM_BOUNDS, type TimeBounds, totalMs } from "@/lib/std/body_reader.ts";
import type { AcceptedConnection, ConnectionOrigin } from "./sockets.ts";
import { faultResponse, type Handler, type HandlerInfo } from "./handler.ts";

/** How many connections a server holds, and how long one of them may be idle. */
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
/** Longer than the 90 s for which `fetch` keeps a connection, and than most proxies do: who sends first must close first. */
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
/** A limit that is reached is reported so often at most, ms. */
const REPORT_EVERY_MS = 60_000;
/** The limits by what they concern. */
const LIMITS: Readonly<Record<Full, string>> = {
  all: "MAX_CONNECTIONS",
  address: "the share of one address of MAX_REQUESTS",
};

/** The state of an open connection. There are thousands, so it is small. */
interface Open {
  served: ServedConnection | null;
  /** Requests whose response is not complete. */
  running: number;
  /** When it is broken off, by `performance.now`, ms; later where the client goes on taking what is in buffers. */
  until: number;
  /** Bytes that the client of `origin` had taken when {@link until} was set. */
  takenBefore: number;
  /** Where its bytes are passed on to the client by this process. */
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
  readonly #serve: ServeConnection;
  readonly #limits: ConnectionLimits;
  readonly #handler: Handler;
  readonly #open = new Set<Open>();
  readonly #connections: Slots;
  readonly #requests: Slots;
  /** Whether each setting may be reported as reached now. */
  readonly #mayReport = { all: atMostEvery(REPORT_EVERY_MS), address: atMostEvery(REPORT_EVERY_MS) };
  readonly #refused: Record<Full, number> = { all: 0, address: 0 };
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(serve: ServeConnection, limits: ConnectionLimits, handler: Handler) {
    this.#serve = serve;
    this.#limits = limits;
    this.#handler = handler;
    const maxPerAddress = limits.maxPerAddress ?? limits.max;
    this.#connections = new Slots(limits.max, maxPerAddress);
    this.#requests = new Slots(limits.max, maxPerAddress);
  }

  /** How many are open. */
  get count(): number {
    return this.#open.size;
  }

  get figures(): ConnectionFigures {
    return { open: this.count, max: this.#limits.max, refused: this.#refused };
  }

  /** Serves a new connection, or closes it at once where there are enough. */
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
      until: performance.now() + this.#limits.headMs,
      takenBefore: 0,
      origin: origin ?? null,
      peer,
      address,
    };
    const served = this.#serve(connection, (request, info) => this.#respond(open, request, info), faultResponse);
    open.served = origin ? passedOn(served, origin) : served;
    this.#open.add(open);
    this.#watch();
    if (origin) served.finished.then(() => waitFor(open, this.#limits.idleMs));
    open.served.finished.then(() => {
      slot();
      this.#ended(open);
    });
  }

  /** Ends all connections when what is under way on them has ended. */
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
      // Many requests on few connections, as HTTP/2 sends them, hold no more than as many connections would.
      this.#report(slot);
      open.served?.cut();
      return new Response(null, { status: 503 });
    }
    open.running++;
    // As long as the handler works, its own bounds hold.
    open.until = Infinity;
    const { idleMs, responses = STREAM_BOUNDS } = this.#limits;
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
      // The runtime leaves that to the client.
      if (closes) open.served?.shutdown();
    };
    if (request.method === "HEAD") {
      // The response to a HEAD has no body, so nothing of it is under way once it is there.
      try {
        const response = await this.#handler(request, new ConnectionInfo(open, request));
        closes = response.headers.get("Connection") === "close";
        return response;
      } finally {
        complete();
      }
    }
    info.completed.then(complete, complete);
    const response = await this.#handler(request, new ConnectionInfo(open, request, info.completed));
    closes = response.headers.get("Connection") === "close";
    const length = announcedLength(response);
    const unsentBytes = Math.min(length ?? UNSENT_BYTES, UNSENT_BYTES);
    if (unsentBytes > BUFFERED_BYTES) unsentMs = totalMs(unsentBytes, responses);
    // Each response has a bound of its own: several may be under way, in HTTP/2, or when requests follow each other at
    // once. One without a length that is not complete at once is a stream, which breaks the connection off by itself.
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
    const { headMs, idleMs, responses = STREAM_BOUNDS } = this.#limits;
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

/** Lets a connection be idle for so long from now, ms. */
function waitFor(open: Open, ms: number): void {
  open.until = performance.now() + ms;
  open.takenBefore = open.origin?.taken() ?? 0;
}

/** How long the bytes that the client has taken since may have lasted at the slowest pace, ms. */
function takenMs({ origin, takenBefore }: Open, { minBytesPerSecond }: TimeBounds): number {
  return origin === null ? 0 : (origin.taken() - takenBefore) / minBytesPerSecond * 1000;
}

/** A connection whose bytes are passed on has ended when its client has taken all of them. */
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
  readonly #open: Open;
  readonly #request: Request;
  #target: RawTarget | undefined;

  constructor(open: Open, request: Request, completed?: Promise<void>) {
    this.#open = open;
    this.#request = request;
    this.completed = completed;
  }

  /** Several look at it, and each would take it from the URL again. */
  get target(): RawTarget {
    return this.#target ??= rawTarget(this.#request.url);
  }

  /** Of the connection: the runtime would read it again for each request. */
  get remoteAddr(): Deno.NetAddr {
    return this.#open.peer;
  }

  breakOff(): void {
    this.#open.served?.cut();
  }
}
