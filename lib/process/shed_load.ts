import {
  addressKey,
  clientAddress,
  peerAddress,
  rawTarget,
  REQUEST_ID_HEADER,
  requestId,
  Slots,
} from "@/lib/http/request_context.ts";
import { addDefaultHeaders } from "@/lib/http/app.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import type { Handler, HandlerInfo } from "./handler.ts";

const RETRY_AFTER_SECONDS = 1;
const BODY = JSON.stringify({ detail: "Stackroom is overloaded, try again" });
/** They are cloned: creating a response with its headers costs ten times as much. */
const REFUSAL = refusal(BODY);
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
