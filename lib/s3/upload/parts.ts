import type { BodySource } from "@/lib/http/body_source.ts";
import { badRequest, HttpError } from "@/lib/http/errors.ts";
import type { UploadBody } from "@/lib/s3/objects.ts";
import type { BufferLease } from "./buffer_pool.ts";

/** What is read at a time of a body of known length, bytes. */
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
  readonly #lease: BufferLease;
  readonly #buffers: Uint8Array<ArrayBuffer>[] = [];
  #inFlight: Uint8Array<ArrayBuffer> | null = null;
  #lengthBytes = 0;
  #isLast = false;

  constructor(lease: BufferLease) {
    this.#lease = lease;
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
    const { bufferBytes } = this.#lease;
    if (!this.#isLast) await this.#lease.reserve(lengthBytes);
    while (!this.#isLast && this.#lengthBytes < lengthBytes) {
      const offset = this.#lengthBytes % bufferBytes;
      const bytes = await source.read(Math.min(bufferBytes - offset, lengthBytes - this.#lengthBytes));
      if (bytes === null) this.#isLast = true;
      else {
        if (offset === 0) this.#buffers.push(await this.#lease.take());
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
    for (const buffer of this.#buffers.splice(0)) this.#lease.release(buffer);
    if (this.#inFlight) this.#lease.discard(this.#inFlight);
    this.#inFlight = null;
  }

  /** The connection has taken a chunk when the next one is requested: then its buffer is released. */
  async *#chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let left = this.#lengthBytes; left > 0;) {
      this.#inFlight = this.#buffers.shift() ?? null;
      // A clean end would be taken for the end of the part.
      if (!this.#inFlight) throw new Error("the part was disposed");
      const chunk = this.#inFlight.subarray(0, left);
      left -= chunk.length;
      yield chunk;
      if (this.#inFlight) this.#lease.release(this.#inFlight);
      this.#inFlight = null;
    }
  }
}
