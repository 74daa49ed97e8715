import { EntryRead, memoryOf, type ObjectSource } from "./entry_read.ts";
import type { PlannedEntry } from "./zip_plan.ts";

/** Reads of the store at a time for one archive. */
const MAX_READS = 20;
/** Most memory for what is read ahead: of one archive, and of all of this process, bytes. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ALL_BYTES = 128 * 1024 * 1024;
/** Most entries that are read ahead. */
const MAX_ENTRIES = 200;

let allBytes = 0;

/** What is read of an entry. */
export interface EntryPart {
  readonly entry: PlannedEntry;
  /** First byte that is read. */
  readonly from: number;
  /** The CRC of the bytes before it; null where it is unknown. */
  readonly crc: number | null;
  /** Whether there is anything to read. */
  readonly isRead: boolean;
}

/** An entry of an archive in its turn. */
export interface EntryTurn extends EntryPart {
  /** Null where there is nothing to read. */
  readonly read: EntryRead | null;
}

type HeldTurn = EntryTurn & { readonly memory: number };

interface ReadAheadOptions {
  readonly source: ObjectSource;
  readonly parts: AsyncGenerator<EntryPart>;
  /** How many bytes are wanted still: what lies behind them is not read ahead. */
  readonly wanted: () => number;
}

/** Reads the entries of an archive ahead of their turns, within bounds of memory and of requests at a time. */
export class ReadAhead {
  readonly #source: ObjectSource;
  readonly #parts: AsyncGenerator<EntryPart>;
  readonly #wanted: () => number;
  readonly #turns: HeldTurn[] = [];
  #current: HeldTurn | null = null;
  #next: EntryPart | null = null;
  #reads = 0;
  #bytes = 0;
  #queuedBytes = 0;
  #isFilling = false;
  #isOver = false;
  #failure: { readonly error: unknown } | null = null;
  #wake = () => {};

  constructor({ source, parts, wanted }: ReadAheadOptions) {
    this.#source = source;
    this.#parts = parts;
    this.#wanted = wanted;
  }

  /** The next entry; null behind the last. The one before is released. @throws what the parts throw */
  async next(): Promise<EntryTurn | null> {
    this.#release(this.#current);
    this.#current = null;
    this.#fill();
    while (this.#turns.length === 0 && !this.#isOver) await new Promise<void>((resolve) => this.#wake = resolve);
    if (this.#failure) throw this.#failure.error;
    this.#current = this.#turns.shift() ?? null;
    if (this.#current) this.#queuedBytes -= this.#current.entry.size;
    this.#fill();
    return this.#current;
  }

  /** Whether {@link next} need not wait. */
  get isReady(): boolean {
    return this.#turns.length > 0 || this.#isOver;
  }

  /** Ends all reads. */
  cancel(): void {
    this.#isOver = true;
    this.#release(this.#current);
    this.#current = null;
    for (const turn of this.#turns.splice(0)) this.#release(turn);
    this.#parts.return(undefined).catch(() => {});
    this.#wake();
  }

  #fill(): void {
    if (this.#isFilling || this.#isOver) return;
    this.#isFilling = true;
    this.#fillAll().catch((error) => {
      this.#failure = { error };
      this.#isOver = true;
    }).finally(() => {
      this.#isFilling = false;
      this.#wake();
    });
  }

  async #fillAll(): Promise<void> {
    while (!this.#isOver) {
      if (!this.#next) {
        const { value, done } = await this.#parts.next();
        if (this.#isOver) return;
        if (done) {
          this.#isOver = true;
          return;
        }
        this.#next = value;
      }
      const part = this.#next;
      const memory = part.isRead ? memoryOf(part.entry) : 0;
      if (!this.#hasRoom(memory)) return;
      this.#next = null;
      this.#take(memory);
      this.#queuedBytes += part.entry.size;
      this.#turns.push({ ...part, read: part.isRead ? this.#begin(part) : null, memory });
      this.#wake();
    }
  }

  #begin({ entry, from }: EntryPart): EntryRead {
    this.#reads++;
    return new EntryRead(this.#source, entry, from, () => {
      this.#reads--;
      this.#fill();
    });
  }

  /** The next entry always has room, so that no archive waits for another one. */
  #hasRoom(memory: number): boolean {
    if (this.#turns.length === 0 && this.#current === null) return true;
    return this.#reads < MAX_READS && this.#turns.length < MAX_ENTRIES && this.#bytes + memory <= MAX_BYTES &&
      allBytes + memory <= MAX_ALL_BYTES && this.#queuedBytes < this.#wanted();
  }

  #take(memory: number): void {
    this.#bytes += memory;
    allBytes += memory;
  }

  #release(turn: HeldTurn | null): void {
    if (!turn) return;
    turn.read?.cancel();
    this.#bytes -= turn.memory;
    allBytes -= turn.memory;
  }
}
