import { crc32 } from "node:zlib";
import { clientClosedRequest } from "@/lib/http/errors.ts";
import type { BodyReader } from "@/lib/std/body_reader.ts";
import { EntryChanged, type ObjectSource } from "./entry_read.ts";
import { type EntryPart, type EntryTurn, ReadAhead } from "./read_ahead.ts";
import { frameBytes, type ZipArchive } from "./zip_archive.ts";
import { centralRecord, dataDescriptor, endRecords, localHeader } from "./zip_format.ts";
import { CHECKPOINT_BYTES } from "./zip_journal.ts";
import { ERRORS_NAME } from "./zip_names.ts";
import { bytesOf, hasLargeOffset, isFolder, type PlannedEntry } from "./zip_plan.ts";

/** Records and short entries are collected in chunks of this size, bytes. */
const CHUNK_BYTES = 256 * 1024;
/** Bytes from this length on are passed on as they are. */
const PASSED_ON_BYTES = 64 * 1024;
/** Before the first byte of an entry from this size on it is stored that it is begun, bytes. */
const LONG_BYTES = 4 * 1024 * 1024;
/** How often CRCs, and the last entry that was begun, are stored while an archive is sent, ms. */
const SAVE_MS = 250;
/** Entries before a range that are read again for CRCs that were not stored, in all, bytes. */
const MAX_READ_AGAIN_BYTES = 256 * 1024 * 1024;

/** An object that was sent is not what it was: the archive cannot be continued. */
export class ArchiveChanged extends Error {
  override readonly name = "ArchiveChanged";
}

/** Bytes of an archive, both ends inclusive; `last` null is the end, wherever that turns out to be. */
export interface ArchiveRange {
  readonly first: number;
  readonly last: number | null;
}

/**
 * The bytes of an archive from an offset on, produced as they are read.
 *
 * An object that is gone or changed before its first byte is left out: no byte before it depends on it. When one changes
 * later, the stream fails with {@link ArchiveChanged}.
 */
export class ZipStream implements BodyReader {
  readonly #archive: ZipArchive;
  readonly #chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>;
  readonly #ahead: ReadAhead;
  #first: Uint8Array<ArrayBuffer> | null = null;
  #last: Uint8Array<ArrayBuffer> | null = null;
  /** Bytes that are produced but not wanted, before the range. */
  #skip: number;
  #wanted: number;
  #buffer = new Uint8Array(CHUNK_BYTES);
  #buffered = 0;
  #isCancelled = false;
  #isStarted = false;
  #savedAt = -Infinity;
  #isSaving = false;
  readonly #freesChunks: boolean;

