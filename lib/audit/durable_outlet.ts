import { endsWithin } from "@/lib/std/ends_within.ts";
import { errorReason } from "@/lib/std/error_reason.ts";
import { charactersOf, type DurableSink, type SealedRecord } from "./sink.ts";

/** How long after a failure the next try is, ms. */
const RETRY_MS = 1000;
/** Characters of lines that are written at once: 3 MiB in UTF-8 at most, less than what an open looks at. No record has as many. */
const MAX_BATCH_CHARACTERS = 1024 * 1024;

interface OutletOptions {
  /** Records that wait while the sink fails, and their lines, characters; further records are dropped. */
  readonly maxRecords: number;
  readonly maxCharacters: number;
  /** How long a write is waited for, ms; then the sink fails until that write has ended. */
  readonly waitMs: number;
  /** Receives lines for the operator. */
  readonly warn: (line: string) => void;
  /** Called when the sink takes records again. */
  readonly onRecovery: () => void;
}

/** A sink on a disk with the records that it has not taken yet. */
export class DurableOutlet {
  readonly sink: DurableSink;
  readonly #options: OutletOptions;
  #waiting: SealedRecord[] = [];
  #characters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | null = null;
  /** What the sink has been told to write and has not ended yet: there is never a second one beside it. */
  #append: { readonly batch: readonly SealedRecord[]; readonly done: Promise<void> } | null = null;
  #isFailing = false;
  #isClosed = false;
  #written = 0;
  #lost = 0;
  constructor(sink: DurableSink, options: OutletOptions) {
    this.sink = sink;
    this.#options = options;
  }

  /** Whether the last try failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The number of the first record that waits; infinite: none does. */
  get firstWaiting(): number {
    return this.#waiting[0]?.number ?? Infinity;
  }

  /** Of the lines that wait. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether the next record would be dropped. */
  get isFull(): boolean {
    const { maxRecords, maxCharacters } = this.#options;
    return this.#waiting.length >= maxRecords || this.#characters >= maxCharacters;
  }

  /** Records that the sink has taken since the start. */
  get written(): number {
    return this.#written;
  }

  /** Records that were dropped since the start. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Takes records, as far as there is room. They are written now, or where the sink fails, by a later try. Never throws.
   *
   * @returns the number of the first record that the sink has not got
   */
  async add(records: readonly SealedRecord[]): Promise<number> {
    let kept = 0;
    for (; kept < records.length && !this.isFull; kept++) {
      this.#waiting.push(records[kept]);
      this.#characters += records[kept].line.length;
    }
    this.#lost += records.length - kept;
    const last = records[kept - 1]?.number ?? -Infinity;
    // Not for all that waits: under load there is always more.
    while (!this.#isFailing && this.firstWaiting <= last) await this.#write();
    return Math.min(this.firstWaiting, records[kept]?.number ?? Infinity);
  }

  /** The last try, and the end of the sink, of so many ms at most. What is slower goes on without being waited for. */
  async close(ms: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await endsWithin(ms, this.#end());
  }

  /** A sink that still writes is not closed, since that may never end either. */
  async #end(): Promise<void> {
    await this.#drain();
    if (this.#append === null) await this.sink.close();
  }

  /** Tries what waits, until the sink fails. */
  async #drain(): Promise<void> {
    do await this.#write(); while (!this.#isFailing && this.#waiting.length > 0);
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
    const { waitMs } = this.#options;
    const { batch, done } = this.#append ??= this.#begin();
    if (!(await endsWithin(waitMs, done))) throw new Error(`a write has not ended for ${waitMs / 1000} s`);
    this.#append = null;
    await done;
    this.#waiting = this.#waiting.slice(batch.length);
    this.#characters -= charactersOf(batch);
    this.#written += batch.length;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.warn(`The audit trail is written to ${this.sink.name} again`);
    this.#options.onRecovery();
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
    if (!this.#isFailing) {
      this.#options.warn(
        `The audit trail cannot be written to ${this.sink.name} (${errorReason(error)}): records wait in memory`,
      );
    }
    this.#isFailing = true;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#drain(), RETRY_MS);
  }
}
