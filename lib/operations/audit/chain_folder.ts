import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { removeIfExistsAsync, syncFolderAsync, writeAll, writeDurablyAsync } from "@/lib/std/files.ts";
import { errorReason } from "@/lib/std/text.ts";
import {
  ANCHOR_FILE,
  CHAIN_START,
  type ChainAnchor,
  type ChainEnd,
  type ChainPosition,
  dayFile,
  dayOf,
  daysIn,
  daysInAsync,
  type DurableSink,
  END_FILE,
  type EndNote,
  headerOf,
  headerText,
  idOf,
  opened,
  readAnchor,
  readAt,
  readEnd,
  sealed,
  type SealedRecord,
} from "./audit_trail.ts";

/** How often the end of the trail is noted, ms. */
const NOTE_END_MS = 1000;
/** Where the last record of a file is looked for at an open, bytes: longer than any batch that a kill can cut off. */
const TAIL_BYTES = 4 * 1024 * 1024;
const MAX_HEADER_BYTES = 4096;

interface ChainFolderOptions {
  /** How long days are retained; null: for ever. */
  readonly retentionDays: number | null;
  /** ms since 1970 */
  readonly now: () => number;
  /** Receives lines for the operator. */
  readonly warn: (line: string) => void;
  /** Null or absent: the end is noted in the folder alone. */
  readonly outside?: EndNote | null;
}

/**
 * The trail as files in a folder, one for each day (UTC): a header, then a record on each line. One process at a time
 * writes to it. Times may jump, so a record may be in the file of a later day, never of an earlier one.
 */
export class ChainFolder implements DurableSink {
  readonly name = "chain";
  readonly path: string;
  /** Which trail it is: eight hexadecimal digits. */
  readonly trail: string;
  readonly #options: ChainFolderOptions;
  #end: ChainPosition;
  /** The file that is written to. */
  #day: { readonly day: string; readonly file: Deno.FsFile } | null = null;
  /** How long the newest file is up to the last record that was flushed, bytes; null: not known yet. */
  #length: number | null = null;
  /** The newest day there is a file of. */
  #newest: string | null;
  #notedAt = -Infinity;
  /** Notes the end of records that nothing follows. */
  #later: ReturnType<typeof setTimeout> | undefined;
  /** The last day that was removed; empty: none. */
  #removed: string;
  /** Housekeeping, one job after the other. Records do not wait for it. */
  #beside: Promise<void> = Promise.resolve();
  /** Queued housekeeping jobs. */
  readonly #due = new Set<() => Promise<void>>();
  readonly #lock: Deno.FsFile;

  private constructor(path: string, options: ChainFolderOptions, lock: Deno.FsFile, found: FoundEnd) {
    this.path = path;
    this.#lock = lock;
    this.#options = options;
    this.trail = found.trail;
    this.#end = found.position;
    this.#newest = found.day;
    const anchor = readAnchor(path);
    this.#removed = typeof anchor === "object" && anchor ? anchor.day : "";
  }

