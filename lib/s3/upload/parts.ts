import type { BodySource } from "@/lib/http/body.ts";
import { badRequest, clientClosedRequest, HttpError, unavailable } from "@/lib/http/errors.ts";
import type { UploadBody } from "@/lib/s3/objects.ts";
import { deadline } from "@/lib/std/timing.ts";

/** Bytes read at a time of a body of known length. */
const CHUNK_BYTES = 256 * 1024;

/** One part of a body. Disposing it releases what it holds in memory. */
export interface Part extends Disposable {
  readonly lengthBytes: number;
  /** Whether the body ends with it. */
  readonly isLast: boolean;
  /** Whether it is sent as bytes and not as a stream. */
  readonly isBytes: boolean;
  /** The bytes, to be sent once. */
  content(): UploadBody;
}

/** The parts of a body of known length. Nothing of them is in memory: each must be sent before the next one. */
export async function* partsOfKnownLength(
  source: BodySource,
  lengthBytes: number,
  partBytes: number,
): AsyncGenerator<Part, undefined> {
  for (let left = lengthBytes; left > 0; left -= partBytes) {
    const length = Math.min(left, partBytes);
    const content = () => ({ body: chunksOf(source, length), lengthBytes: length });
    yield { lengthBytes: length, isLast: length === left, isBytes: false, content, [Symbol.dispose]() {} };
  }
}

/** @throws HttpError as the source does, 400 when the body is shorter than announced */
async function* chunksOf(source: BodySource, lengthBytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let left = lengthBytes; left > 0;) {
    const chunk = await source.read(Math.min(left, CHUNK_BYTES));
    if (!chunk) throw badRequest("content-length: the body is shorter than announced");
    left -= chunk.length;
    yield chunk;
  }
}

export interface UnknownLengthSizes {
  /** Memory of a body that may turn out to be short, bytes. */
  readonly firstBytes: number;
  /** Length of the part with this number (from 1), bytes. */
  readonly partBytes: (number: number) => number;
  /** Most parts of an upload. */
  readonly maxParts: number;
}

/**
 * The parts of a body of unknown length. Each is read into memory, since a part announces its length. The next one is
 * read into the buffers that the one before releases while it is sent.
 *
 * @throws HttpError as the source and the lease do, 413 for a body that is longer than all parts
 */
export async function* partsOfUnknownLength(
  source: BodySource,
  buffers: BufferLease,
  { firstBytes, partBytes, maxParts }: UnknownLengthSizes,
): AsyncGenerator<Part, undefined> {
  for (let number = 1; number <= maxParts; number++) {
    const part = new BufferedPart(buffers);
    if (number === 1) await part.fill(source, firstBytes);
    await part.fill(source, partBytes(number));
    if (part.lengthBytes > 0 || number === 1) yield part;
    if (part.isLast) return;
  }
  if (await source.read(1) === null) return;
  let total = 0;
  for (let number = 1; number <= maxParts; number++) total += partBytes(number);
  throw new HttpError(413, `A body without a Content-Length may have at most ${total} bytes`);
}

/** A part in buffers of a lease. */
export class BufferedPart implements Part {
  readonly #buffers: Uint8Array<ArrayBuffer>[] = [];
  #inFlight: Uint8Array<ArrayBuffer> | null = null;
  #lengthBytes = 0;
  #isLast = false;

  constructor(private readonly lease: BufferLease) {
  }

  get lengthBytes(): number {
    return this.#lengthBytes;
  }

  get isLast(): boolean {
    return this.#isLast;
  }

  get isBytes(): boolean {
    return this.#buffers.length <= 1;
  }

  /** Reads until the part has so many bytes or the source ends. @throws HttpError as the source and the lease do */
  async fill(source: BodySource, lengthBytes: number): Promise<void> {
    const { bufferBytes } = this.lease;
    if (!this.#isLast) await this.lease.reserve(lengthBytes);
    while (!this.#isLast && this.#lengthBytes < lengthBytes) {
      const offset = this.#lengthBytes % bufferBytes;
      const bytes = await source.read(Math.min(bufferBytes - offset, lengthBytes - this.#lengthBytes));
      if (bytes === null) this.#isLast = true;
      else {
        if (offset === 0) this.#buffers.push(await this.lease.take());
        this.#buffers[this.#buffers.length - 1].set(bytes, offset);
        this.#lengthBytes += bytes.length;
      }
    }
  }

  /** A short part is copied, which costs less than a stream, and releases its buffer at once. */
  content(): UploadBody {
    const lengthBytes = this.#lengthBytes;
    if (this.#buffers.length > 1) return { body: this.#chunks(), lengthBytes };
    const body = this.#buffers[0]?.slice(0, lengthBytes) ?? null;
    this[Symbol.dispose]();
    return { body, lengthBytes };
  }

  /** Releases the buffers. One that is on its way to the connection may still be read, so it is not used again. */
  [Symbol.dispose](): void {
    for (const buffer of this.#buffers.splice(0)) this.lease.release(buffer);
    if (this.#inFlight) this.lease.discard(this.#inFlight);
    this.#inFlight = null;
  }

  /** The connection has taken a chunk when the next one is requested: then its buffer is released. */
  async *#chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let left = this.#lengthBytes; left > 0;) {
      this.#inFlight = this.#buffers.shift() ?? null;
      // A clean end would look like the end of the part.
      if (!this.#inFlight) throw new Error("the part was disposed");
      const chunk = this.#inFlight.subarray(0, left);
      left -= chunk.length;
      yield chunk;
      if (this.#inFlight) this.lease.release(this.#inFlight);
      this.#inFlight = null;
    }
  }
}

type PartChunk = Uint8Array<ArrayBuffer>;

export interface BufferPoolOptions {
  /** Length of each buffer, bytes. */
  readonly bufferBytes: number;
  /** Bytes that all leases together may reserve. */
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

  /** Bytes that no lease has reserved. */
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

/** The reusable buffers of one upload. Disposing it returns them and their reservation to the pool. */
export class BufferLease implements Disposable {
  readonly #wake = () => this.#waiting?.resolve();
  readonly #used = new Set<PartChunk>();
  readonly #free: PartChunk[] = [];
  #reserved = 0;
  #waiting: PromiseWithResolvers<void> | null = null;

  constructor(private readonly pool: BufferPool, private readonly signal?: AbortSignal) {
    signal?.addEventListener("abort", this.#wake);
  }

  /** Length of each buffer, bytes. */
  get bufferBytes(): number {
    return this.pool.bufferBytes;
  }

  /** Reserves memory for at least so many bytes in all. @throws HttpError as {@link BufferPool.reserve} */
  async reserve(bytes: number): Promise<void> {
    const missing = Math.ceil(bytes / this.bufferBytes) - this.#reserved;
    if (missing <= 0) return;
    await this.pool.reserve(missing, this.signal);
    this.#reserved += missing;
  }

  /**
   * A buffer, as soon as fewer are in use than are reserved. One call at a time.
   *
   * @throws HttpError 499 when the signal aborts
   */
  async take(): Promise<PartChunk> {
    while (!this.signal?.aborted && this.#used.size >= this.#reserved) {
      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
    }
    if (this.signal?.aborted) throw clientClosedRequest(this.signal.reason);
    const buffer = this.#free.pop() ?? this.pool.take();
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
    this.signal?.removeEventListener("abort", this.#wake);
    for (const buffer of [...this.#free.splice(0), ...this.#used]) this.pool.recycle(buffer);
    this.#used.clear();
    this.pool.unreserve(this.#reserved);
    this.#reserved = 0;
  }
}
