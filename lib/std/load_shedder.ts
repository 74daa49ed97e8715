import process from "node:process";
import { BUSY, KNOWN_MS, LEAST_READS, MOST_READS, Overload, quantileOf } from "./overload.ts";

/** How late the event loop may be for long, ms, unless the settings say otherwise. */
export const DEFAULT_MAX_EVENT_LOOP_DELAY_MS = 50;

/** How often the event loop is looked at while requests come, ms. */
const TICK_MS = 5;
/** An overload has so many late ticks in a row, over so long, ms: one long pause is none. */
const LATE_TICKS = 4;
const LATE_MS = 100;
/** A turn of the event loop that has lasted so many times the delay that may be is one at once. */
const LONG_TURN = 4;
/** It has so many requests at a time: with fewer, a process that is late has other reasons, or clients that wait. */
const LEAST_AT_A_TIME = 100;
/** During an overload, so many reads at a time are always admitted, and as many writes: uploads may last for hours. */
const ALWAYS_AT_A_TIME = 8;
/** Where no more than this share of reads are quick, the others wait, and are not just of a slow kind. */
const NEARLY_ALL_WAIT = 0.25;
/** By which share of itself each read moves what is known of how long they take. */
const TYPICAL_STEP = 0.002;
/** So long are requests counted to see whether more come than end, ms; longer while too few reads have ended. */
const COUNT_MS = 50;
/** It is over when nothing was refused for so long, ms. */
const CALM_MS = 1000;
/** When no request came for so long, the event loop is not looked at, ms. */
const IDLE_MS = 1000;

/** What a shedder says of itself. */
export interface ShedderFigures {
  readonly isShedding: boolean;
  /** Requests since the start. */
  readonly refused: number;
}

interface LoadShedderOptions {
  /** How late the event loop may be for long, ms. */
  readonly maxDelayMs: number;
  /** A clock that only goes forward, ms. */
  readonly now?: () => number;
  /** Calls a function later; it must not keep the process alive. */
  readonly after?: (ms: number, call: () => void) => void;
  /** The processor time that all threads of the process have used, ms. */
  readonly cpuMs?: () => number;
  /** Called when an overload begins, and when it is over with what it refused. */
  readonly onChange?: (isShedding: boolean, refused: number) => void;
}

/**
 * Says which requests are refused while there are more than the event loop can handle. Without it all of them wait in a
 * queue that only grows, so all of them are late.
 *
 * The measure is how late a timer is, which is about how long a turn of the event loop takes. An overload begins when it
 * is above `maxDelayMs` several times in a row while there are {@link LEAST_AT_A_TIME} requests or more, or at once when
 * as many come within one turn that has taken four times as long: some dozen clients that each wait for their responses
 * make a process late as well, but not ever later. It begins as well when the process is busy, more reads come than end,
 * and three quarters of those that end have taken twice as long as before and `maxDelayMs` more: they wait for another
 * thread, such as that of the embedded store, while the event loop does not. Then as many requests are refused as have come
 * in excess.
 *
 * From then on requests are admitted at a rate that rises while the delay is below a fifth of that, and falls while it is
 * above. In a busy process it falls as well while reads take longer than before by a tenth of that. Where half as many
 * requests do not make them shorter and the process has time, they do not wait for each other, and count no more.
 *
 * Half of what is admitted is for addresses that have had less than their share, so that a client that sends much does
 * not take the turns of those that send little. Outside of an overload a request costs a look at the clock.
 */
export class LoadShedder {
  readonly #maxDelayMs: number;
  readonly #now: () => number;
  readonly #after: (ms: number, call: () => void) => void;
  readonly #onChange: (isShedding: boolean, refused: number) => void;
  readonly #cpuMs: () => number;
  readonly #tick = () => this.#look();
  #isTicking = false;
  #dueAt = 0;
  #tickedAt = 0;
  #arrivedAt = 0;
  #arrivals = 0;
  #lateTicks = 0;
  #lateSince = 0;
  /** Requests that have come since then. */
  #arrivedLate = 0;
  /** Admitted requests without a response: now, and most of them since the tick before. */
  #running = 0;
  #mostRunning = 0;
  /** Admitted reads without a response. */
  #reads = 0;
  /** Null while there are fewer requests than an overload has. */
  #count: Count | null = null;
  #refused = 0;
  /** The median time to the response of a read outside of overloads, ms; null: there was none. */
  #typicalMs: number | null = null;
  #overload: Overload | null = null;

  constructor({ maxDelayMs, now, after, cpuMs, onChange }: LoadShedderOptions) {
    this.#maxDelayMs = maxDelayMs;
    this.#now = now ?? (() => performance.now());
    this.#after = after ?? ((ms, call) => Deno.unrefTimer(setTimeout(call, ms)));
    this.#cpuMs = cpuMs ?? processCpuMs;
    this.#onChange = onChange ?? (() => {});
  }

