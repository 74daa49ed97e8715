import { HttpError } from "@/lib/http/errors.ts";
import type { AuditEvent, AuditRecorder } from "@/lib/http/audit_event.ts";
import { deadline } from "@/lib/std/deadline.ts";
import { endsWithin } from "@/lib/std/ends_within.ts";
import { auditRecord } from "./audit_record.ts";
import { type ChainPosition, sealed } from "./chain.ts";
import { DurableOutlet } from "./durable_outlet.ts";
import { charactersOf, type DurableSink, type SealedRecord } from "./sink.ts";

/**
 * Records that wait in memory for each disk that takes none, and their lines, characters; further ones are lost. Usual
 * ones take 5 MB. The worst, of long keys outside of Latin-1, take two bytes a character in the line, and as many again
 * in the record beside it: 64 MiB for each of the disks, and for what waits to be passed to them.
 */
const MAX_RECORDS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Records that are sealed and written at once. */
const MAX_BATCH = 1000;
/** How long a change waits for a disk, ms: a network share that is gone may never say so. */
const WAIT_MS = 10_000;
/** How long a change waits once the process stops, ms: its request is to be answered before it is cut. */
const HURRY_MS = 1500;
/** How long a stop waits for all sinks at most, ms. */
const CLOSE_MS = 2000;
/** How much of that it waits before it passes what waits to both of them. */
const DISKS_SHARE = 0.5;

const NO_ROOM = "Changes cannot be recorded in the audit trail, and are refused until they can";
const NOT_RECORDED = "The change was made, but it could not be recorded in the audit trail";

interface AuditTrailOptions {
  /** Which trail it is: eight hexadecimal digits. */
  readonly trail: string;
  /** What its first record follows. */
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

/** What became of the records of one sink since the start. */
interface SinkFigures {
  readonly written: number;
  readonly lost: number;
  /** In memory, for a sink that takes none at the moment. */
  readonly waiting: number;
}

/** A change that waits for its record to be on the disks. */
interface WaitingChange {
  readonly record: SealedRecord;
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
  readonly #options: AuditTrailOptions;
  readonly #chain: DurableOutlet | null;
  readonly #file: DurableOutlet | null;
  #end: ChainPosition;
  #waiting: WaitingChange[] = [];
  #characters = 0;
  #running: Promise<void> | null = null;
  /** Changes whose records were passed to the disks, which have not all said what became of them. */
  readonly #unsettled = new Set<WaitingChange>();
  /** What settles them. */
  readonly #settling = new Set<Promise<void>>();
  #isHurried = false;
  #isClosed = false;
  /** Events that no sink got. */
  #lost = 0;
  /** How many of them a record tells of, and of those that a disk alone did not get, by its name. */
  readonly #told = new Map<string | undefined, number>();

  constructor(options: AuditTrailOptions) {
    this.#options = options;
    this.#end = options.end;
    const { chain, file, warn, waitMs = WAIT_MS } = options;
    const shared = { waitMs, warn, onRecovery: () => this.#tellOfGaps() };
    // What the chain has no room for is not sealed at all.
    this.#chain = chain && new DurableOutlet(chain, { ...shared, maxRecords: Infinity, maxCharacters: Infinity });
    this.#file = file && new DurableOutlet(file, { ...shared, maxRecords: MAX_RECORDS, maxCharacters: MAX_CHARACTERS });
  }

  get #durable(): DurableOutlet[] {
    return [this.#chain, this.#file].filter((outlet) => outlet !== null);
  }

  /** What each sink has taken and lost. */
  get figures(): ReadonlyMap<string, SinkFigures> {
    const lost = this.#lost;
    return new Map(this.#durable.map(({ sink, written, waiting, lost: own }) => {
      return [sink.name, { written, lost: lost + own, waiting }];
    }));
  }

