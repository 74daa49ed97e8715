import { announcedLength, bodyReader } from "./body_reader.ts";
import type { BodyReader } from "./byte_reader.ts";
import { withDeadline } from "./deadline.ts";
import { pacedReader, SlowBody } from "./paced_reader.ts";
import type { TimeBounds } from "./time_bounds.ts";

/** What a whole body may take: at least one of the bounds in time must be given. */
type ReadLimits =
  & { readonly maxBytes: number }
  & (
    | { readonly totalMs: number; readonly bounds?: TimeBounds }
    | { readonly totalMs?: undefined; readonly bounds: TimeBounds }
  );

/** A body is longer than its limit. */
export class BodyTooLong extends Error {
  override readonly name = "BodyTooLong";

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/**
 * Reads the whole body of a request, which is empty when there is none. A body that is announced as too long is not read.
 *
 * @throws BodyTooLong, SlowBody, ChunksTooSmall, or what breaks the stream
 */
export async function readRequest(request: Request, limits: ReadLimits): Promise<Uint8Array<ArrayBuffer>> {
  const length = announcedLength(request);
  if (length !== null && length > limits.maxBytes) throw new BodyTooLong(limits.maxBytes);
  if (!request.body) return new Uint8Array(0);
  return await readLimited(bodyReader(request.body, length), limits);
}

/**
 * Reads all that a reader returns, and cancels it however the reading ends.
 *
 * @throws BodyTooLong, SlowBody, or what the reader throws
 */
export async function readLimited(
  reader: BodyReader,
  { maxBytes, totalMs = Infinity, bounds }: ReadLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const source = bounds ? pacedReader(reader, bounds) : reader;
  const bytes = new LimitedBytes(maxBytes);
  try {
    await withDeadline(totalMs, {
      async work() {
        for (let chunk; (chunk = await source.read());) bytes.add(chunk);
      },
      cancel: () => reader.cancel(),
      late: () => new SlowBody(`not whole after ${totalMs} ms`),
    });
  } finally {
    reader.cancel();
  }
  return bytes.joined();
}

/** Collects the chunks of a body up to a limit. */
export class LimitedBytes {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a copy of a chunk. @throws BodyTooLong */
  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) throw new BodyTooLong(this.#maxBytes);
    this.#chunks.push(new Uint8Array(chunk));
  }

  /** All chunks as one, in memory of its own. */
  joined(): Uint8Array<ArrayBuffer> {
    if (this.#chunks.length === 1) return this.#chunks[0];
    const bytes = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, offset);
      offset += chunk.length;
    }
    return bytes;
  }
}