  /**
   * Opens a folder and creates it where it is missing. What a kill cut off at its end, and was never confirmed, is removed.
   *
   * @throws what keeps it from being read
   */
  static async open(path: string, options: ChainFolderOptions): Promise<ChainFolder> {
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = Deno.openSync(`${path}/lock`, { create: true, write: true, mode: 0o600 });
    try {
      if (!lock.tryLockSync(true)) throw new Error("another process has it");
      const noted = await options.outside?.read() ?? null;
      const found = await findEnd(path, options.warn, noted);
      // The note of a trail that was exchanged stays, so that the check misses it.
      const isNoted = noted === null || noted.trail === found.trail;
      const folder = new ChainFolder(path, isNoted ? options : { ...options, outside: null }, lock, found);
      await folder.#expire();
      return folder;
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  /** The position that the next record follows. */
  get end(): ChainPosition {
    return this.#end;
  }

  /**
   * Writes records that follow {@link end} and resolves once they are on the disk. Those that are there already are left
   * out.
   *
   * @throws the reason why they are not; the caller may retry
   */
  async append(all: readonly SealedRecord[]): Promise<void> {
    const records = all.filter(({ number }) => number > this.#end.number);
    for (let from = 0; from < records.length;) {
      const day = this.#dayOf(records[from]);
      let to = from + 1;
      while (to < records.length && this.#dayOf(records[to]) === day) to++;
      await this.#appendTo(day, records.slice(from, to));
      from = to;
    }
  }

  /** Removes the files of days that are too old, and notes the last removed record. */
  async #expire(): Promise<void> {
    const { retentionDays, warn } = this.#options;
    try {
      const days = await daysInAsync(this.path);
      const removed = this.#removed;
      const now = this.#options.now();
      const before = days.findLast((day) => day < dayOf(now));
      const beforeMs = before === undefined ? null : Date.parse(before);
      const oldest = retentionDays === null ? "" : dayOf(retainedFrom(now, beforeMs, retentionDays));
      for (const [i, day] of days.entries()) {
        // The last file stays: it has the end of the trail.
        const next = days.at(i + 1);
        if (next === undefined || (day > removed && day >= oldest)) return;
        if (day > removed) {
          const header = headerOf(opened(await firstLine(dayFile(this.path, next)))?.text ?? "");
          if (header === null) {
            return warn(`${dayFile(this.path, next)} is damaged: the days before it are not removed`);
          }
          const { trail, after: number, prev: hash } = header;
          const anchor: ChainAnchor = { v: 1, trail, number, hash, day };
          await writeDurablyAsync(`${this.path}/${ANCHOR_FILE}`, Buffer.from(JSON.stringify(anchor)));
          this.#removed = day;
        }
        await removeIfExistsAsync(dayFile(this.path, day));
      }
    } catch (error) {
      warn(`${this.path}: old records of the audit trail cannot be removed (${errorReason(error)})`);
    }
  }

  /** Notes the end, and closes its file, after what is done beside the records. */
  async close(): Promise<void> {
    clearTimeout(this.#later);
    await this.#beside;
    await this.#noteEnd();
    // Not before: to close a file may take as long as the disk does.
    this.#close();
    // A program that starts at this moment has the file for an instant, and would hold the lock.
    await this.#lock.unlock();
    this.#lock.close();
  }

  /** Never before the newest file, whatever the clock says. */
  #dayOf({ atMs }: SealedRecord): string {
    const day = dayOf(atMs);
    return this.#newest !== null && day < this.#newest ? this.#newest : day;
  }

  async #appendTo(day: string, records: readonly SealedRecord[]): Promise<void> {
    const isNew = day !== this.#newest;
    // Whatever a new day's file holds was left by a write that failed.
    if (isNew) this.#length = 0;
    const { file, length } = await this.#opened(day);
    const header = length === 0 ? [sealed(this.#end.hash, headerText(this.trail, day, this.#end)).line] : [];
    const bytes = Buffer.from([...header, ...records.map(({ line }) => line)].map((line) => `${line}\n`).join(""));
    try {
      await writeAll(file, bytes);
      await file.syncData();
      if (header.length > 0) await syncFolderAsync(this.path);
    } catch (error) {
      this.#close();
      throw error;
    }
    this.#length = length + bytes.length;
    const last = records[records.length - 1];
    this.#end = { number: last.number, hash: last.hash };
    this.#newest = day;
    if (isNew) this.#doBeside(this.#expire);
    if (this.#options.now() - this.#notedAt >= NOTE_END_MS) this.#doBeside(this.#noteEnd);
    else this.#later ??= setTimeout(() => this.#doBeside(this.#noteEnd), NOTE_END_MS);
  }

  /** Queues housekeeping. A job that is already queued is not added again. */
  #doBeside(work: () => Promise<void>): void {
    if (this.#due.has(work)) return;
    this.#due.add(work);
    this.#beside = this.#beside.then(() => {
      this.#due.delete(work);
      return work.call(this);
    });
  }

  /** The file of the newest day, without what a write that failed left at its end. */
  async #opened(day: string): Promise<{ readonly file: Deno.FsFile; readonly length: number }> {
    if (this.#day?.day === day && this.#length !== null) return { file: this.#day.file, length: this.#length };
    this.#close();
    const path = dayFile(this.path, day);
    const file = await Deno.open(path, { create: true, append: true, read: true, mode: 0o600 });
    try {
      const { size } = await file.stat();
      const length = this.#length ?? size;
      if (size > length) await file.truncate(length);
      this.#day = { day, file };
      this.#length = length;
      return { file, length };
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #close(): void {
    this.#day?.file.close();
    this.#day = null;
  }

  async #noteEnd(): Promise<void> {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#notedAt = this.#options.now();
    const { number, hash } = this.#end;
    const end: ChainEnd = { v: 1, trail: this.trail, number, hash };
    try {
      await writeDurablyAsync(`${this.path}/${END_FILE}`, Buffer.from(JSON.stringify(end)));
      if (number > 0) await this.#options.outside?.write(end);
    } catch {
      // A full disk is reported where a record finds no room.
    }
  }
}

interface FoundEnd {
  readonly trail: string;
  readonly position: ChainPosition;
  /** The newest file; null: none. */
  readonly day: string | null;
}

/**
 * Where the trail of a folder goes on: behind what was noted outside of it where records are missing, so that the check
 * finds the gap.
 */
async function findEnd(path: string, warn: (line: string) => void, noted: ChainEnd | null): Promise<FoundEnd> {
  const found = await endInFolder(path, warn);
  const isBehind = noted !== null &&
    (found === null || (found.trail === noted.trail && found.position.number < noted.number));
  if (isBehind) {
    warn(`${path}: records of the audit trail are missing, there were ${noted.number}: run deno task verify`);
    const { trail, number, hash } = noted;
    return { trail, position: { number, hash }, day: daysIn(path).at(-1) ?? null };
  }
  if (noted !== null && found?.trail !== noted.trail) {
    warn(`${path}: the audit trail was exchanged, there was one of ${noted.number} records: run deno task verify`);
  }
  return found ?? { trail: randomBytes(4).toString("hex"), position: CHAIN_START, day: daysIn(path).at(-1) ?? null };
}

/** Where a folder's own files say that its trail goes on; null where it has none. */
async function endInFolder(path: string, warn: (line: string) => void): Promise<FoundEnd | null> {
  const days = daysIn(path);
  const newest = days.at(-1) ?? null;
  for (const day of days.reverse()) {
    const found = await endOfFile(dayFile(path, day), day === newest, warn);
    if (found) return { ...found, day: newest };
  }
  // Files are missing that these notes speak of: the trail goes on behind them, so that the check finds the gap.
  for (const note of [readEnd(path), readAnchor(path)]) {
    if (note === null || note === "damaged") continue;
    return { trail: note.trail, position: { number: note.number, hash: note.hash }, day: newest };
  }
  return null;
}

/** The last record of a file, or what its header says; null where it has neither. */
async function endOfFile(
  path: string,
  isNewest: boolean,
  warn: (line: string) => void,
): Promise<Omit<FoundEnd, "day"> | null> {
  const file = await Deno.open(path, { read: true, write: true });
  try {
    const { size } = await file.stat();
    const tail = await readAt(file, Math.max(0, size - TAIL_BYTES), size);
    const whole = tail.lastIndexOf(0x0a) + 1;
    if (isNewest && whole < tail.length) {
      await file.truncate(size - (tail.length - whole));
      await file.sync();
    }
    const lines = tail.toString("utf8", 0, whole).split("\n").slice(0, -1);
    for (const line of lines.reverse()) {
      const { text, hash } = opened(line) ?? { text: "", hash: "" };
      const id = idOf(text);
      if (id) return { trail: id.trail, position: { number: id.number, hash } };
      const header = headerOf(text);
      if (header) return { trail: header.trail, position: { number: header.after, hash: header.prev } };
      warn(`${path}: the audit trail has a line that is no record: run deno task verify`);
    }
    return null;
  } finally {
    file.close();
  }
}

/** The first line of a file, as far as a header is long. */
async function firstLine(path: string): Promise<string> {
  const file = await Deno.open(path, { read: true });
  try {
    const text = (await readAt(file, 0, MAX_HEADER_BYTES)).toString("utf8");
    return text.slice(0, Math.max(0, text.indexOf("\n")));
  } finally {
    file.close();
  }
}

const MS_PER_DAY = 86_400_000;

/** When the day of an instant began, ms since 1970 (UTC). */
export const startOfDay = (atMs: number) => Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY;

/**
 * Before which instant the records of a trail are too old, ms since 1970. Age is measured from now, but from no later
 * than the end of the newest day with records before today: a clock that is far ahead removes nothing as long as it has
 * not been so for a day with records.
 *
 * @param beforeTodayMs any instant of that day; null: there is none
 */
export function retainedFrom(nowMs: number, beforeTodayMs: number | null, retentionDays: number): number {
  const ageFrom = beforeTodayMs === null ? nowMs : Math.min(nowMs, startOfDay(beforeTodayMs) + MS_PER_DAY);
  return ageFrom - retentionDays * MS_PER_DAY;
}
