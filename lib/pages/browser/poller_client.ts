/** Timers and clock, simulated in tests. */
export interface Clock {
  /** ms since 1970 */
  now(): number;
  /** Calls back after ms. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

export const browserClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits. @throws the signal's reason when it aborts meanwhile */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Longest wait after failed reads, seconds. */
const MAX_WAIT_SECONDS = 300;

/** Resolves to false if the read failed, which makes the next wait longer. */
type Read = (signal: AbortSignal, urgent: boolean) => Promise<boolean>;

/**
 * Repeats a read: one at a time, none while it is paused, and after a failure with a wait that doubles up to five minutes
 * (spec, Limits).
 */
export class Poller {
  readonly #read: Read;
  readonly #clock: Clock;
  readonly #onFailed: (dueAt: number | null) => void;
  /** Seconds; null: it is not repeated. */
  #every: number | null = null;
  #paused = false;
  #failures = 0;
  #lastAt: number | null = null;
  #running: AbortController | null = null;
  #again = false;
  #cancel: () => void = () => {};

  /** @param onFailed called after a failed read with the time of the next one, ms since 1970 */
  constructor(read: Read, clock: Clock, onFailed: (dueAt: number | null) => void = () => {}) {
    this.#read = read;
    this.#clock = clock;
    this.#onFailed = onFailed;
  }

  /** When the next read is due, ms since 1970; null when none is. */
  get dueAt(): number | null {
    if (this.#every === null) return null;
    return this.#lastAt === null ? this.#clock.now() : this.#lastAt + waitSeconds(this.#every, this.#failures) * 1000;
  }

  /** Repeats every so many seconds from now on; null ends it. The first read comes at once. */
  repeat(everySeconds: number | null): void {
    if (this.#every === everySeconds) return;
    this.#every = everySeconds;
    this.#schedule();
  }

  /** Sets the time of the last successful read, from which the next one is scheduled. */
  startFrom(ms: number): void {
    this.#lastAt = ms;
    this.#schedule();
  }

  /** Starts no read while paused. A read that became due meanwhile starts on resume. */
  pause(paused: boolean): void {
    this.#paused = paused;
    this.#schedule();
  }

  /** Reads now, or as soon as a read in progress or a pause has ended. */
  readNow(): void {
    this.#again = true;
    this.#schedule();
  }

  /** Cancels the current read, which counts neither as a success nor as a failure. */
  abandon(): void {
    this.#running?.abort();
  }

  /** Stops for good, and cancels a read in progress. */
  stop(): void {
    this.#every = null;
    this.#again = false;
    this.#cancel();
    this.#running?.abort();
  }

  #schedule(): void {
    this.#cancel();
    if (this.#paused || this.#running) return;
    if (this.#again) {
      this.#again = false;
      this.#begin(true);
      return;
    }
    const due = this.dueAt;
    if (due === null) return;
    this.#cancel = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#begin(false));
  }

  async #begin(urgent: boolean): Promise<void> {
    this.#cancel();
    const running = this.#running = new AbortController();
    const good = await this.#read(running.signal, urgent).catch(() => false);
    this.#running = null;
    if (!running.signal.aborted) {
      this.#failures = good ? 0 : this.#failures + 1;
      this.#lastAt = this.#clock.now();
      if (!good) this.#onFailed(this.dueAt);
    }
    this.#schedule();
  }
}

/** Seconds until the next read after so many failures in a row. */
function waitSeconds(everySeconds: number, failures: number): number {
  return Math.min(everySeconds * 2 ** Math.min(failures, 16), Math.max(everySeconds, MAX_WAIT_SECONDS));
}