  /** @param freesChunks whether a chunk is written when the next one is read, so that its memory can be freed */
  constructor(archive: ZipArchive, source: ObjectSource, { first, last }: ArchiveRange, freesChunks: boolean) {
    this.#freesChunks = freesChunks;
    this.#archive = archive;
    const start = archive.locate(first);
    this.#skip = first - start.offset;
    this.#wanted = last === null ? Infinity : last - first + 1;
    const parts = partsFrom(archive, start.entry, this.#skip);
    this.#ahead = new ReadAhead({ source, parts, wanted: () => this.#wanted });
    this.#chunks = this.#produce(start.offset);
  }

  /**
   * Waits for the first bytes, so that what prevents them can still be the response.
   *
   * @param signal cancels the stream until then
   * @throws ArchiveChanged, HttpError, also 499 where the signal was aborted
   */
  async start(signal: AbortSignal): Promise<void> {
    const cancel = () => this.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      this.#first = await this.read();
    } finally {
      signal.removeEventListener("abort", cancel);
    }
    if (signal.aborted) throw clientClosedRequest(signal.reason);
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#first) {
      const first = this.#first;
      this.#first = null;
      return first;
    }
    // Freed at once: left to the garbage collector, the memory of a long archive makes it run again and again.
    if (this.#freesChunks) this.#last?.buffer.transfer(0);
    this.#last = null;
    if (this.#isCancelled) return null;
    try {
      const { value, done } = await this.#chunks.next();
      if (!done && !this.#isCancelled) {
        this.#saveSometimes();
        return this.#last = value;
      }
    } catch (error) {
      this.#end();
      if (this.#isCancelled) return null;
      throw error;
    }
    this.#end();
    return null;
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#end();
  }

  #end(): void {
    this.#ahead.cancel();
    this.#save();
  }

  async *#produce(startOffset: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { journal } = this.#archive;
    let sentFrom = startOffset;
    for (;;) {
      if (!this.#ahead.isReady) yield* this.#flushBeforeWait();
      const turn = await this.#ahead.next();
      if (this.#isCancelled) return;
      if (!turn) break;
      const { entry, read } = turn;
      if (this.#archive.isLeftOut(entry)) continue;
      if (read && !read.isReady) yield* this.#flushBeforeWait();
      try {
        await read?.begun;
      } catch (error) {
        if (!(error instanceof EntryChanged)) throw error;
        // Something of it was sent: by this stream before it broke off, or by another one.
        if (this.#skip > 0 || !await this.#archive.leaveOut(entry, error.reason)) {
          throw new ArchiveChanged(error.message);
        }
        continue;
      }
      if (this.#archive.isLeftOut(entry)) continue;
      journal.begin(entry.index);
      if (entry.size >= LONG_BYTES) await journal.save().catch(() => {});
      yield* this.#entry(turn);
      sentFrom += bytesOf(entry);
      if (this.#wanted <= 0) break;
    }
    if (this.#wanted > 0) yield* this.#tail(sentFrom);
    yield* this.#flush();
  }

  async *#entry({ entry, read, from, crc: crcBefore }: EntryTurn): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { journal } = this.#archive;
    const { index, size } = entry;
    yield* this.#put(localHeader(entry));
    // Bytes that are not read count as skipped.
    this.#skip -= Math.min(this.#skip, from);
    let position = from;
    let crc = crcBefore ?? 0;
    const isNew = journal.state(index) !== "sent";
    while (read && position < size && this.#wanted > 0) {
      if (!read.isReady) yield* this.#flushBeforeWait();
      const bytes = await read.read().catch((error) => {
        throw error instanceof EntryChanged ? new ArchiveChanged(error.message) : error;
      });
      if (!bytes) break;
      crc = await this.#count(entry, position, crc, bytes, isNew);
      position += bytes.length;
      yield* this.#put(bytes);
    }
    if (this.#wanted <= 0) return;
    if (position !== size) throw new ArchiveChanged("of another length");
    const known = journal.state(index) === "sent" ? journal.crc(index) : null;
    if (known === null) journal.sent(index, crc);
    else if (crcBefore !== null && crc !== known) throw new ArchiveChanged("other bytes under the same ETag");
    yield* this.#put(dataDescriptor(size, known ?? crc));
    this.#saveSometimes();
  }

  /** The CRC with these bytes. Checkpoints on the way are stored. */
  async #count(entry: PlannedEntry, position: number, crc: number, bytes: Uint8Array, isNew: boolean): Promise<number> {
    const boundary = (Math.floor(position / CHECKPOINT_BYTES) + 1) * CHECKPOINT_BYTES;
    if (!isNew || boundary > position + bytes.length || entry.size <= CHECKPOINT_BYTES) return crc32(bytes, crc);
    const before = crc32(bytes.subarray(0, boundary - position), crc);
    const number = boundary / CHECKPOINT_BYTES - 1;
    await this.#archive.journal.checkpoint(entry.index, number, before).catch(() => {});
    return crc32(bytes.subarray(boundary - position), before);
  }

  /** The list of errors where it is needed, the central directory and the end. */
  async *#tail(listOffset: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const archive = this.#archive;
    const { listBytes, listEntryBytes, entries, centralBytes } = archive.layout();
    const list = { name: new TextEncoder().encode(ERRORS_NAME), size: listBytes, modifiedMs: archive.task.createdAt };
    let listCrc = 0;
    if (listBytes > 0) {
      yield* this.#put(localHeader(list));
      for (const line of archive.errorLines()) {
        const bytes = new TextEncoder().encode(line);
        listCrc = crc32(bytes, listCrc);
        yield* this.#put(bytes);
      }
      yield* this.#put(dataDescriptor(listBytes, listCrc));
    }
    let offset = 0;
    for (const entry of archive.entriesFrom(0)) {
      const state = archive.journal.state(entry.index);
      if (state !== "sent") throw new ArchiveChanged(`an entry is ${state}`);
      yield* this.#put(centralRecord(entry, archive.journal.crc(entry.index), offset, hasLargeOffset(entry)));
      offset += bytesOf(entry);
    }
    if (listBytes > 0) yield* this.#put(centralRecord(list, listCrc, listOffset, archive.hasLargeList));
    yield* this.#put(endRecords({ entries, centralOffset: listOffset + listEntryBytes, centralBytes }));
  }

  /** Sends bytes, or what of them is in the range. */
  *#put(bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    let rest = bytes;
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, rest.length);
      this.#skip -= skipped;
      rest = rest.subarray(skipped);
    }
    if (rest.length > this.#wanted) rest = rest.subarray(0, this.#wanted);
    if (rest.length === 0) return;
    this.#wanted -= rest.length;
    if (rest.length >= PASSED_ON_BYTES && rest.buffer instanceof ArrayBuffer) {
      yield* this.#flush();
      yield rest as Uint8Array<ArrayBuffer>;
      return;
    }
    while (rest.length > 0) {
      const taken = rest.subarray(0, CHUNK_BYTES - this.#buffered);
      this.#buffer.set(taken, this.#buffered);
      this.#buffered += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#buffered === CHUNK_BYTES) yield* this.#flush();
    }
  }

  /**
   * Sends what is collected before anything is waited for. The first chunk waits until it is full: what is known by then
   * of its objects can still be in the headers.
   */
  *#flushBeforeWait(): Generator<Uint8Array<ArrayBuffer>> {
    if (this.#isStarted) yield* this.#flush();
  }

  *#flush(): Generator<Uint8Array<ArrayBuffer>> {
    if (this.#buffered === 0) return;
    this.#isStarted = true;
    const chunk = this.#buffered < CHUNK_BYTES / 2
      ? this.#buffer.slice(0, this.#buffered)
      : this.#buffer.subarray(0, this.#buffered);
    // A chunk that was passed on is detached when it has been written.
    if (chunk.buffer === this.#buffer.buffer) this.#buffer = new Uint8Array(CHUNK_BYTES);
    this.#buffered = 0;
    yield chunk;
  }

  #saveSometimes(): void {
    const now = performance.now();
    if (this.#isSaving || now - this.#savedAt < SAVE_MS) return;
    this.#savedAt = now;
    this.#save();
  }

  /** What is not stored costs reading it again, so a failure does not end the stream. */
  #save(): void {
    this.#isSaving = true;
    this.#archive.journal.save().catch(() => {}).finally(() => this.#isSaving = false);
  }
}

/**
 * Computes the CRCs that are missing before an offset by reading the objects again: those of entries that were sent just
 * before a process ended. An object that is gone or changed is left out where no client can have a byte of it.
 *
 * @param entry computes those of the entries before this one
 * @param signal ends the reading
 * @returns false where too much would have to be read
 * @throws ArchiveChanged where an object is not what it was, HttpError as the store, 499 where the signal was aborted
 */
export async function completeBefore(
  archive: ZipArchive,
  source: ObjectSource,
  entry: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { journal } = archive;
  const missing: PlannedEntry[] = [];
  let bytes = 0;
  for (const one of openBefore(archive, entry)) {
    missing.push(one);
    bytes += one.size;
    if (bytes > MAX_READ_AGAIN_BYTES) return false;
  }
  if (missing.length === 0) return true;
  async function* parts(): AsyncGenerator<EntryPart> {
    for (const entry of missing) yield wholeOf(entry);
  }
  const ahead = new ReadAhead({ source, parts: parts(), wanted: () => Infinity });
  const cancel = () => ahead.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for (let turn; (turn = await ahead.next());) await complete(archive, turn);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    ahead.cancel();
    await journal.save().catch(() => {});
  }
  if (signal.aborted) throw clientClosedRequest(signal.reason);
  return true;
}

async function complete(archive: ZipArchive, { entry, read }: EntryTurn): Promise<void> {
  let crc = 0;
  try {
    for (let chunk; (chunk = await read?.read());) crc = crc32(chunk, crc);
  } catch (error) {
    if (!(error instanceof EntryChanged)) throw error;
    if (!await archive.leaveOut(entry, error.reason)) throw new ArchiveChanged(error.message);
    return;
  }
  if (!archive.isLeftOut(entry)) archive.journal.sent(entry.index, crc);
}

/** Entries before another one that are not known to be sent. Chunks of which all are sent are not decoded. */
function* openBefore(archive: ZipArchive, end: number): Generator<PlannedEntry> {
  const { journal } = archive;
  let start = 0;
  for (const [number, { entries }] of archive.task.head.chunks.entries()) {
    const numbers = Array.from({ length: Math.min(entries, end - start) }, (_, at) => start + at);
    if (numbers.some((index) => journal.state(index) === "open" || journal.state(index) === "begun")) {
      for (const entry of archive.chunk(number)) {
        if (entry.index >= end || archive.isLeftOut(entry)) continue;
        if (journal.state(entry.index) !== "sent") yield entry;
      }
    }
    start += entries;
    if (start >= end) return;
  }
}

/** The entries from one on; the first of them without the bytes that are before the range, as far as possible. */
async function* partsFrom(archive: ZipArchive, first: number, skip: number): AsyncGenerator<EntryPart> {
  const { journal } = archive;
  for (const entry of archive.entriesFrom(first)) {
    if (entry.index !== first || skip === 0) yield wholeOf(entry);
    else if (journal.state(first) === "sent") yield restOf(entry, skip, null);
    else yield restOf(entry, skip, await journal.checkpoints(first));
  }
}

/** A folder has nothing to read. An empty object is looked at all the same: it may be gone. */
function wholeOf(entry: PlannedEntry): EntryPart {
  return { entry, from: 0, crc: 0, isRead: !isFolder(entry.key, entry.size) };
}

/**
 * An entry of whose header and bytes the first `skip` are not wanted. It is read from the first wanted byte where its CRC
 * is known (`checkpoints` null), else from the checkpoint before that.
 */
function restOf(entry: PlannedEntry, skip: number, checkpoints: readonly number[] | null): EntryPart {
  const { size } = entry;
  const unwanted = Math.min(Math.max(skip - frameBytes(entry).header, 0), size);
  if (checkpoints === null) return { entry, from: unwanted, crc: unwanted > 0 ? null : 0, isRead: unwanted < size };
  const passed = Math.min(checkpoints.length, Math.floor(unwanted / CHECKPOINT_BYTES));
  const from = passed * CHECKPOINT_BYTES;
  return { entry, from, crc: passed > 0 ? checkpoints[passed - 1] : 0, isRead: from < size };
}
