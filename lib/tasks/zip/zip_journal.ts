import { Buffer } from "node:buffer";
import type { TaskStore } from "@/lib/tasks/task_store.ts";
import type { LeftOut } from "./zip_plan.ts";
import { z } from "zod";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** Within an entry, the CRC is stored after each so many bytes. */
export const CHECKPOINT_BYTES = 64 * 1024 * 1024;

const GENERATION = "generation";

type BlobStore = Pick<TaskStore, "readBlobs" | "writeBlobs">;

/** What leaving out an entry takes off an archive, and adds to its list of errors. */
interface LeftOutEntry {
  readonly reason: LeftOut;
  /** Length of the entry with its header and descriptor, bytes. */
  readonly bytes: number;
  /** Length of its record in the central directory, bytes. */
  readonly centralBytes: number;
  /** Length of its line in the list of errors, bytes. */
  readonly lineBytes: number;
}

const leftOutEntry: z.ZodType<LeftOutEntry> = z.object({
  reason: z.enum(["gone", "changed", "denied", "unreadable"]),
  bytes: z.int(),
  centralBytes: z.int(),
  lineBytes: z.int(),
});

/** `open`: not decided yet. `begun`: in the archive, its CRC is not known yet. */
type EntryState = "open" | "begun" | "sent" | "left out";

const STATES: readonly EntryState[] = ["open", "begun", "sent", "left out"];
const [OPEN, BEGUN, SENT, LEFT_OUT] = [0, 1, 2, 3];

/** The generation of an archive; null when none of it has been sent yet. */
export async function storedGeneration(store: BlobStore, task: string): Promise<number | null> {
  const [blob] = await store.readBlobs(task, [GENERATION]);
  const generation = blob ? Number(Buffer.from(blob).toString("latin1")) : NaN;
  return Number.isSafeInteger(generation) ? generation : null;
}

/** Stores the generation of an archive. */
export async function storeGeneration(store: BlobStore, task: string, generation: number): Promise<void> {
  await store.writeBlobs(task, new Map([[GENERATION, Buffer.from(String(generation), "latin1")]]));
}

/**
 * What is known of the entries of one generation of an archive: which are in it, with their CRC, and which are left out.
 * All downloads of a process share it; those of several processes add to the same blobs.
 *
 * An entry is stored as left out before the next byte is sent, so that all later downloads leave it out as well. CRCs are
 * stored a little later: one that is missing is computed again. So is the last entry that was begun: a client may have
 * its first bytes, so neither it nor an entry before it may be left out.
 */
export class ZipJournal {
  readonly generation: number;
  readonly #store: BlobStore;
  readonly #task: string;
  /** Number of the first entry of each chunk, and of all entries. */
  readonly #starts: readonly number[];
  readonly #states: Uint8Array;
  readonly #crcs: Uint32Array;
  readonly #leftOut = new Map<number, LeftOutEntry>();
  /** CRCs within long entries, by the number of the entry. */
  readonly #checkpoints = new Map<number, number[]>();
  readonly #unsaved = new Set<number>();
  /** Number of the last entry that was begun by any download, and the one that is stored; -1 for none. */
  #reached = -1;
  #storedReached = -1;
  #writing: Promise<void> = Promise.resolve();
  #isContradictory = false;

  /** @param entries of each chunk */
  constructor(store: BlobStore, task: string, generation: number, entries: readonly number[]) {
    this.#store = store;
    this.#task = task;
    this.generation = generation;
    const starts = [0];
    for (const count of entries) starts.push(starts[starts.length - 1] + count);
    this.#starts = starts;
    this.#states = new Uint8Array(starts[starts.length - 1]);
    this.#crcs = new Uint32Array(this.#states.length);
  }

  /** Entries that are left out, by their number. */
  get leftOut(): ReadonlyMap<number, LeftOutEntry> {
    return this.#leftOut;
  }

  /** Whether an entry was sent by one download and left out by another one at the same time. */
  get isContradictory(): boolean {
    return this.#isContradictory;
  }

