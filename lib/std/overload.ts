/** During an overload the delay is to be this share of what begins one. */
const AIM = 0.2;
/** How often the admitted rate is adapted, ms. */
const WINDOW_MS = 100;
/** How much a window changes the rate by: for a delay of twice the aim, and at the most. */
const GAIN = 0.1;
const FASTEST_FALL = 0.5;
/** Requests that are admitted in each ms at the least: some must be, to see how long they take. */
const LEAST_RATE = 0.01;
/** Below this share of the first rate, the delay has other causes than requests: the aim moves towards it. */
const FUTILE = 0.1;
const AIM_STEP = 1.5;
/** How long reads wait counts so many times as much as how late the event loop is: it is all that a client waits. */
const READ_WEIGHT = 2;
/** Of fewer that have ended the median says nothing, and of more it is a sample. */
export const LEAST_READS = 8;
export const MOST_READS = 256;
/** When half as many are admitted for so long, and for three times as long as a read took, reads have to be shorter. */
const TRIAL_MS = 5 * WINDOW_MS;
/** How much of its time a read may still take then. If it takes more, it does not wait for other requests. */
const SHORTER = 0.7;
/** A process that uses less than this share of a processor has time for what comes: where reads wait, it is for others. */
export const BUSY = 0.5;
/** One that uses this share, or more, may have no time for what comes. */
const SATURATED = 0.8;
/** What reads that have ended say holds for so long, ms, where too few end to know better. */
export const KNOWN_MS = 1000;
/** Unused admissions are good for so long, ms. */
const BURST_MS = 20;

/** How long the quickest of a share of reads took at most, ms; null: of too few. */
export function quantileOf(readMs: number[], share: number): number | null {
  return readMs.length < LEAST_READS ? null : readMs.sort((a, b) => a - b)[Math.floor(readMs.length * share)];
}

interface OverloadStart {
  readonly maxDelayMs: number;
  /** How many requests are admitted in each ms at first. */
  readonly rate: number;
  /** How many admissions that makes are not to be used, since as many requests wait. */
  readonly excess: number;
  readonly now: number;
  /** What its shedder had refused before. */
  readonly refusedBefore: number;
  /** How long a read took before, ms; null: it is not known. */
  readonly typicalMs: number | null;
  readonly cpuMs: () => number;
}

/** One overload, from its begin to its end: how many requests are admitted. What it does is said at `LoadShedder`. */
export class Overload {
  readonly refusedBefore: number;
  readonly #maxDelayMs: number;
  readonly #leastAimMs: number;
  readonly #firstRate: number;
  /** How long a read takes that waits for nothing, ms. */
  #typicalMs: number;
  /** Since when the rate falls because reads wait, how high it was then, and how long a read took, ms. */
  #trial: { readonly at: number; readonly rate: number; readonly readMs: number } | null = null;
  /** When a request was refused last. */
  refusedAt: number;
  readonly #cpuMs: () => number;
  #aimMs: number;
  /** Requests admitted in each ms. */
  #rate: number;
  /** Admissions that are left for addresses below their share, and for all. */
  #leftForLight: number;
  #leftForAll: number;
  #window: Window;
  /** Since when the reads of the window have ended, and how much too long those before took, ms. */
  #readsSince: number;
  #knownWaitMs = 0;
  /** Addresses of the window before. */
  #addresses = 1;

  constructor({ maxDelayMs, rate, excess, now, refusedBefore, typicalMs, cpuMs }: OverloadStart) {
    this.#leftForLight = this.#leftForAll = -excess / 2;
    this.#cpuMs = cpuMs;
    this.#typicalMs = typicalMs ?? 0;
    this.refusedBefore = refusedBefore;
    this.refusedAt = now;
    this.#maxDelayMs = maxDelayMs;
    this.#leastAimMs = this.#aimMs = maxDelayMs * AIM;
    this.#firstRate = this.#rate = Math.max(LEAST_RATE, rate);
    this.#window = newWindow(now, cpuMs());
    this.#readsSince = now;
  }

  /** How long a read takes that waits for nothing, as far as is known by now, ms. */
  get typicalMs(): number {
    return this.#typicalMs;
  }