  get figures(): ShedderFigures {
    return { isShedding: this.#overload !== null, refused: this.#refused };
  }

  /**
   * Whether a request that has just come is to be handled.
   *
   * @param isRead whether its response says how long the process takes: a body may come slowly
   * @param address returns the key of the client's address; it is called only during an overload
   * @returns when it came, for {@link leave}, which has to be called; null where it is refused
   */
  enter(isRead: boolean, address: () => string): number | null {
    const now = this.#now();
    if (!this.#isAdmitted(isRead, address, now)) {
      this.#refused++;
      return null;
    }
    if (++this.#running > this.#mostRunning) this.#mostRunning = this.#running;
    if (isRead) this.#reads++;
    return now;
  }

  /**
   * To be called when an admitted request has its response.
   *
   * @param isRead as it was for {@link enter}
   * @param since what that returned
   */
  leave(isRead: boolean, since: number): void {
    this.#running--;
    if (this.#count) this.#count.ended++;
    if (!isRead) return;
    this.#reads--;
    const ms = this.#now() - since;
    if (this.#count && this.#count.readMs.length < MOST_READS) this.#count.readMs.push(ms);
    if (this.#overload) this.#overload.read(ms);
    else if (this.#typicalMs === null) this.#typicalMs = ms;
    // Steps of one size to either side lead to the median, and a few late reads do not move it.
    else this.#typicalMs *= ms > this.#typicalMs ? 1 + TYPICAL_STEP : 1 - TYPICAL_STEP;
  }

  #isAdmitted(isRead: boolean, address: () => string, now: number): boolean {
    this.#arrivals++;
    if (!this.#isTicking) this.#start();
    let overload = this.#overload;
    if (overload === null) {
      const elapsedMs = now - this.#tickedAt;
      // Timers come before requests: this time went into those that have come since, or into one long computation.
      const isLong = elapsedMs > LONG_TURN * this.#maxDelayMs;
      if (!isLong || this.#running < LEAST_AT_A_TIME || this.#arrivals < LEAST_AT_A_TIME) return true;
      overload = this.#begin(now, this.#arrivals / elapsedMs);
    }
    const alike = isRead ? this.#reads : this.#running - this.#reads;
    return overload.admits(address(), now, alike < ALWAYS_AT_A_TIME);
  }

  #start(): void {
    this.#isTicking = true;
    this.#tickedAt = this.#arrivedAt = this.#now();
    this.#lateTicks = 0;
    this.#schedule(this.#tickedAt);
  }

  #schedule(now: number): void {
    this.#dueAt = now + TICK_MS;
    this.#after(TICK_MS, this.#tick);
  }

  #look(): void {
    const now = this.#now();
    const delay = Math.max(0, now - this.#dueAt);
    const arrivals = this.#arrivals;
    const mostRunning = this.#mostRunning;
    this.#arrivals = 0;
    this.#mostRunning = this.#running;
    if (arrivals > 0) this.#arrivedAt = now;
    if (this.#overload === null) this.#watch(now, delay, arrivals, mostRunning);
    else {
      this.#overload.tick(now, now - this.#tickedAt, delay);
      if (now - this.#overload.refusedAt >= CALM_MS) this.#end(this.#overload);
    }
    this.#tickedAt = now;
    if (this.#overload === null && now - this.#arrivedAt >= IDLE_MS) this.#isTicking = false;
    else this.#schedule(now);
  }

  #watch(now: number, delay: number, arrivals: number, mostRunning: number): void {
    if (mostRunning < LEAST_AT_A_TIME) {
      this.#lateTicks = 0;
      this.#count = null;
      return;
    }
    if (this.#beginsBehind(now, arrivals)) return;
    if (delay <= this.#maxDelayMs) {
      this.#lateTicks = 0;
      return;
    }
    if (this.#lateTicks++ === 0) {
      this.#lateSince = this.#tickedAt;
      this.#arrivedLate = 0;
    }
    this.#arrivedLate += arrivals;
    if (this.#lateTicks < LATE_TICKS || now - this.#lateSince < LATE_MS) return;
    this.#begin(now, this.#arrivedLate / (now - this.#lateSince));
  }

  /** Begins an overload where more reads come than end, so that each takes longer than the one before. @returns whether one begins */
  #beginsBehind(now: number, arrivals: number): boolean {
    const count = this.#count ??= {
      at: now,
      cpuMs: this.#cpuMs(),
      reads: this.#reads,
      arrived: 0,
      ended: 0,
      readMs: [],
    };
    if (count.at === now) return false;
    count.arrived += arrivals;
    const elapsedMs = now - count.at;
    const least = count.readMs.length < LEAST_READS ? KNOWN_MS : COUNT_MS;
    if (elapsedMs < least) return false;
    this.#count = null;
    const isBusy = this.#cpuMs() - count.cpuMs >= BUSY * elapsedMs;
    // Twice as long, since those of a distant store vary by more than the delay that may be.
    const waitMs = (quantileOf(count.readMs, NEARLY_ALL_WAIT) ?? 0) - 2 * (this.#typicalMs ?? 0);
    // Among uploads, which last as long as their clients take, a few slow reads say nothing.
    const areReads = 2 * this.#reads >= this.#running;
    const isBehind = isBusy && areReads && this.#reads > count.reads && waitMs > this.#maxDelayMs;
    if (isBehind) this.#begin(now, count.ended / elapsedMs, Math.max(0, count.arrived - count.ended));
    return isBehind;
  }

  #begin(now: number, rate: number, excess = 0): Overload {
    this.#count = null;
    const overload = this.#overload = new Overload({
      maxDelayMs: this.#maxDelayMs,
      rate,
      excess,
      now,
      refusedBefore: this.#refused,
      typicalMs: this.#typicalMs,
      cpuMs: this.#cpuMs,
    });
    this.#onChange(true, 0);
    return overload;
  }

  #end({ refusedBefore, typicalMs }: Overload): void {
    // Else the next one would begin for what this one has learned.
    if (this.#typicalMs !== null) this.#typicalMs = Math.max(this.#typicalMs, typicalMs);
    this.#overload = null;
    this.#lateTicks = 0;
    this.#onChange(false, this.#refused - refusedBefore);
  }
}

/** The requests of a while. */
interface Count {
  /** When it began, and how many reads there were and what processor time had been used then. */
  readonly at: number;
  readonly cpuMs: number;
  readonly reads: number;
  /** How many have come since, and how many have ended. */
  arrived: number;
  ended: number;
  /** How long reads took that have ended since, ms. */
  readonly readMs: number[];
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
