import { bodyOf, type BodyReader, byteReader, registerCancel, streamReader } from "@/lib/std/body_reader.ts";
import { BurstReader, MOST_READ_BYTES } from "./burst_reader.ts";
import { PUBLIC_API_ONLY } from "./public_api.ts";

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
 * large read it (Deno 2.9) takes as much off the connection at every read, whatever size the read requests. Such a
 * connection ends with the response. No issue is known upstream; hyperium/hyper#3133 is alike.
 */
export function leavesReadAhead(request: Request): boolean {
  const body = bodyOf(request);
  return body !== null && readAhead.has(body);
}

/** Records that the runtime reads a body ahead, like one that it passes on to another connection. */
export function markReadAhead(body: Body): void {
  readAhead.add(body);
}

/**
 * Takes the reader of a request's body. Without a length the body has chunks, which are read as {@link BurstReader} does.
 *
 * @param lengthBytes what the request says; null: nothing
 */
export function bodyReader(body: Body, lengthBytes: number | null): BodyReader {
  const reader = lengthBytes === null ? chunkedReader(body) : readerOfLength(body, lengthBytes);
  registerCancel(body, () => reader.cancel());
  return reader;
}

/** Without bursts, a body of chunks of 64 KiB takes 36 times the processor time, and 100 MiB. */
function chunkedReader(body: Body): BodyReader {
  const bytes = PUBLIC_API_ONLY ? null : byteReader(body);
  return bytes ? new BurstReader(bytes, () => markReadAhead(body)) : streamReader(body);
}

function readerOfLength(body: Body, lengthBytes: number): BodyReader {
  const short = READ_BYTES.find(({ upToBytes }) => lengthBytes <= upToBytes);
  if (!short) markReadAhead(body);
  const size = short?.readBytes ?? LONG_READ_BYTES;
  return streamReader(body, { firstBytes: size, mostBytes: size });
}