  /** @param always whether so few requests are handled that this one is as well, whatever the rate */
  admits(address: string, now: number, always: boolean): boolean {
    const { byAddress, refilled } = this.#window;
    this.#window.arrived++;
    const admitted = byAddress.get(address) ?? 0;
    const share = 1 + refilled / 2 / this.#addresses;
    if (admitted < share && this.#leftForLight >= 1) this.#leftForLight--;
    else if (this.#leftForAll >= 1) this.#leftForAll--;
    else if (always) this.#window.beyondRate++;
    else {
      this.refusedAt = now;
      return false;
    }
    byAddress.set(address, admitted + 1);
    return true;
  }

  /** A read has its response after so long, ms. */
  read(ms: number): void {
    if (this.#window.readMs.length < MOST_READS) this.#window.readMs.push(ms);
  }

  /** @param elapsedMs since the tick before */
  tick(now: number, elapsedMs: number, delay: number): void {
    const refill = elapsedMs * this.#rate;
    const most = Math.max(1, this.#rate * BURST_MS);
    const forLight = this.#leftForLight + refill / 2;
    this.#leftForLight = Math.min(forLight, most);
    this.#leftForAll = Math.min(this.#leftForAll + refill / 2 + forLight - this.#leftForLight, most);
    const window = this.#window;
    window.refilled += refill;
    window.delays += delay;
    window.ticks++;
    if (now - window.at >= WINDOW_MS) this.#adapt(window, now);
  }

  #adapt({ delays, ticks, at, cpuMs, arrived, beyondRate, byAddress, readMs }: Window, now: number): void {
    const usedMs = this.#cpuMs();
    const share = (usedMs - cpuMs) / (now - at);
    const delay = Math.max(delays / ticks, READ_WEIGHT * this.#waitMs(readMs, now, share));
    const rate = this.#rate * Math.max(FASTEST_FALL, 1 - GAIN * (delay - this.#aimMs) / this.#aimMs);
    // A rate far above what comes would let the next burst in whole.
    const mostNeeded = 2 * arrived / (now - at);
    // A rate far below what is admitted anyway would change nothing, and shares would be those of a few.
    const least = Math.max(LEAST_RATE, beyondRate / (now - at));
    this.#rate = Math.max(least, rate > this.#rate ? Math.min(rate, Math.max(this.#rate, mostNeeded)) : rate);
    if (delay < this.#aimMs / 2) this.#aimMs = Math.max(this.#leastAimMs, this.#aimMs / AIM_STEP);
    else if (delay > this.#aimMs && this.#rate <= Math.max(LEAST_RATE, this.#firstRate * FUTILE)) {
      this.#aimMs = Math.min(this.#maxDelayMs, this.#aimMs * AIM_STEP);
    }
    this.#addresses = Math.max(1, byAddress.size);
    this.#window = newWindow(now, usedMs);
    if (readMs.length < LEAST_READS && now - this.#readsSince < KNOWN_MS) this.#window.readMs.push(...readMs);
    else this.#readsSince = now;
  }

  /** How much longer reads take than those that wait for nothing, ms. */
  #waitMs(readMs: number[], now: number, share: number): number {
    const median = quantileOf(readMs, 0.5);
    if (median === null) return now - this.#readsSince < KNOWN_MS ? this.#knownWaitMs : 0;
    const isLong = READ_WEIGHT * (median - this.#typicalMs) > this.#aimMs;
    if (!isLong) this.#trial = null;
    else if (this.#trial === null) {
      if (share >= BUSY) this.#trial = { at: now, rate: this.#rate, readMs: median };
    } else if (this.#isOver(this.#trial, now, share)) {
      // Such as a store that is far away, or that other clients use: fewer requests make its reads no shorter.
      // In a saturated process those that came before may still wait for each other.
      if (share < SATURATED && median > SHORTER * this.#trial.readMs) this.#typicalMs = median;
      this.#trial = null;
    }
    return this.#knownWaitMs = share < BUSY ? 0 : Math.max(0, median - this.#typicalMs);
  }

  /** Whether a trial has shown what it can: with half the rate, or as few requests as leave the process time. */
  #isOver({ at, rate, readMs }: { at: number; rate: number; readMs: number }, now: number, share: number): boolean {
    return (share < BUSY || this.#rate <= rate / 2) && now - at >= Math.max(TRIAL_MS, 3 * readMs);
  }
}

interface Window {
  /** How long reads took that ended in it, ms. */
  readonly readMs: number[];
  readonly at: number;
  /** What processor time had been used then. */
  readonly cpuMs: number;
  arrived: number;
  /** Requests that were admitted although the rate had no admission left. */
  beyondRate: number;
  /** Admissions that the rate has made since. */
  refilled: number;
  /** Sum of the delays of its ticks, ms. */
  delays: number;
  ticks: number;
  /** How many of each address were admitted: not more addresses than admissions. */
  readonly byAddress: Map<string, number>;
}

function newWindow(at: number, cpuMs: number): Window {
  return {
    readMs: [],
    at,
    cpuMs,
    arrived: 0,
    beyondRate: 0,
    refilled: 0,
    delays: 0,
    ticks: 0,
    byAddress: new Map(),
  };
}
