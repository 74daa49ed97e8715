import { BrokenStream, guardedStream } from "@/lib/http/response_body.ts";
import {
  announcedLength,
  BodyTooLong,
  boundedReader,
  IDLE_MS,
  STREAM_BOUNDS,
  streamReader,
} from "@/lib/std/body_reader.ts";

/** Longest list that is handed on, in bytes: 10,000 records, which is the store's own bound, of 13 KiB each. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;

const [CLOSE_LIST, ...SPACE_BYTES] = new TextEncoder().encode("] \t\r\n");
const SPACES = new Set(SPACE_BYTES);

/**
 * Reads an array of records. A list of at most `heldBytes` is a text. Of a longer one no more than that is held, and the
 * rest is read as it is passed on, so that it is never in memory whole. Should the rest break off, stall, exceed
 * {@link MAX_LIST_BYTES} or end without the array's bracket, the stream breaks too. More of its JSON is not read here.
 *
 * @param stallMs longest wait for the next chunk, if that is less than what all bodies have
 * @param unread called when the client stops reading
 * @throws BodyTooLong for what is long and no array, SlowBody, or what breaks the body
 */
export async function readList(
  response: Response,
  heldBytes: number,
  stallMs: number,
  unread?: () => void,
): Promise<string | ReadableStream<Uint8Array<ArrayBuffer>>> {
  if (!response.body) return "";
  const bounds = { ...STREAM_BOUNDS, idleMs: Math.min(stallMs, IDLE_MS) };
  const reader = boundedReader(streamReader(response.body), { maxBytes: MAX_LIST_BYTES, bounds });
  const held: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    if ((announcedLength(response) ?? 0) > MAX_LIST_BYTES) throw new BodyTooLong(MAX_LIST_BYTES);
    while (length <= heldBytes) {
      const chunk = await reader.read();
      if (chunk === null) return await new Blob(held).text();
      held.push(chunk);
      length += chunk.length;
    }
    if (!(await new Blob(held).text()).trimStart().startsWith("[")) throw new BodyTooLong(heldBytes);
  } catch (error) {
    reader.cancel();
    throw error;
  }
  let isEnded = false;
  const read = async () => {
    const chunk = held.shift() ?? await reader.read();
    // A body without a length that is cut off seems to end.
    if (chunk === null && !isEnded) throw new Error("the list has no end");
    const last = chunk?.findLast((byte) => !SPACES.has(byte));
    if (last !== undefined) isEnded = last === CLOSE_LIST;
    return chunk;
  };
  return guardedStream({ read, cancel: () => reader.cancel() }, {
    broken: () => new BrokenStream("BrokenList", "the store's list broke off"),
    unread,
  });
}
