import type { TaskStore } from "@/lib/tasks/task_store.ts";
import {
  centralRecordBytes,
  descriptorBytes,
  endBytes,
  entryBytes,
  localHeaderBytes,
  ZIP64_LIMIT,
} from "./zip_format.ts";
import { storedGeneration, storeGeneration, ZipJournal } from "./zip_journal.ts";
import { ERRORS_NAME } from "./zip_names.ts";
import {
  bytesOf,
  centralBytesOf,
  chunkName,
  errorLine,
  type LeftOut,
  type PlanHead,
  type PlannedEntry,
  readChunk,
} from "./zip_plan.ts";

/** The task of an archive that can be streamed. */
export interface ReadyTask {
  readonly id: string;
  readonly bucket: string;
  /** ms since 1970 */
  readonly createdAt: number;
  readonly head: PlanHead;
}

/** Lengths of the parts of an archive, bytes: exact once all entries are decided, else as expected. */
interface Layout {
  /** Entries of objects. */
  readonly dataBytes: number;
  /** The text of the list of errors; 0 where there is none. */
  readonly listBytes: number;
  /** The entry of that list with its header and descriptor. */
  readonly listEntryBytes: number;
  /** Entries, the list included. */
  readonly entries: number;
  readonly centralBytes: number;
  readonly totalBytes: number;
}

/** Where a byte of an archive is: in the entry of an object, or behind the last. */
interface Location {
  /** The entry; the number of entries where it is behind the last. */
  readonly entry: number;
  /** Where the local header of that entry begins, bytes. */
  readonly offset: number;
}

type BlobStore = Pick<TaskStore, "readBlobs" | "writeBlobs">;

/** One generation of an archive: its plan, and what is decided of its entries. Downloads of one process share it. */
export class ZipArchive {
  readonly task: ReadyTask;
  readonly journal: ZipJournal;
  readonly #blobs: readonly Uint8Array[];
  /** The chunks that were decoded last: reading ahead and sending are in neighbours. */
  readonly #decoded = new Map<number, PlannedEntry[]>();

  constructor(task: ReadyTask, journal: ZipJournal, blobs: readonly Uint8Array[]) {
    this.task = task;
    this.journal = journal;
    this.#blobs = blobs;
  }

  /** The strong validator of the archive's bytes (RFC 9110, section 8.8.3). */
  get etag(): string {
    return `"${this.task.head.digest.slice(0, 32)}-${this.journal.generation}"`;
  }

  /** How many objects are not in it. */
  get failed(): number {
    return this.task.head.chunks.reduce((sum, { missing }) => sum + missing, 0) + this.journal.leftOut.size;
  }

  get entryCount(): number {
    return this.task.head.chunks.reduce((sum, { entries }) => sum + entries, 0);
  }

  get chunkCount(): number {
    return this.#blobs.length;
  }

  layout(): Layout {
    let dataBytes = 0;
    let centralBytes = 0;
    let listBytes = 0;
    let entries = 0;
    for (const chunk of this.task.head.chunks) {
      dataBytes += chunk.bytes;
      centralBytes += chunk.centralBytes;
      listBytes += chunk.lineBytes;
      entries += chunk.entries - chunk.missing;
    }
    const plannedBytes = dataBytes;
    for (const left of this.journal.leftOut.values()) {
      dataBytes -= left.bytes;
      centralBytes -= left.centralBytes;
      listBytes += left.lineBytes;
      entries--;
    }
    let listEntryBytes = 0;
    if (listBytes > 0) {
      listEntryBytes = entryBytes(ERRORS_NAME.length, listBytes);
      centralBytes += centralRecordBytes(ERRORS_NAME.length, listBytes, plannedBytes >= ZIP64_LIMIT);
      entries++;
    }
    const centralOffset = dataBytes + listEntryBytes;
    const totalBytes = centralOffset + centralBytes + endBytes({ entries, centralOffset, centralBytes });
    return { dataBytes, listBytes, listEntryBytes, entries, centralBytes, totalBytes };
  }

  /** Whether the offset of the list of errors is written in 64 bits: by the plan, as those of all entries. */
  get hasLargeList(): boolean {
    return this.task.head.chunks.reduce((sum, { bytes }) => sum + bytes, 0) >= ZIP64_LIMIT;
  }

