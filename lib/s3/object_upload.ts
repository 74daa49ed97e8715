import type { Caller } from "@/lib/auth/store_credentials.ts";
import { type BodySource, bodySource } from "@/lib/http/body.ts";
import { badRequest, clientClosedRequest, HttpError, payloadTooLarge, unavailable } from "@/lib/http/errors.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { deadline } from "@/lib/std/body_reader.ts";
import { MAX_PARTS, MIN_PART_BYTES, type OpenUpload, openUpload, sendPart, type SentPart } from "./multipart.ts";
import { type ObjectRef, putObject, type UploadBody, type WrittenObject } from "./objects.ts";
import type { HeaderRecord, S3 } from "./s3_client.ts";
import { S3Failure } from "./s3_errors.ts";

/** Conditions of a write: an upload in parts has them at its completion. */
const WRITE_CONDITIONS = ["if-match", "if-none-match"];

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Parts of unknown length have 5 MiB, twice as much after every thousand, at most 128: 10,000 of them have 776 GiB. */
const LARGEST_PART_BYTES = 128 * MIB;
const PARTS_OF_A_SIZE = 1000;
/** Bytes sent at a time, and the memory of a body that turns out to be short, bytes. */
const BUFFER_BYTES = 256 * KIB;

/** The limits of the store (S3 API, multipart upload limits), and how bodies are split. */
export interface UploadSizes extends UnknownLengthSizes {
  /** Longest body of one PUT, bytes. */
  readonly maxPutBytes: number;
  /** Longest object, bytes. */
  readonly maxObjectBytes: number;
  /** Least length of the parts of a body of known length, bytes. */
  readonly knownPartBytes: number;
  /** Memory of the parts of unknown length. */
  readonly pool: BufferPool;
}

const NO_SAFE_UPLOAD = "The store may store an upload that breaks off as an object, and has no uploads in parts: " +
  "see S3_ALLOW_TRUNCATED_UPLOADS";

interface ObjectUpload {
  /** A request's body. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Null when it is unknown before the end. */
  readonly lengthBytes: number | null;
  /** Content headers, digests, conditions and `x-amz-meta-*`. */
  readonly headers: HeaderRecord;
  readonly sizes?: UploadSizes;
}

/** The same from bytes that only this process has, such as the file in a form. */
type SourceUpload = Omit<ObjectUpload, "body"> & { readonly source: BodySource };

/**
 * Writes an object of any length. A body of known length up to {@link UploadSizes.maxPutBytes} is passed on in one PUT,
 * unless the store may truncate it; any other goes as {@link writeFromSource} sends it.
 *
 * @throws HttpError 413 for what no object can hold, else as {@link writeFromSource}
 */
export async function writeObject(
  s3: S3,
  caller: Caller,
  target: ObjectRef,
  { lengthBytes, body, headers, sizes = UPLOAD_SIZES }: ObjectUpload,
): Promise<WrittenObject> {
  if (lengthBytes !== null && lengthBytes > sizes.maxObjectBytes) throw payloadTooLarge(sizes.maxObjectBytes);
  const isOnePut = lengthBytes !== null && lengthBytes <= sizes.maxPutBytes &&
    (lengthBytes <= READ_HERE_BYTES || !await s3.mayTruncate?.(hasDigest(headers)));
  if (isOnePut) {
    return await putObject(s3, caller, target, { ...await requestBody(s3, body, lengthBytes), headers });
  }
  const source = bodySource(body, { lengthBytes, bounds: s3.bounds });
  return await writeFromSource(s3, caller, target, { source, lengthBytes, headers, sizes });
}

/**
 * Writes an object in parts: streamed where its length is known, else read into the memory of one part. A body of unknown
 * length that ends within its first part is one PUT, unless it streams and the store may truncate it. An upload that does
 * not end well is aborted.
 *
 * @throws HttpError 413 for a body of unknown length that is longer than all parts, 400 for a digest that does not match,
 *   503 when no memory becomes free, 501 when the store has no uploads in parts and may truncate, else as the source and
 *   the store do
 */
