import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { z } from "zod";
import type { AuditActor, AuditDetail, AuditEvent, AuditRecorder, AuditTarget } from "@/lib/http/audit_event.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { deadline, endsWithin } from "@/lib/std/body_reader.ts";
import { textIfExists } from "@/lib/std/files.ts";
import { errorReason } from "@/lib/std/text.ts";
import { clip, isLonger, parsedJson } from "@/lib/std/untrusted.ts";

/**
 * Records that wait in memory for each disk that takes none, and their lines, characters; further ones are lost. Usual
 * ones take 5 MB. The worst, of long keys outside of Latin-1, take two bytes a character in the line, and as many again
 * in the record beside it: 64 MiB for each of the disks.
 */
const MAX_RECORDS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Characters of lines that are written at once: 3 MiB in UTF-8 at most, less than what an open looks at. No record has as many. */
const MAX_BATCH_CHARACTERS = 1024 * 1024;
/** How long after a failure the next try is, ms. */
const RETRY_MS = 1000;
/** How long a change waits for a disk, ms: a network share that is gone may never say so. */
const WAIT_MS = 10_000;
/** How long a change waits once the process stops, ms: its request is to be answered before it is cut. */
const HURRY_MS = 1500;
/** How long a stop waits for all sinks at most, ms. */
const CLOSE_MS = 2000;

const NO_ROOM = "Changes cannot be recorded in the audit trail, and are refused until they can";
const NOT_RECORDED = "The change was made, but it could not be recorded in the audit trail";

/** A record with its number and its seal. */
export interface SealedRecord {
  readonly record: AuditRecord;
  readonly number: number;
  /** ms since 1970 */
  readonly atMs: number;
  /** The record as JSON, with the member `hash`. */
  readonly line: string;
  readonly hash: string;
}

/** Where records are stored before a change is confirmed. It never blocks the process, however slow the disk is. */
export interface DurableSink {
  /** In metrics and messages. */
  readonly name: string;
  /**
   * Resolves once the records are on the disk.
   *
   * @throws the reason why they are not; the caller may retry
   */
  append(records: readonly SealedRecord[]): Promise<void>;
  /** Called once, after the last {@link append} has ended. It may take as long as the disk does. Never throws. */
  close?(): void | Promise<void>;
}

interface AuditTrailOptions {
  /** Which trail it is: eight hexadecimal digits. */
  readonly trail: string;
  /** The position that its first record follows. */
  readonly end: ChainPosition;
  /** The sink that may miss no number, so that without room in it there are no further records; null: none. */
  readonly chain: DurableSink | null;
  /** Another sink that a change waits for; null: none. */
  readonly file: DurableSink | null;
  /** Whether changes that cannot be recorded are refused. */
  readonly isRequired: boolean;
  /** How long a change waits for a disk, ms; {@link WAIT_MS} when absent. */
  readonly waitMs?: number;
  /** ms since 1970 */
  readonly now: () => number;
  /** Receives lines for the operator. */
  readonly warn: (line: string) => void;
}

/** A change that waits for its record to be on the disks. */
interface WaitingChange {
  readonly number: number;
  /** Settles once each disk has said whether it has the record. */
  readonly settled: Promise<void>;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * The trail of a process: numbers and seals what is recorded, and passes it to the sinks. All events that arrive while a
 * disk flushes are written by the next flush. Reads wait for nothing.
 *
 * A sink that fails stops no change, unless records are required: then changes are refused before they are made.
 */
export class AuditTrail implements AuditRecorder {
  readonly #chain: Outlet | null;
  readonly #outlets: readonly Outlet[];
  #end: ChainPosition;
  readonly #unsettled = new Set<WaitingChange>();
  #isHurried = false;
  #isClosed = false;
  /** Events that no sink got. */
  #lost = 0;
  /** Lost records already reported, by sink; undefined: those that no sink got. */
  readonly #told = new Map<string | undefined, number>();