  state(entry: number): EntryState {
    return STATES[this.#states[entry]];
  }

  /** The CRC of an entry that was sent. */
  crc(entry: number): number {
    return this.#crcs[entry];
  }

  /** Adds what is stored, by this process or by others. */
  async load(): Promise<void> {
    await this.#loadReached();
    for (let chunk = 0; chunk + 1 < this.#starts.length; chunk++) {
      const from = this.#starts[chunk];
      const count = this.#starts[chunk + 1] - from;
      const numbers = Array.from({ length: count }, (_, at) => from + at);
      const [sent, ...leftOut] = await this.#store.readBlobs(
        this.#task,
        [this.#sentName(chunk), ...numbers.map((entry) => this.#leftOutName(entry))],
      );
      if (sent) this.#addSent(from, count, sent);
      for (const [at, blob] of leftOut.entries()) if (blob) this.#addLeftOut(from + at, blob);
    }
  }

  /** Decides that an entry is in the archive. */
  begin(entry: number): void {
    if (this.#states[entry] === OPEN) this.#states[entry] = BEGUN;
    this.#reached = Math.max(this.#reached, entry);
  }

  /** Whether no client can have a byte of an entry, or one behind it: reads from the store what other processes sent. */
  async mayLeaveOut(entry: number): Promise<boolean> {
    await this.#loadReached();
    return this.#states[entry] === OPEN && entry > this.#reached;
  }

  /** Decides that an entry is left out, and stores it. */
  async leaveOut(entry: number, why: LeftOutEntry): Promise<void> {
    this.#states[entry] = LEFT_OUT;
    this.#leftOut.set(entry, why);
    await this.#store.writeBlobs(this.#task, new Map([[this.#leftOutName(entry), Buffer.from(JSON.stringify(why))]]));
  }

  /** The CRC of an entry whose last byte is sent. */
  sent(entry: number, crc: number): void {
    this.#states[entry] = SENT;
    this.#crcs[entry] = crc;
    this.#checkpoints.delete(entry);
    this.#unsaved.add(this.#chunkOf(entry));
  }

  /** CRCs of the first 64 MiB of an entry, of its first 128 MiB and so on. */
  async checkpoints(entry: number): Promise<readonly number[]> {
    const known = this.#checkpoints.get(entry);
    if (known) return known;
    const [blob] = await this.#store.readBlobs(this.#task, [this.#checkpointName(entry)]);
    const values = blob ? Buffer.from(blob) : Buffer.alloc(0);
    return Array.from({ length: values.length >> 2 }, (_, at) => values.readUInt32LE(at * 4));
  }

  /** Stores the next CRC within an entry. @param number how many checkpoints are before it */
  async checkpoint(entry: number, number: number, crc: number): Promise<void> {
    const known = [...await this.checkpoints(entry)];
    // Another download of this process may be ahead.
    if (known.length > number) return;
    known.push(crc);
    this.#checkpoints.set(entry, known);
    const values = Buffer.alloc(known.length * 4);
    for (const [at, value] of known.entries()) values.writeUInt32LE(value, at * 4);
    await this.#store.writeBlobs(this.#task, new Map([[this.#checkpointName(entry), values]]));
  }

  /** Stores the CRCs that are not stored yet, and the last entry that was begun. Calls take turns. */
  save(): Promise<void> {
    const write = () => this.#write();
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }

  async #write(): Promise<void> {
    const chunks = [...this.#unsaved];
    if (chunks.length === 0 && this.#reached <= this.#storedReached) return;
    this.#unsaved.clear();
    try {
      await this.#loadReached();
      const reached = this.#reached;
      const stored = await this.#store.readBlobs(this.#task, chunks.map((chunk) => this.#sentName(chunk)));
      const blobs = new Map<string, Uint8Array>();
      if (reached > this.#storedReached) blobs.set(this.#reachedName, Buffer.from(String(reached), "latin1"));
      for (const [at, chunk] of chunks.entries()) {
        const from = this.#starts[chunk];
        const count = this.#starts[chunk + 1] - from;
        // Another process may have stored some that this one does not know.
        const before = stored[at];
        if (before) this.#addSent(from, count, before);
        blobs.set(this.#sentName(chunk), this.#sentBlob(from, count));
      }
      if (blobs.size > 0) await this.#store.writeBlobs(this.#task, blobs);
      this.#storedReached = Math.max(this.#storedReached, reached);
    } catch (error) {
      for (const chunk of chunks) this.#unsaved.add(chunk);
      throw error;
    }
  }

  async #loadReached(): Promise<void> {
    const [blob] = await this.#store.readBlobs(this.#task, [this.#reachedName]);
    const stored = blob ? Number(Buffer.from(blob).toString("latin1")) : -1;
    if (!Number.isSafeInteger(stored)) return;
    this.#storedReached = Math.max(this.#storedReached, stored);
    this.#reached = Math.max(this.#reached, stored);
  }

  /** For each entry a byte, 1 when it was sent, then for each its CRC. */
  #sentBlob(from: number, count: number): Uint8Array {
    const blob = Buffer.alloc(count * 5);
    for (let at = 0; at < count; at++) {
      if (this.#states[from + at] !== SENT) continue;
      blob[at] = 1;
      blob.writeUInt32LE(this.#crcs[from + at], count + at * 4);
    }
    return blob;
  }

  #addSent(from: number, count: number, blob: Uint8Array): void {
    const values = Buffer.from(blob);
    if (values.length !== count * 5) return;
    for (let at = 0; at < count; at++) {
      if (values[at] !== 1) continue;
      const entry = from + at;
      if (this.#states[entry] === LEFT_OUT) this.#isContradictory = true;
      else if (this.#states[entry] !== SENT) {
        this.#states[entry] = SENT;
        this.#crcs[entry] = values.readUInt32LE(count + at * 4);
      }
    }
  }

  #addLeftOut(entry: number, blob: Uint8Array): void {
    const { data } = leftOutEntry.safeParse(parsedJson(Buffer.from(blob).toString("utf8")));
    if (!data || this.#states[entry] === LEFT_OUT) return;
    if (this.#states[entry] !== OPEN) {
      this.#isContradictory = true;
      return;
    }
    this.#states[entry] = LEFT_OUT;
    this.#leftOut.set(entry, data);
  }

  #chunkOf(entry: number): number {
    let chunk = 0;
    while (this.#starts[chunk + 1] <= entry) chunk++;
    return chunk;
  }

  get #reachedName(): string {
    return `begun/${this.generation}`;
  }

  #sentName(chunk: number): string {
    return `sent/${this.generation}/${chunk}`;
  }

  #leftOutName(entry: number): string {
    return `left/${this.generation}/${entry}`;
  }

  #checkpointName(entry: number): string {
    return `crc/${this.generation}/${entry}`;
  }
}