export async function writeFromSource(
  s3: S3,
  caller: Caller,
  target: ObjectRef,
  { source, lengthBytes, headers, sizes = UPLOAD_SIZES }: SourceUpload,
): Promise<WrittenObject> {
  const digests = bodyDigests(headers);
  const body: BodySource = {
    async read(maxBytes) {
      const bytes = await source.read(maxBytes);
      if (bytes) digests.update(bytes);
      return bytes;
    },
    stop: () => source.stop(),
  };
  const cancellation = new AbortController();
  const cancel = (error: unknown) => {
    cancellation.abort(error);
    source.stop();
  };
  const client = caller.signal;
  const signal = AbortSignal.any([cancellation.signal, ...client ? [client] : []]);
  try {
    using buffers = sizes.pool.lease(signal);
    const parts = lengthBytes === null
      ? partsOfUnknownLength(body, buffers, sizes)
      : partsOfKnownLength(body, lengthBytes, Math.max(sizes.knownPartBytes, Math.ceil(lengthBytes / sizes.maxParts)));
    const first = await parts.next();
    if (first.done || (first.value.isLast && (first.value.isBytes || !await s3.mayTruncate?.(hasDigest(headers))))) {
      using part = first.value;
      const content = part?.content() ?? { body: null, lengthBytes: 0 };
      return await putObject(s3, caller, target, { ...content, headers });
    }
    const described = selected(headers, (name) => !WRITE_CONDITIONS.includes(name) && !(name in DIGESTS));
    await using upload = await openUpload(s3, caller, target, described).catch(async (error) => {
      const isMissing = error instanceof S3Failure && (error.storeStatus === 501 || error.storeStatus === 405);
      throw isMissing && await s3.mayTruncate?.(false) ? new HttpError(501, NO_SAFE_UPLOAD, { cause: error }) : error;
    });
    const sent: SentPart[] = [];
    for (let next: IteratorResult<Part, undefined> = first; !next.done;) {
      using part: Part = next.value;
      const content = { number: sent.length + 1, ...part.content() };
      const sending: Promise<SentPart> = sendPart(s3, { ...caller, signal }, upload, content)
        // The last chunk may still be in flight: the next part must not wait for its buffer.
        .finally(() => part[Symbol.dispose]());
      // Meanwhile the next part is read into the buffers that this one releases.
      const [sentPart, following] = await allOrAbort(sending, parts.next(), cancel);
      sent.push(sentPart);
      next = following;
    }
    digests.check();
    return await upload.complete({
      parts: sent,
      conditions: selected(headers, (name) => WRITE_CONDITIONS.includes(name)),
    });
  } catch (error) {
    cancel(error);
    const cause = cancellation.signal.reason;
    throw client?.aborted && !(cause instanceof HttpError) ? clientClosedRequest(cause) : cause;
  }
}

/** Waits for both promises, so that neither outlives the call. When one fails, `cancel` ends the other. */
async function allOrAbort<A, B>(
  one: Promise<A>,
  other: Promise<B>,
  cancel: (error: unknown) => void,
): Promise<[A, B]> {
  const both = [one, other] as const;
  for (const promise of both) promise.catch(cancel);
  await Promise.allSettled(both);
  return await Promise.all(both);
}

function hasDigest(headers: HeaderRecord): boolean {
  return Object.keys(headers).some((name) => name in DIGESTS);
}

function selected(headers: HeaderRecord, isSelected: (name: string) => boolean): HeaderRecord {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSelected(name)));
}

/**
 * Largest body that is read here, bytes. The runtime passes bodies on in large chunks, after which their connections cannot
 * be reused: too expensive for many small bodies.
 */
const READ_HERE_BYTES = 64 * 1024;

/**
 * A request's body for one PUT: a short one is read, a long one is passed on as it is.
 *
 * @throws HttpError 400 when the body is shorter than announced, 408, 499
 */
