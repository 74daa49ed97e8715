import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import type { BodyReader } from "@/lib/std/body_reader.ts";
import { SHORT_BYTES } from "./entry_read.ts";
import { centralRecord, dataDescriptor, endRecords, localHeader } from "./zip_format.ts";
import { ERRORS_NAME } from "./zip_names.ts";
import { bytesOf, errorLine, type LeftOut, type PlannedEntry } from "./zip_plan.ts";

/** Shorter chunks are joined, bytes. */
const JOINED_BYTES = 64 * 1024;
/** Short objects are read ahead: so many at a time, and this much besides the last of them, bytes. */
const MAX_AHEAD = 16;
const AHEAD_BYTES = 6 * 1024 * 1024;

type Chunk = Uint8Array<ArrayBuffer>;

interface ArchiveContents {
  /** All entries in their order; called again for the lists at the end. */
  readonly entries: () => Iterable<PlannedEntry>;
  /** Opens an object, or says why it is left out. */
  readonly open: (entry: PlannedEntry) => Promise<BodyReader | LeftOut>;
  /** ms since 1970 */
  readonly createdAt: number;
}

/** The bytes of an archive as they are read. @throws what `open` throws, and errors in the middle of an object */
export async function* archiveChunks({ entries, open, createdAt }: ArchiveContents): AsyncGenerator<Chunk> {
  const crcs: number[] = [];
  const leftOut = new Map<number, LeftOut>();
  let offset = 0;
  for await (const { entry, body } of openedAhead(entries(), open)) {
    if (typeof body === "string") {
      leftOut.set(entry.index, body);
      continue;
    }
    let crc = 0;
    let missing = entry.size;
    try {
      yield localHeader(entry);
      for (let chunk; (chunk = await body.read());) {
        crc = crc32(chunk, crc);
        missing -= chunk.length;
        if (missing < 0) break;
        yield chunk;
      }
    } finally {
      body.cancel();
    }
    if (missing !== 0) throw new Error(`'${entry.key}' is not as long as it was`);
    yield dataDescriptor(entry.size, crc);
    crcs[entry.index] = crc;
    offset += bytesOf(entry);
  }

  const list = { name: Buffer.from(ERRORS_NAME), size: 0, modifiedMs: createdAt };
  const listOffset = offset;
  let listCrc = 0;
  if (leftOut.size > 0) {
    for (const line of errorLines(entries(), leftOut)) list.size += line.length;
    yield localHeader(list);
    for (const line of errorLines(entries(), leftOut)) {
      listCrc = crc32(line, listCrc);
      yield line;
    }
    yield dataDescriptor(list.size, listCrc);
    offset += bytesOf(list);
  }

  const end = { entries: 0, centralOffset: offset, centralBytes: 0 };
  offset = 0;
  const counted = (record: Chunk) => {
    end.entries++;
    end.centralBytes += record.length;
    return record;
  };
  for (const entry of entries()) {
    if (leftOut.has(entry.index)) continue;
    yield counted(centralRecord(entry, crcs[entry.index], offset));
    offset += bytesOf(entry);
  }
  if (leftOut.size > 0) yield counted(centralRecord(list, listCrc, listOffset));
  yield endRecords(end);
}

/** Joins short chunks, since each that is sent costs more than its bytes. */
export async function* joined(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  let buffer = new Uint8Array(JOINED_BYTES);
  let length = 0;
  for await (const chunk of chunks) {
    if (length > 0 && length + chunk.length > JOINED_BYTES) {
      yield buffer.subarray(0, length);
      buffer = new Uint8Array(JOINED_BYTES);
      length = 0;
    }
    if (chunk.length > JOINED_BYTES) yield chunk;
    else {
      buffer.set(chunk, length);
      length += chunk.length;
    }
  }
  yield buffer.subarray(0, length);
}

function* errorLines(entries: Iterable<PlannedEntry>, leftOut: ReadonlyMap<number, LeftOut>): Generator<Chunk> {
  for (const { index, key } of entries) {
    const reason = leftOut.get(index);
    if (reason) yield Buffer.from(errorLine(key, reason));
  }
}

/** Opens entries in their turns, and short ones ahead, so that small objects need not be waited for one by one. */
async function* openedAhead(
  entries: Iterable<PlannedEntry>,
  open: ArchiveContents["open"],
): AsyncGenerator<{ readonly entry: PlannedEntry; readonly body: BodyReader | LeftOut }> {
  const rest = entries[Symbol.iterator]();
  const ahead: { readonly entry: PlannedEntry; readonly opened: Promise<BodyReader | LeftOut> | null }[] = [];
  let bytes = 0;
  for (;;) {
    while (ahead.length < MAX_AHEAD && bytes < AHEAD_BYTES) {
      const { value: entry, done } = rest.next();
      if (done) break;
      const isAhead = entry.missing === null && entry.size <= SHORT_BYTES;
      const opened = isAhead ? open(entry) : null;
      // Thrown in its turn.
      opened?.catch(() => {});
      if (isAhead) bytes += entry.size;
      ahead.push({ entry, opened });
    }
    const next = ahead.shift();
    if (!next) return;
    const { entry, opened } = next;
    if (opened) bytes -= entry.size;
    yield { entry, body: entry.missing ?? await (opened ?? open(entry)) };
  }
}
