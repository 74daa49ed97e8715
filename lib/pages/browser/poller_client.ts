/** Timers and clock, held still in tests. */
export interface Clock {
  /** ms since 1970 */
  now(): number;
  /** Calls back after ms; the answer cancels it. */
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

/** Seconds that a wait after failed reads grows to. */
const MAX_WAIT_SECONDS = 300;

/** How a read went: false makes the next wait longer. */
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

  /** Takes a moment as that of the last good read, so that the next one waits its time. */
  startFrom(ms: number): void {
    this.#lastAt = ms;
    this.#schedule();
  }

  /** No read begins while paused; a read that was missed begins at once on resume. */
  pause(paused: boolean): void {
    this.#paused = paused;
    this.#schedule();
  }

  /** Reads now; while a read is under way or reads are paused, as soon as that is over. */
  readNow(): void {
    this.#again = true;
    this.#schedule();
  }

  /** Gives up the read that is under way, which then counts as never begun. */
  abandon(): void {
    this.#running?.abort();
  }

  /** Ends it for good, with the read that is under way. */
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