export async function requestBody(
  { bounds }: Pick<S3, "bounds">,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  lengthBytes: number,
): Promise<UploadBody> {
  if (!body || lengthBytes === 0 || lengthBytes > READ_HERE_BYTES) return { body, lengthBytes };
  const source = bodySource(body, { lengthBytes, bounds });
  const whole = new Uint8Array(lengthBytes);
  for (let at = 0; at < lengthBytes;) {
    const bytes = await source.read(lengthBytes - at);
    if (!bytes) throw badRequest("content-length: the body is shorter than announced");
    whole.set(bytes, at);
    at += bytes.length;
  }
  return { body: whole, lengthBytes };
}

/** Digests of a whole body by request header (S3 API, checking object integrity). */
const DIGESTS: Readonly<Record<string, DigestAlgorithm>> = {
  "content-md5": "md5",
  "x-amz-checksum-sha1": "sha1",
  "x-amz-checksum-sha256": "sha256",
  "x-amz-checksum-crc32": "crc32",
  "x-amz-checksum-crc32c": "crc32c",
  "x-amz-checksum-crc64nvme": "crc64nvme",
};

/**
 * The digests of a body that goes in parts. The store never has the body in one request, so the digests that the client
 * sent for it are checked here.
 */
function bodyDigests(headers: HeaderRecord) {
  const stated = Object.entries(DIGESTS).flatMap(([name, algorithm]) => {
    const value = headers[name];
    return value === undefined ? [] : [{ name, value: value.trim(), digest: startDigest(algorithm) }];
  });
  return {
    update(bytes: Uint8Array): void {
      for (const { digest } of stated) digest.update(bytes);
    },
    /** @throws HttpError 400 naming the header whose digest is not that of the bytes */
    check(): void {
      for (const { name, value, digest } of stated) {
        if (Uint8Array.fromHex(digest.hex()).toBase64() !== value) {
          throw badRequest(`${name}: does not match the body`);
        }
      }
    },
  };
}

/** Longest part in a form, bytes: its length is known only at its end, so it is in memory before it is sent. */
export const MAX_FORM_PART_BYTES = 64 * 1024 * 1024;

interface SourcePart {
  readonly number: number;
  readonly source: BodySource;
  /** A known upper limit of its length; null: none. */
  readonly atMostBytes: number | null;
}

/**
 * Sends one part of an upload from a source of unknown length.
 *
 * @throws HttpError 413 above {@link MAX_FORM_PART_BYTES}, 503 when no memory becomes free, else as {@link sendPart}
 */
export async function sendPartFromSource(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  { number, source, atMostBytes }: SourcePart,
): Promise<SentPart> {
  using buffers = UPLOAD_SIZES.pool.lease(caller.signal);
  using part = new BufferedPart(buffers);
  try {
    await part.fill(source, Math.min(atMostBytes ?? MAX_FORM_PART_BYTES, MAX_FORM_PART_BYTES));
    if (!part.isLast && await source.read(1) !== null) throw payloadTooLarge(MAX_FORM_PART_BYTES);
    return await sendPart(s3, caller, upload, { number, ...part.content() });
  } finally {
    source.stop();
  }
}

/** Bytes read at a time of a body of known length. */
const CHUNK_BYTES = 256 * 1024;

/** One part of a body. Disposing it releases what it holds in memory. */
interface Part extends Disposable {
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

interface UnknownLengthSizes {
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
async function* partsOfUnknownLength(
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

export const UPLOAD_SIZES: UploadSizes = {
  maxPutBytes: 5 * GIB,
  maxObjectBytes: 5 * 1024 * GIB,
  maxParts: MAX_PARTS,
  knownPartBytes: GIB,
  firstBytes: BUFFER_BYTES,
  partBytes: (number) => Math.min(MIN_PART_BYTES * 2 ** Math.floor((number - 1) / PARTS_OF_A_SIZE), LARGEST_PART_BYTES),
  pool: new BufferPool({
    bufferBytes: BUFFER_BYTES,
    totalBytes: 256 * MIB,
    cachedBytes: 8 * MIN_PART_BYTES,
    waitMs: 30_000,
  }),
};
