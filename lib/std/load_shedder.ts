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
  /** Called when an overload begins, and when it is over with the number of its refusals. */
  readonly onChange?: (isShedding: boolean, refused: number) => void;
}

/**
 * Refuses requests while the event loop is late. Without it all of them wait in a queue that only grows.
 *
 * The delay is that of a timer, which is about the length of a turn of the event loop. An overload begins when it is above
 * {@link MAX_EVENT_LOOP_DELAY_MS} several times in a row, or far above it once, while many requests are handled. Until it
 * is over, requests are refused whenever the delay is above a fifth of that, and beyond a fixed number. Few of an address
 * are never refused, so that a client that sends much keeps out no other one. Reads and writes count apart, since a body
 * may come slowly.
 */
export class LoadShedder {
  readonly #now: () => number;
  readonly #after: (ms: number, call: () => void) => void;
  readonly #onChange: (isShedding: boolean, refused: number) => void;
  readonly #tick = () => this.#look();
  #isTicking = false;
  #tickedAt = 0;
  /** Of the last tick, ms. */
  #delay = 0;
  #lateTicks = 0;
  #arrivedAt = 0;
  /** Requests since the last tick. */
  #arrivals = 0;
  /** Admitted requests without a response: now, and most of them since the last tick. */
  #inFlight = 0;
  #mostInFlight = 0;
  readonly #reads = new Kind();
  readonly #writes = new Kind();
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
   * @returns whether a request that has just come is handled: then {@link leave} has to be called
   */
  enter(isRead: boolean, address: string): boolean {
    const now = this.#now();
    if (!this.#isTicking) this.#start(now);
    this.#arrivals++;
    // Timers come before requests, so this is how long the turn has taken.
    const delay = now - this.#tickedAt - TICK_MS;
    const isMany = this.#arrivals >= LEAST_IN_FLIGHT && this.#inFlight >= LEAST_IN_FLIGHT;
    if (!this.#isShedding && isMany && delay > LONG_TURN * MAX_EVENT_LOOP_DELAY_MS) this.#begin(now);
    const kind = this.#kind(isRead);
    const isTooMany = Math.max(delay, this.#delay) > LEAST_DELAY_MS || kind.inFlight >= MOST_OF_KIND;
    if (this.#isShedding && isTooMany && kind.of(address) >= ALWAYS_OF_ADDRESS) {
      this.#refused++;
      return false;
    }
    kind.enter(address);
    this.#mostInFlight = Math.max(this.#mostInFlight, ++this.#inFlight);
    return true;
  }

  /** Has to be called when an admitted request has its response. */
  leave(isRead: boolean, address: string): void {
    this.#inFlight--;
    this.#kind(isRead).leave(address);
  }

  #kind(isRead: boolean): Kind {
    return isRead ? this.#reads : this.#writes;
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

/** The requests in flight that are reads, or those that are not. */
class Kind {
  inFlight = 0;
  readonly #byAddress = new Map<string, number>();

  of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  enter(address: string): void {
    this.inFlight++;
    this.#byAddress.set(address, this.of(address) + 1);
  }

  leave(address: string): void {
    this.inFlight--;
    const left = this.of(address) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }
}
