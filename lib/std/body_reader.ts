import { BurstReader, MOST_READ_BYTES } from "./burst_reader.ts";
import { type BodyReader, releaseReader } from "./byte_reader.ts";
import { bodyOf, registerCancel } from "./cancel_body.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Size of a read of a body of known length, bytes, by how long it is: small reads leave the runtime's buffer as it is for
 * later requests, and reads larger than the largest are little faster.
 */
const READ_BYTES = [{ upToBytes: 16 * 1024, readBytes: 1024 }, { upToBytes: 64 * 1024, readBytes: MOST_READ_BYTES }];
const LONG_READ_BYTES = 16 * 1024;

const readAhead = new WeakSet<Body>();

/**
 * Whether the runtime may read far ahead of later bodies on the connection that a request came on. After one
 * large read it (Deno 2.9) takes as much off the connection at every read, whatever size the read requests.
 */
export function leavesReadAhead(request: Request): boolean {
  const body = bodyOf(request);
  return body !== null && readAhead.has(body);
}

/** Records that the runtime reads a body ahead, as one that it passes on to another connection by itself. */
export function markReadAhead(body: Body): void {
  readAhead.add(body);
}

/**
 * Takes the reader of a body. Without a length the body has chunks, which are read as {@link BurstReader} does.
 *
 * @param lengthBytes what the request says; null: nothing
 */
export function bodyReader(body: Body, lengthBytes: number | null): BodyReader {
  const reader = readerOf(body, lengthBytes);
  registerCancel(body, () => reader.cancel());
  return reader;
}

function readerOf(body: Body, lengthBytes: number | null): BodyReader {
  const bytes = byteReader(body);
  if (!bytes) return chunkReader(body.getReader());
  if (lengthBytes === null) return new BurstReader(bytes, () => readAhead.add(body));
  const short = READ_BYTES.find(({ upToBytes }) => lengthBytes <= upToBytes);
  if (!short) readAhead.add(body);
  return reusingReader(bytes, short?.readBytes ?? LONG_READ_BYTES);
}

/** A reader into given memory; null for a stream of another kind, as a body that came with its head has. */
export function byteReader(body: Body): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return null;
    throw error;
  }
}

/** Reads a stream by the chunks that it has. */
export function chunkReader(reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>): BodyReader {
  let over = false;
  return {
    async read() {
      if (over) return null;
      const { done, value } = await reader.read();
      over ||= done;
      return value ?? null;
    },
    cancel() {
      if (!over) releaseReader(reader);
      over = true;
    },
  };
}

/** Reads into the same memory again and again: memory that the runtime allocates for each read is released late. */
function reusingReader(reader: ReadableStreamBYOBReader, readBytes: number): BodyReader {
  let memory = new Uint8Array(readBytes);
  let over = false;
  return {
    async read() {
      if (over) return null;
      const { done, value } = await reader.read(memory);
      over ||= done;
      if (done) return null;
      // The memory has moved into the buffer of what was read.
      memory = new Uint8Array(value.buffer);
      return value;
    },
    cancel() {
      if (!over) releaseReader(reader);
      over = true;
    },
  };
}

/**
 * The Content-Length of a request or response; null where it is absent or no number, or a transfer coding voids it (RFC
 * 9112, section 6.3).
 */
export function announcedLength({ headers }: { readonly headers: Headers }): number | null {
  const text = headers.get("content-length");
  return text !== null && /^\d{1,15}$/.test(text) && !headers.has("transfer-encoding") ? Number(text) : null;
}
