import { BrokenStream, guardedStream } from "@/lib/http/guarded_stream.ts";
import { announcedLength, type BodyReader, streamReader } from "@/lib/std/body_reader.ts";
import { BodyTooLong, boundedReader } from "@/lib/std/bounded_reader.ts";
import { IDLE_MS, STREAM_BOUNDS } from "@/lib/std/time_bounds.ts";

/** Longest list that is handed on, in bytes: 10,000 records, which is the store's own bound, of 13 KiB each. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;

/** What a list of records is: text where it is short, else its bytes as they come. */
type ListBody = string | ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Reads an array of records. A list of at most `heldBytes` is a text; of a longer one no more than that is held, and the
 * rest is read as it is passed on, so that it is never in memory whole. Should the rest break off, stall, exceed
 * {@link MAX_LIST_BYTES} or be no list after all, the stream breaks too, so that no client takes a part for the whole.
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
): Promise<ListBody> {
  if (!response.body) return "";
  const bounds = { ...STREAM_BOUNDS, idleMs: Math.min(stallMs, IDLE_MS) };
  const reader = boundedReader(streamReader(response.body), { maxBytes: MAX_LIST_BYTES, bounds });
  const scan = arrayScan();
  const held: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    if ((announcedLength(response) ?? 0) > MAX_LIST_BYTES) throw new BodyTooLong(MAX_LIST_BYTES);
    for (;;) {
      const chunk = await reader.read();
      if (chunk === null) return text(held);
      held.push(chunk);
      length += chunk.length;
      scan.take(chunk);
      if (length <= heldBytes) continue;
      if (!scan.isArray()) throw new BodyTooLong(heldBytes);
      return restOf(reader, held, scan, unread);
    }
  } catch (error) {
    reader.cancel();
    throw error;
  }
}

function restOf(
  reader: BodyReader,
  held: Uint8Array<ArrayBuffer>[],
  scan: ArrayScan,
  unread?: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const read = async () => {
    const first = held.shift();
    if (first) return first;
    const chunk = await reader.read();
    if (chunk === null) {
      if (!scan.isWhole()) throw new Error("the list has no end");
      return null;
    }
    scan.take(chunk);
    if (!scan.isArray()) throw new Error("no list");
    return chunk;
  };
  return guardedStream({ read, cancel: () => reader.cancel() }, {
    broken: () => new BrokenStream("BrokenList", "the store's list broke off"),
    unread,
  });
}

interface ArrayScan {
  take(chunk: Uint8Array): void;
  /** Whether what came so far can be an array of objects. */
  isArray(): boolean;
  /** Whether it has ended as well. */
  isWhole(): boolean;
}

/** Follows the brackets of JSON (RFC 8259): enough to know an array of objects, and its end. */
function arrayScan(): ArrayScan {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let hasBegun = false;
  let isBroken = false;
  const between = (byte: number) => {
    if (SPACES.has(byte)) return;
    if (!hasBegun) {
      hasBegun = byte === OPEN_LIST;
      isBroken = !hasBegun;
      depth = 1;
    } else if (depth === 0) isBroken = true;
    else if (byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST) depth--;
    else if (byte !== COMMA) isBroken = true;
  };
  return {
    take(chunk) {
      for (let i = 0; i < chunk.length && !isBroken; i++) {
        const byte = chunk[i];
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inString = false;
        } else if (depth <= 1) between(byte);
        else if (byte === QUOTE) inString = true;
        else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
        else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
      }
    },
    isArray: () => hasBegun && !isBroken,
    isWhole: () => hasBegun && !isBroken && depth === 0,
  };
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = new TextEncoder().encode(
  '"\\,[]{}',
);
const SPACES = new Set(new TextEncoder().encode(" \t\r\n"));

function text(chunks: readonly Uint8Array<ArrayBuffer>[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}