  constructor(private readonly options: AuditTrailOptions) {
    this.#end = options.end;
    const { chain, file, warn, waitMs = WAIT_MS } = options;
    const outletOf = (sink: DurableSink) => new Outlet(sink, waitMs, warn, () => this.#tellOfGaps());
    this.#chain = chain && outletOf(chain);
    this.#outlets = [this.#chain, file && outletOf(file)].filter((outlet) => outlet !== null);
  }

  /** Records of each sink since the start, by its name; those that wait are in memory. */
  get figures() {
    return new Map(this.#outlets.map(({ sink, written, waiting, lost }) => {
      return [sink.name, { written, lost: this.#lost + lost, waiting }] as const;
    }));
  }

  requireRoom(): void {
    if (this.options.isRequired && this.#outlets.some(({ isFailing }) => isFailing)) throw new HttpError(507, NO_ROOM);
  }

  record(event: AuditEvent): Promise<void> {
    // A record without room in the chain is not sealed at all.
    if (this.#isClosed || this.#chain?.isFull) {
      this.#lost++;
      if (this.#isClosed) this.#warnOfLost(1);
      return this.options.isRequired ? Promise.reject(new HttpError(507, NOT_RECORDED)) : Promise.resolve();
    }
    let record: SealedRecord;
    try {
      record = this.#sealed(event);
    } catch (error) {
      // A serialization bug must not affect other events.
      this.#lost++;
      return Promise.reject(error);
    }
    return new Promise((done, failed) => {
      const written = Promise.all(this.#outlets.map((outlet) => outlet.add(record)));
      const settled: Promise<void> = written.then((taken) => this.#settle(change, taken.every((isTaken) => isTaken)));
      const change: WaitingChange = { number: record.number, settled, done, failed };
      this.#unsettled.add(change);
      if (this.#isHurried) this.#settleSoon([change]);
    });
  }

  /** Shortens audit waits at shutdown: from now on no change waits for a disk longer than {@link HURRY_MS}. */
  hurry(): void {
    this.#isHurried = true;
    this.#settleSoon([...this.#unsettled]);
  }

  note(event: AuditEvent): void {
    this.record(event).catch(() => {});
  }

  /**
   * Writes what waits, settles all changes, and names what was not written.
   *
   * @param ms how long it may take at most; {@link CLOSE_MS} when absent or more
   */
  async close(ms: number = CLOSE_MS): Promise<void> {
    this.#isClosed = true;
    const closeMs = Math.min(ms, CLOSE_MS);
    await Promise.all(this.#outlets.map((outlet) => outlet.close(closeMs)));
    // Writes that have ended by now count; a write that hangs is not on a disk.
    const unsettled = [...this.#unsettled];
    await endsWithin(0, Promise.all(unsettled.map(({ settled }) => settled)));
    this.#settleNow(unsettled);
    for (const { sink: { name }, waiting, lost } of this.#outlets) {
      // No later record will count those that a disk dropped since the last one that did.
      const count = waiting + lost - this.#toldOf(name);
      if (count > 0) this.options.warn(`The audit trail: ${count} records were not delivered to ${name}`);
    }
    const lost = this.#lost - this.#toldOf(undefined);
    if (lost > 0) this.#warnOfLost(lost);
  }

  #warnOfLost(count: number): void {
    this.options.warn(`The audit trail: ${count} changes have no record`);
  }

  #settleSoon(changes: readonly WaitingChange[]): void {
    deadline(HURRY_MS, () => this.#settleNow(changes));
  }

  /** Settles changes that do not end by themselves: one is confirmed unless its record still waits for a disk. */
  #settleNow(changes: readonly WaitingChange[]): void {
    for (const change of changes) {
      if (this.#unsettled.has(change)) {
        this.#settle(change, this.#outlets.every(({ firstWaiting }) => change.number < firstWaiting));
      }
    }
  }

  /** @param isRecorded whether the record is on each disk */
  #settle(change: WaitingChange, isRecorded: boolean): void {
    this.#unsettled.delete(change);
    if (isRecorded || !this.options.isRequired) change.done();
    else change.failed(new HttpError(507, NOT_RECORDED));
  }

  /** The next record. @throws where an event cannot be made one; then its number is that of the next event */
  #sealed(event: AuditEvent): SealedRecord {
    const atMs = this.options.now();
    const number = this.#end.number + 1;
    const { record, text } = auditRecord(event, `${this.options.trail}.${number}`, atMs);
    const { line, hash } = sealed(this.#end.hash, text);
    this.#end = { number, hash };
    return { record, number, atMs, line, hash };
  }

  /** Records how many events had no record, and how many records a disk dropped, once it takes them again. */
  #tellOfGaps(): void {
    const [main] = this.#outlets;
    if (this.#isClosed || main.isFull) return;
    if (!main.isFailing) this.#tellOfGap(undefined, this.#lost);
    for (const { sink: { name }, isFailing, isFull, lost } of this.#outlets) {
      // A full one would drop this record too, which would cause another one.
      if (!isFailing && !isFull) this.#tellOfGap(name, lost);
    }
  }

  #toldOf(sink: string | undefined): number {
    return this.#told.get(sink) ?? 0;
  }

  /** @param lost since the start, by the sink; by all where it is undefined */
  #tellOfGap(sink: string | undefined, lost: number): void {
    const count = lost - this.#toldOf(sink);
    if (count === 0) return;
    this.#told.set(sink, lost);
    this.note({
      action: "audit_gap",
      tenant: null,
      actor: null,
      address: null,
      requestId: null,
      role: null,
      target: { kind: "trail" },
      result: "failed",
      status: null,
      details: { count, sink },
    });
  }
}

/** A sink with the records that it has not taken yet. */
class Outlet {
  #waiting: SealedRecord[] = [];
  /** Characters of the lines that wait. */
  #characters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | null = null;
  /** The write that the sink has not ended yet: there is never a second one beside it. */
  #append: { readonly batch: readonly SealedRecord[]; readonly done: Promise<void> } | null = null;
  #isClosed = false;
  /** Whether the last try failed. */
  isFailing = false;
  /** Records that the sink has taken since the start. */
  written = 0;
  /** Records that were dropped since the start. */
  lost = 0;

  /**
   * @param waitMs how long a write is waited for, ms; then the sink fails until that write has ended
   * @param warn receives lines for the operator
   * @param onWritten called when the sink has taken records
   */
  constructor(
    readonly sink: DurableSink,
    private readonly waitMs: number,
    private readonly warn: (line: string) => void,
    private readonly onWritten: () => void,
  ) {}

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The number of the first record that waits; infinite: none does. */
  get firstWaiting(): number {
    return this.#waiting[0]?.number ?? Infinity;
  }

  /** Whether the next record would be dropped. */
  get isFull(): boolean {
    return this.#waiting.length >= MAX_RECORDS || this.#characters >= MAX_CHARACTERS;
  }

  /**
   * Takes a record where there is room. It is written now, or where the sink fails, by a later try. Never throws.
   *
   * @returns whether the sink has it
   */
  async add(record: SealedRecord): Promise<boolean> {
    if (this.isFull) {
      this.lost++;
      return false;
    }
    this.#waiting.push(record);
    this.#characters += record.line.length;
    // Not for all that waits: under load there is always more.
    while (!this.isFailing && this.firstWaiting <= record.number) await this.#write();
    return this.firstWaiting > record.number;
  }

  /** The last try, and the end of the sink, of so many ms at most. What is slower goes on without being waited for. */
  async close(ms: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // A sink that still writes is not closed, since that may never end either.
    const end = () => this.#append === null ? this.sink.close?.() : undefined;
    await endsWithin(ms, this.#drain().then(end));
  }

  /** Tries what waits, until the sink fails. */
  async #drain(): Promise<void> {
    do await this.#write(); while (!this.isFailing && this.#waiting.length > 0);
  }

  /** Writes what waits now; several callers share it. */
  #write(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve();
    return this.#writing ??= this.#tryBatch();
  }

  async #tryBatch(): Promise<void> {
    try {
      await this.#writeBatch();
    } catch (error) {
      this.#fail(error);
    } finally {
      // At once: what is added from here on needs another run.
      this.#writing = null;
    }
  }

  async #writeBatch(): Promise<void> {
    const { waitMs, warn, onWritten } = this;
    const { batch, done } = this.#append ??= this.#begin();
    if (!(await endsWithin(waitMs, done))) throw new Error(`a write has not ended for ${waitMs / 1000} s`);
    this.#append = null;
    await done;
    this.#waiting = this.#waiting.slice(batch.length);
    for (const { line } of batch) this.#characters -= line.length;
    this.written += batch.length;
    if (this.isFailing) warn(`The audit trail is written to ${this.sink.name} again`);
    this.isFailing = false;
    onWritten();
  }