  /** The entries of a chunk of the plan. */
  chunk(number: number): PlannedEntry[] {
    let entries = this.#decoded.get(number);
    if (!entries) {
      entries = readChunk(this.task.head, number, this.#blobs[number]);
      const oldest = this.#decoded.keys().next();
      if (this.#decoded.size >= 2 && !oldest.done) this.#decoded.delete(oldest.value);
      this.#decoded.set(number, entries);
    }
    return entries;
  }

  /** Whether an entry of the plan has no bytes in the archive. */
  isLeftOut({ index, missing }: PlannedEntry): boolean {
    return missing !== null || this.journal.state(index) === "left out";
  }

  /** The entries from one on, of which none is missing or left out by now. */
  *entriesFrom(first: number): Generator<PlannedEntry> {
    let start = 0;
    for (const [number, { entries }] of this.task.head.chunks.entries()) {
      if (start + entries > first) {
        for (const entry of this.chunk(number)) if (entry.index >= first && !this.isLeftOut(entry)) yield entry;
      }
      start += entries;
    }
  }

  /** The entry in which a byte is, by what is decided now. */
  locate(offset: number): Location {
    const leftOut = [...this.journal.leftOut];
    let at = 0;
    let start = 0;
    for (const [number, { entries, bytes }] of this.task.head.chunks.entries()) {
      const end = start + entries;
      const isHere = ([index]: readonly [number, unknown]) => index >= start && index < end;
      const length = leftOut.filter(isHere).reduce((rest, [, left]) => rest - left.bytes, bytes);
      if (at + length > offset) {
        for (const entry of this.chunk(number)) {
          if (this.isLeftOut(entry)) continue;
          const bytes = bytesOf(entry);
          if (at + bytes > offset) return { entry: entry.index, offset: at };
          at += bytes;
        }
      }
      at += length;
      start = end;
    }
    return { entry: start, offset: at };
  }

  /** Lines of the list of errors, in the order of the plan. */
  *errorLines(): Generator<string> {
    const { chunks } = this.task.head;
    let start = 0;
    for (const [number, { entries, missing }] of chunks.entries()) {
      const end = start + entries;
      const hasLeftOut = [...this.journal.leftOut.keys()].some((index) => index >= start && index < end);
      if (missing > 0 || hasLeftOut) {
        for (const { index, key, missing } of this.chunk(number)) {
          const reason = missing ?? this.journal.leftOut.get(index)?.reason;
          if (reason) yield errorLine(key, reason);
        }
      }
      start = end;
    }
  }

  /** Keys of objects that are not in it, at most so many. */
  failedKeys(max: number): string[] {
    const keys: string[] = [];
    if (this.failed === 0) return keys;
    for (let number = 0; number < this.chunkCount; number++) {
      for (const entry of this.chunk(number)) {
        if (keys.length >= max) return keys;
        if (this.isLeftOut(entry)) keys.push(entry.key);
      }
    }
    return keys;
  }

  /** Whether it is decided of every entry whether it is in the archive, so that its length is final. */
  get isDecided(): boolean {
    const { chunks } = this.task.head;
    let index = 0;
    for (const [number, { entries, missing }] of chunks.entries()) {
      for (let at = 0; at < entries; at++, index++) {
        if (this.journal.state(index) !== "open") continue;
        if (missing === 0 || this.chunk(number)[at].missing === null) return false;
      }
    }
    return true;
  }

  /**
   * Leaves out an entry whose object is not what it was.
   *
   * @returns false where a client may have a byte of it, or one behind it: then the archive is another one without it
   */
  async leaveOut(entry: PlannedEntry, reason: LeftOut): Promise<boolean> {
    const mayBe = await this.journal.mayLeaveOut(entry.index);
    // Another download may have decided meanwhile.
    if (this.isLeftOut(entry)) return true;
    if (!mayBe || this.journal.state(entry.index) !== "open") return false;
    await this.journal.leaveOut(entry.index, {
      reason,
      bytes: bytesOf(entry),
      centralBytes: centralBytesOf(entry),
      lineBytes: new TextEncoder().encode(errorLine(entry.key, reason)).length,
    });
    return true;
  }
}

/** How many bytes of an entry lie in front of its own, and behind them. */
export function frameBytes({ name, size }: PlannedEntry): { readonly header: number; readonly descriptor: number } {
  return { header: localHeaderBytes(name.length, size), descriptor: descriptorBytes(size) };
}

/** The archives that this process streams now, each open once however many downloads it has. */
export class OpenArchives {
  readonly #store: BlobStore;
  readonly #open = new Map<string, { readonly archive: ZipArchive; downloads: number }>();

  constructor(store: BlobStore) {
    this.#store = store;
  }

  /**
   * Opens the current generation of an archive with all that is stored of it.
   *
   * @returns the archive, and a function that closes it; null where its plan is gone
   */
  async open(task: ReadyTask): Promise<{ archive: ZipArchive; close: () => void } | null> {
    const generation = await storedGeneration(this.#store, task.id);
    const name = `${task.id}/${generation ?? 0}`;
    const blobs = this.#open.get(name) ? [] : await this.#planOf(task);
    if (!blobs) return null;
    let open = this.#open.get(name);
    if (!open) {
      const entries = task.head.chunks.map(({ entries }) => entries);
      const journal = new ZipJournal(this.#store, task.id, generation ?? 0, entries);
      open = { archive: new ZipArchive(task, journal, blobs), downloads: 0 };
      this.#open.set(name, open);
    }
    const { archive } = open;
    const counted = open;
    counted.downloads++;
    let isOpen = true;
    const close = () => {
      if (!isOpen) return;
      isOpen = false;
      if (--counted.downloads > 0) return;
      // Until all is stored, the next download needs what is in memory.
      archive.journal.save().catch(() => {}).then(() => {
        if (counted.downloads === 0 && this.#open.get(name) === counted) this.#open.delete(name);
      });
    };
    try {
      if (generation === null) await storeGeneration(this.#store, task.id, 0);
      else await archive.journal.load();
    } catch (error) {
      close();
      throw error;
    }
    if (!archive.journal.isContradictory) return { archive, close };
    close();
    await this.renew(archive);
    return await this.open(task);
  }

  /** Begins a new generation of an archive: an object that was sent is not what it was. */
  async renew({ task, journal }: ZipArchive): Promise<void> {
    await storeGeneration(this.#store, task.id, journal.generation + 1);
  }

  async #planOf(task: ReadyTask): Promise<Uint8Array[] | null> {
    const blobs = await this.#store.readBlobs(task.id, task.head.chunks.map((_, number) => chunkName(number)));
    const plan = blobs.filter((blob) => blob !== null);
    return plan.length === blobs.length ? plan : null;
  }
}