  requireRoom(): void {
    if (this.#options.isRequired && this.#durable.some(({ isFailing }) => isFailing)) throw new HttpError(507, NO_ROOM);
  }

  record(event: AuditEvent): Promise<void> {
    if (this.#isClosed || this.#isFull) {
      this.#lost++;
      if (this.#isClosed) this.#warnOfLost(1);
      return this.#options.isRequired ? Promise.reject(new HttpError(507, NOT_RECORDED)) : Promise.resolve();
    }
    let record: SealedRecord;
    try {
      record = this.#sealed(event);
    } catch (error) {
      // A fault of ours, which costs no other event its record.
      this.#lost++;
      return Promise.reject(error);
    }
    return new Promise((done, failed) => {
      const change = { record, done, failed };
      this.#waiting.push(change);
      if (this.#isHurried) this.#settleSoon([change]);
      this.#characters += record.line.length;
      this.#running ??= this.#run();
    });
  }

  /** From now on no change waits for a disk longer than {@link HURRY_MS}: the process is about to stop. */
  hurry(): void {
    this.#isHurried = true;
    this.#settleSoon([...this.#unsettled, ...this.#waiting]);
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
    const closeMs = Math.min(ms, CLOSE_MS);
    const closeBy = performance.now() + closeMs;
    if (this.#running) await endsWithin(DISKS_SHARE * closeMs, this.#running);
    this.#isClosed = true;
    // A disk that hangs keeps none of this from the other, and all of it is named below.
    const rest = this.#taken(this.#waiting.length);
    const records = rest.map(({ record }) => record);
    this.#settleOnce(rest, this.#durable.map((outlet) => outlet.add(records)));
    const leftMs = () => Math.max(0, closeBy - performance.now());
    await Promise.all(this.#durable.map((outlet) => outlet.close(leftMs())));
    // What has ended by now is settled at once; what hangs is not on a disk.
    await endsWithin(leftMs(), Promise.all(this.#settling));
    this.#settle([...this.#unsettled], this.#firstMissing);
    for (const { sink: { name }, waiting, lost } of this.#durable) {
      // No later record will count those that a disk dropped since the last one that did.
      const count = waiting + lost - this.#toldOf(name);
      if (count > 0) this.#options.warn(`The audit trail: ${count} records were not delivered to ${name}`);
    }
    const lost = this.#lost - this.#toldOf(undefined);
    if (lost > 0) this.#warnOfLost(lost);
  }

  #warnOfLost(count: number): void {
    this.#options.warn(`The audit trail: ${count} changes have no record`);
  }

  get #isFull(): boolean {
    const { waiting, characters } = this.#chain ?? { waiting: 0, characters: 0 };
    return Math.max(this.#waiting.length, waiting) >= MAX_RECORDS ||
      Math.max(this.#characters, characters) >= MAX_CHARACTERS;
  }

  /** Takes so many of those that wait. */
  #taken(count: number): WaitingChange[] {
    const taken = this.#waiting.splice(0, count);
    this.#characters -= charactersOf(taken.map(({ record }) => record));
    return taken;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#pass(this.#taken(MAX_BATCH));
        if (this.#waiting.length === 0) this.#tellOfGaps();
      }
    } finally {
      this.#running = null;
    }
  }

  async #pass(passed: readonly WaitingChange[]): Promise<void> {
    const records = passed.map(({ record }) => record);
    const added = this.#durable.map((outlet) => outlet.add(records));
    this.#settleOnce(passed, added);
    // The next batch does not wait for the file, which may hang while the chain is well.
    if (this.#chain) await added[0];
  }

  /** Settles changes once each disk has said from which number on it has none of their records. */
  #settleOnce(passed: readonly WaitingChange[], added: readonly Promise<number>[]): void {
    for (const change of passed) this.#unsettled.add(change);
    const settling = Promise.all(added).then((missing) => {
      this.#settling.delete(settling);
      this.#settle(passed, Math.min(...missing));
    });
    this.#settling.add(settling);
  }

  /** Settles what does not end by itself. */
  #settleSoon(changes: readonly WaitingChange[]): void {
    deadline(HURRY_MS, () => this.#settle(changes, this.#firstMissing));
  }

  /** The number of the first record that a disk has not got. */
  get #firstMissing(): number {
    const passed = this.#durable.map(({ firstWaiting }) => firstWaiting);
    return Math.min(...passed, this.#waiting[0]?.record.number ?? Infinity);
  }

  /** Ends the waiting for changes; a disk has not got the record of this number and those after it. */
  #settle(passed: readonly WaitingChange[], missing: number): void {
    for (const change of passed) {
      const { record, done, failed } = change;
      this.#unsettled.delete(change);
      if (record.number < missing || !this.#options.isRequired) done();
      else failed(new HttpError(507, NOT_RECORDED));
    }
  }

  /** The next record. @throws where an event cannot be made one; then its number is that of the next event */
  #sealed(event: AuditEvent): SealedRecord {
    const atMs = this.#options.now();
    const number = this.#end.number + 1;
    const { record, text } = auditRecord(event, `${this.#options.trail}.${number}`, atMs);
    const { line, hash } = sealed(this.#end.hash, text);
    this.#end = { number, hash };
    return { record, number, atMs, line, hash };
  }

  /** Records how many events had no record, and how many records a disk dropped, once it takes them again. */
  #tellOfGaps(): void {
    if (this.#isFull || this.#isClosed) return;
    const main = this.#chain ?? this.#file;
    if (!main?.isFailing) this.#tellOfGap(undefined, this.#lost);
    for (const { sink: { name }, isFailing, isFull, lost } of this.#durable) {
      // A full one would drop this record as well, which would be told again.
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