  #begin(): { readonly batch: readonly SealedRecord[]; readonly done: Promise<void> } {
    let count = 0;
    for (let characters = 0; count < this.#waiting.length; count++) {
      characters += this.#waiting[count].line.length;
      if (characters > MAX_BATCH_CHARACTERS) break;
    }
    const batch = this.#waiting.slice(0, count);
    return { batch, done: this.sink.append(batch) };
  }

  #fail(error: unknown): void {
    if (!this.isFailing) {
      this.warn(
        `The audit trail cannot be written to ${this.sink.name} (${errorReason(error)}): records wait in memory`,
      );
    }
    this.isFailing = true;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#drain(), RETRY_MS);
  }
}

/** Grows only when a member changes its meaning. */
const RECORD_VERSION = 1;

/** Longest text in a record, characters: a client chooses names and keys. */
const MAX_TEXT = 1024;
/** The same in a record that would be too long with such texts: those of control characters take six times their length. */
const SHORT_TEXT = 128;
/** Longest record as JSON, bytes: with its seal and a header it fits into a datagram, which has 65,507. */
const MAX_RECORD_BYTES = 60_000;
/** Most texts of a list in the details. */
const MAX_LISTED = 20;

/** A record as it is stored, sent and read: one JSON object with these members in this order. New ones may be added. */
export type AuditRecord = Readonly<ReturnType<typeof recordOf>>;

