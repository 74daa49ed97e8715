/** How long a pause may be made up for by a burst, ms. */
const BURST_MS = 500;

interface RateClock {
  /** ms since an arbitrary moment */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Limits bytes per second, as a token bucket that holds half a second. Takers wait in the order in which they come. */
export class ByteRate {
  readonly #bytesPerSecond: number;
  readonly #clock: RateClock;
  /** When all bytes that were taken have had their time, by the clock. */
  #paidAt = -Infinity;

  /** @param bytesPerSecond Infinity: no limit */
  constructor(bytesPerSecond: number, clock: RateClock) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
  }

  /**
   * Takes bytes that have been read, and waits until the next may be.
   *
   * @throws the reason of the signal
   */
  async take(bytes: number, signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    this.#paidAt = Math.max(this.#paidAt, now - BURST_MS) + bytes / this.#bytesPerSecond * 1000;
    const waitMs = this.#paidAt - now;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    signal?.throwIfAborted();
  }
}
