/** Idle timeout of the sender or the reader of a body, ms. */
export const IDLE_MS = 60_000;
/**
 * Slowest pace of a body, bytes per second. Six parts at a time over 1 Mbit/s have 21 KiB/s each, which must pass
 * whatever the length of a part.
 */
export const MIN_BYTES_PER_SECOND = 16 * 1024;
/** Whatever the length of a body, it has this much more than its pace allows, ms. */
export const SLACK_MS = 60_000;
/** Total deadline of a short body (JSON, a form, a response in XML or JSON), ms. */
export const SHORT_BODY_MS = 30_000;

/** How long the sender or the reader of a body may take. */
export interface TimeBounds {
  /** Idle timeout, ms. */
  readonly idleMs: number;
  readonly minBytesPerSecond: number;
  /** Beyond what the pace allows, ms. */
  readonly slackMs: number;
}

/** The bounds of every body that streams. */
export const STREAM_BOUNDS: TimeBounds = {
  idleMs: IDLE_MS,
  minBytesPerSecond: MIN_BYTES_PER_SECOND,
  slackMs: SLACK_MS,
};

/**
 * Bodies of known length up to so many bytes are passed on untouched where they need not be read: their total deadline,
 * 124 s, is little more than the idle timeout, and passing them on costs half of what watching them does.
 */
export const UNWATCHED_BYTES = 1024 * 1024;

/** How long a body of that many bytes may take in all, ms. */
export function totalMs(lengthBytes: number, bounds: TimeBounds = STREAM_BOUNDS): number {
  return bounds.slackMs + lengthBytes / bounds.minBytesPerSecond * 1000;
}

/**
 * A connection takes more from a slow reader's sender only when there is room for so much again, bytes: a third of its
 * buffer (Linux: 4 MiB), and what was read ahead.
 */
const TAKEN_AT_ONCE_BYTES = 2 * 1024 * 1024;
/** So much of a body may be in buffers on its way when the last of it was taken, bytes. */
const IN_BUFFERS_BYTES = 5 * 1024 * 1024;

/** The longest time between two chunks that a reader takes, ms: one at the slowest pace takes none for a while. */
export function unreadMs({ idleMs, minBytesPerSecond }: TimeBounds = STREAM_BOUNDS): number {
  return idleMs + TAKEN_AT_ONCE_BYTES / minBytesPerSecond * 1000;
}

/** How long a body of that many bytes may need to arrive after the last of it was taken, ms. */
export function inBuffersMs(lengthBytes: number, bounds: TimeBounds = STREAM_BOUNDS): number {
  return totalMs(Math.min(lengthBytes, IN_BUFFERS_BYTES), bounds);
}

/**
 * Measures the pace of one body of any length. Only the time spent waiting for its sender counts: a body that waits for
 * this process is not slow.
 */
export class Pace {
  readonly #bounds: TimeBounds;
  #bytes = 0;
  #waitedMs = 0;

  constructor(bounds: TimeBounds = STREAM_BOUNDS) {
    this.#bounds = bounds;
  }

  /** The longest that may now be waited for more, ms; at most 0 when the body is too slow. */
  get waitMs(): number {
    return Math.min(this.#bounds.idleMs, totalMs(this.#bytes, this.#bounds) - this.#waitedMs);
  }

  /** Counts bytes that came, and how long they were waited for. */
  count(bytes: number, waitedMs: number): void {
    this.#bytes += bytes;
    this.#waitedMs += waitedMs;
  }
}