/**
 * The record of an event, and as JSON on one line of {@link MAX_RECORD_BYTES} at most.
 *
 * @param id `<trail>.<number>`
 * @param atMs ms since 1970
 */
export function auditRecord(
  event: AuditEvent,
  id: string,
  atMs: number,
): { readonly record: AuditRecord; readonly text: string } {
  const record = recordOf(event, id, atMs, MAX_TEXT);
  const text = jsonText(record);
  if (Buffer.byteLength(text) <= MAX_RECORD_BYTES) return { record, text };
  const shorter = recordOf(event, id, atMs, SHORT_TEXT);
  return { record: shorter, text: jsonText(shorter) };
}

/** @param maxText longest text in it, characters */
function recordOf(event: AuditEvent, id: string, atMs: number, maxText: number) {
  const { role, action, tenant, actor, address, requestId, result, status, details } = event;
  const bounded = (text: string) => boundedText(text, maxText);
  const boundedDetail = (value: AuditDetail) => {
    if (typeof value === "string") return bounded(value);
    if (typeof value === "object") return value.slice(0, MAX_LISTED).map(bounded);
    return value;
  };
  const source: "application" | "store" = role === "store" ? "store" : "application";
  const boundedActor: AuditActor | null = actor &&
    { name: bounded(actor.name), tenant: actor.tenant && bounded(actor.tenant.toLowerCase()) };
  const target: AuditTarget = { kind: event.target.kind, ...present({ ...event.target }, bounded) };
  return {
    v: RECORD_VERSION,
    /** `<trail>.<number>`; the numbers of a trail have no gaps. */
    id,
    /** ISO 8601 with milliseconds, UTC. */
    time: new Date(atMs).toISOString(),
    /** `store`: a client of the embedded store's own ports. */
    source,
    /** The part that handled the request; null: none did. */
    role,
    action,
    /** The tenant that it happened to, in lower case; null: none. */
    tenant: tenant === null ? null : bounded(tenant.toLowerCase()),
    actor: boundedActor,
    address,
    request_id: requestId,
    target,
    result,
    status,
    details: present(details ?? {}, boundedDetail),
  };
}

/** The members of an object that are not undefined, each as `map` returns it. */
function present<Value>(members: Readonly<Record<string, Value | undefined>>, map: (value: Value) => Value) {
  const found: Record<string, Value> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) found[name] = map(value);
  return found;
}

/** A text of at most so many characters, the last of which says that it was longer. */
function boundedText(text: string, maxText: number): string {
  const whole = isLonger(text, maxText) ? `${clip(text, maxText - 1)}…` : text;
  return whole.toWellFormed();
}

/** Control characters, separators of lines, and what turns the direction of a text. JSON escapes those below U+0020. */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A record as JSON on one line, which no character of a name can end or disguise. */
export function jsonText(record: object): string {
  return oneLine(JSON.stringify(record));
}

/** A text with escapes as those of JSON for what could end its line or disguise it. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The position that the first line of a trail follows: the number of a record, and the SHA-256 of its line. */
export const CHAIN_START = { number: 0, hash: "0".repeat(64) };
/** The position that the next record of a chain follows. */
export type ChainPosition = Readonly<typeof CHAIN_START>;

/** The end of a sealed line. */
const SEAL = /,"hash":"([0-9a-f]{64})"\}$/;

/**
 * Seals a JSON object: `hash` is added to it as its last member, the SHA-256 of the hash of the line before and the text
 * of the object without that member.
 *
 * @param text a JSON object with at least one member
 */
export function sealed(previous: string, text: string): { readonly line: string; readonly hash: string } {
  const digest = hash("sha256", previous + text, "hex");
  return { line: `${text.slice(0, -1)},"hash":"${digest}"}`, hash: digest };
}

/** The text that was sealed, and the hash in the line; null for what is no sealed line. */
export function opened(line: string): { readonly text: string; readonly hash: string } | null {
  const match = SEAL.exec(line);
  return match && { text: `${line.slice(0, match.index)}}`, hash: match[1] };
}

