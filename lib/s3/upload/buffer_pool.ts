import { clientClosedRequest, unavailable } from "@/lib/http/errors.ts";
import { deadline } from "@/lib/std/deadline.ts";

type PartChunk = Uint8Array<ArrayBuffer>;

export interface BufferPoolOptions {
  /** Length of each buffer, bytes. */
  readonly bufferBytes: number;
  /** What all leases together may reserve, bytes. */
  readonly totalBytes: number;
  /** Unused buffers that are cached for later leases, bytes. The garbage collector frees dropped ones late. */
  readonly cachedBytes: number;
  /** How long a reservation waits for memory, ms. */
  readonly waitMs: number;
}

interface Reservation {
  readonly count: number;
  readonly granted: PromiseWithResolvers<void>;
}

/** Buffers of one length that all uploads of this process share, up to a total. */
export class BufferPool {
  /** Length of each buffer, bytes. */
  readonly bufferBytes: number;
  readonly #maxCached: number;
  readonly #waitMs: number;
  readonly #cached: PartChunk[] = [];
  /** In the order in which they are granted. */
  readonly #waiting: Reservation[] = [];
  #unreserved: number;

  constructor({ bufferBytes, totalBytes, cachedBytes, waitMs }: BufferPoolOptions) {
    this.bufferBytes = bufferBytes;
    this.#unreserved = Math.floor(totalBytes / bufferBytes);
    this.#maxCached = Math.floor(cachedBytes / bufferBytes);
    this.#waitMs = waitMs;
  }

  /** What no lease has reserved, bytes. */
  get freeBytes(): number {
    return this.#unreserved * this.bufferBytes;
  }

  /** The buffers of one upload. @param signal ends everything that waits for a buffer */
  lease(signal?: AbortSignal): BufferLease {
    return new BufferLease(this, signal);
  }

  /**
   * Reserves so many buffers, after the reservations that already wait.
   *
   * @throws HttpError 503 when they do not become free in time, 499 when `signal` aborts
   */
  async reserve(count: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw clientClosedRequest(signal.reason);
    if (this.#waiting.length === 0 && count <= this.#unreserved) {
      this.#unreserved -= count;
      return;
    }
    const reservation = { count, granted: Promise.withResolvers<void>() };
    this.#waiting.push(reservation);
    const leave = (error: Error) => {
      const index = this.#waiting.indexOf(reservation);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reservation.granted.reject(error);
      // The next reservation may be smaller.
      this.#grant();
    };
    const onAbort = () => leave(clientClosedRequest(signal?.reason));
    signal?.addEventListener("abort", onAbort);
    const clear = deadline(
      this.#waitMs,
      () => leave(unavailable("Too many uploads without a Content-Length", 1, "uploads_full")),
    );
    try {
      await reservation.granted.promise;
    } finally {
      clear();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends a reservation of so many buffers. */
  unreserve(count: number): void {
    this.#unreserved += count;
    this.#grant();
  }

  /** A buffer with any content. The caller has reserved it. */
  take(): PartChunk {
    return this.#cached.pop() ?? new Uint8Array(this.bufferBytes);
  }

  /** Caches a buffer that is neither read nor written. */
  recycle(buffer: PartChunk): void {
    if (this.#cached.length < this.#maxCached) this.#cached.push(buffer);
  }

  #grant(): void {
    for (let next = this.#waiting[0]; next && next.count <= this.#unreserved; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#unreserved -= next.count;
      next.granted.resolve();
    }
  }
}

/** The buffers of one upload, used again and again. Disposing it returns them and their reservation to the pool. */
export class BufferLease implements Disposable {
  readonly #pool: BufferPool;
  readonly #signal: AbortSignal | undefined;
  readonly #wake = () => this.#waiting?.resolve();
  readonly #used = new Set<PartChunk>();
  readonly #free: PartChunk[] = [];
  #reserved = 0;
  #waiting: PromiseWithResolvers<void> | null = null;

  constructor(pool: BufferPool, signal?: AbortSignal) {
    this.#pool = pool;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#wake);
  }

  /** Length of each buffer, bytes. */
  get bufferBytes(): number {
    return this.#pool.bufferBytes;
  }

  /** Reserves memory for at least so many bytes in all. @throws HttpError as {@link BufferPool.reserve} */
  async reserve(bytes: number): Promise<void> {
    const missing = Math.ceil(bytes / this.bufferBytes) - this.#reserved;
    if (missing <= 0) return;
    await this.#pool.reserve(missing, this.#signal);
    this.#reserved += missing;
  }

  /**
   * A buffer, as soon as fewer are in use than are reserved. One call at a time.
   *
   * @throws HttpError 499 when the signal aborts
   */
  async take(): Promise<PartChunk> {
    while (!this.#signal?.aborted && this.#used.size >= this.#reserved) {
      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
    }
    if (this.#signal?.aborted) throw clientClosedRequest(this.#signal.reason);
    const buffer = this.#free.pop() ?? this.#pool.take();
    this.#used.add(buffer);
    return buffer;
  }

  /** Frees a buffer that is neither read nor written. */
  release(buffer: PartChunk): void {
    if (this.#used.delete(buffer)) this.#free.push(buffer);
    this.#wake();
  }

  /** Frees the share of a buffer that may still be read: its memory is not used again. */
  discard(buffer: PartChunk): void {
    this.#used.delete(buffer);
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.#signal?.removeEventListener("abort", this.#wake);
    for (const buffer of [...this.#free.splice(0), ...this.#used]) this.#pool.recycle(buffer);
    this.#used.clear();
    this.#pool.unreserve(this.#reserved);
    this.#reserved = 0;
  }
}
