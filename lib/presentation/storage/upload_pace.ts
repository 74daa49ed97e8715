/** The time over which a rate is taken, ms. */
const WINDOW_MS = 10_000;
/** Shortest time of which a rate says something, ms. */
const LEAST_MS = 1000;
/** Samples within this time are one, ms. */
const SAMPLE_MS = 250;

interface Sample {
  readonly at: number;
  bytes: number;
}

/** How fast bytes go, over the last ten seconds. */
export class UploadPace {
  #samples: Sample[] = [];
  #since: number | null = null;

  /** Adds bytes that were sent. @param now ms on a clock that only grows */
  add(bytes: number, now: number): void {
    this.#since ??= now;
    const last = this.#samples.at(-1);
    if (last && now - last.at < SAMPLE_MS) last.bytes += bytes;
    else this.#samples.push({ at: now, bytes });
    this.#forget(now);
  }

  /** Forgets what was sent, as after a pause. */
  restart(): void {
    this.#samples = [];
    this.#since = null;
  }

  /** Bytes a second; null as long as too little is known. */
  rate(now: number): number | null {
    if (this.#since === null) return null;
    this.#forget(now);
    const spanMs = Math.min(WINDOW_MS, now - this.#since);
    if (spanMs < LEAST_MS) return null;
    return this.#samples.reduce((sum, { bytes }) => sum + bytes, 0) / spanMs * 1000;
  }

  #forget(now: number): void {
    while (this.#samples.length > 0 && now - this.#samples[0].at > WINDOW_MS) this.#samples.shift();
  }
}