/** Whether a line follows the one with this hash, unchanged. */
export function follows(previous: string, { text, hash }: { readonly text: string; readonly hash: string }): boolean {
  return sealed(previous, text).hash === hash;
}

const HEADER = z.object({
  v: z.literal(1),
  trail: z.string().regex(/^[0-9a-f]{8}$/),
  day: z.iso.date(),
  after: z.int().min(0),
  prev: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The first line of a file: the trail, the day, and what the file follows. */
type ChainHeader = z.output<typeof HEADER>;

/** The header in the text of a line; null where it is none. */
export function headerOf(text: string): ChainHeader | null {
  return HEADER.safeParse(parsedJson(text)).data ?? null;
}

/** The header of a day's file as JSON. */
export function headerText(trail: string, day: string, { number, hash }: ChainPosition): string {
  const header: ChainHeader = { v: 1, trail, day, after: number, prev: hash };
  return JSON.stringify(header);
}

const ID = /^\{"v":\d+,"id":"([0-9a-f]{8})\.(\d{1,15})"/;

/** The trail and the number in the text of a record; null where there is none. */
export function idOf(text: string): { readonly trail: string; readonly number: number } | null {
  const match = ID.exec(text);
  return match && { trail: match[1], number: Number(match[2]) };
}

/** The folder of the trail in the data folder. */
export const AUDIT_FOLDER = "audit";
/** Folder in a backup for a trail from outside of the data folder. */
export const AUDIT_DIR_COPY = "audit_dir";

/** The name of a day's file. */
const DAY_FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/** How far the trail had got not long ago: records that are missing at its end are found by it. */
export const END_FILE = "end.json";
/** The same in the data folder, where there is no embedded store to note it. */
export const OUTSIDE_END_FILE = "audit_end.json";
/** The last day that was removed as too old. */
export const ANCHOR_FILE = "anchor.json";

const MARK = {
  v: z.literal(1),
  trail: z.string().regex(/^[0-9a-f]{8}$/),
  number: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
};
const END = z.object(MARK);
const ANCHOR = z.object({ ...MARK, day: z.iso.date() });

/** The last record that was written, or a little earlier one. */
export type ChainEnd = z.output<typeof END>;
/** The last record that was removed, and the day of its file. */
export type ChainAnchor = z.output<typeof ANCHOR>;

const OUTSIDE_END = z.object({ ...MARK, place: z.string() });
/** An end noted outside of the folder, with the place of its trail: {@link AUDIT_FOLDER}, or a separate folder. */
export type OutsideEnd = z.output<typeof OUTSIDE_END>;

/** Where the end of a trail is noted outside of its folder, so that a cut or a removal of the folder is found. */
export interface EndNote {
  /** Null: none, or that of a trail in another place. */
  read(): Promise<ChainEnd | null>;
  /** Resolves once it is durable. */
  write(end: ChainEnd): Promise<void>;
}

/** An end as such a note holds it; null for anything else. */
export function outsideEnd(value: unknown): OutsideEnd | null {
  return OUTSIDE_END.safeParse(value).data ?? null;
}

/** The days of which a folder has files, the oldest first. */
export function daysIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap(dayOfEntry).sort();
}

/** The days of which a folder has files, likewise, while the process goes on. */
export async function daysInAsync(folder: string): Promise<string[]> {
  const days: string[] = [];
  for await (const entry of Deno.readDir(folder)) days.push(...dayOfEntry(entry));
  return days.sort();
}

function dayOfEntry({ name, isFile }: Deno.DirEntry): string[] {
  const day = DAY_FILE.exec(name)?.[1];
  return isFile && day !== undefined ? [day] : [];
}

/** The file of a day. */
export const dayFile = (folder: string, day: string) => `${folder}/${day}.jsonl`;
/** The day of an instant (ms since 1970), UTC. */
export const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, "yyyy-mm-dd".length);

/** The end of a trail as its folder notes it; null: no note, `damaged`: one that cannot be read. */
export const readEnd = (folder: string) => read(`${folder}/${END_FILE}`, END);
/** The note of a folder about the days that were removed; likewise. */
export const readAnchor = (folder: string) => read(`${folder}/${ANCHOR_FILE}`, ANCHOR);

function read<Value>(path: string, schema: z.ZodType<Value>): Value | "damaged" | null {
  const text = textIfExists(path);
  if (text === null) return null;
  return schema.safeParse(parsedJson(text)).data ?? "damaged";
}

/** The bytes of a file from one place to another, as far as it has them. */
export async function readAt(file: Deno.FsFile, from: number, to: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.alloc(to - from);
  await file.seek(from, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
