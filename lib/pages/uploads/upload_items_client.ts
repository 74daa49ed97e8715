import type { UploadRecord } from "./upload_journal_client.ts";
import { keyProblem } from "@/lib/pages/storage/key_names.ts";
import { type SentPart, UploadFault } from "./upload_calls_client.ts";

/** The states of a file. */
export type UploadState =
  /** Its name is looked up. */
  | "looking"
  | "waiting"
  | "sending"
  /** The store puts its parts together. */
  | "finishing"
  | "paused"
  /** An object has its name, and the answer is open. */
  | "taken"
  | "failed"
  | "done"
  | "skipped"
  | "cancelled";

/** The answers for files whose names are in use. */
export type NameAnswer = "replace" | "keep both" | "skip";

/** Files that were chosen together. */
export interface UploadBatch {
  /** The folder: "" or with a slash at its end. */
  readonly prefix: string;
  /** The answer for the first name in use, which holds for all. */
  answer: NameAnswer | null;
  /** Names that were found in use. */
  readonly taken: Set<string>;
}

/** An upload in parts under way. */
export interface UploadInParts extends UploadRecord {
  readonly plan: PartPlan;
  /** The parts that the store has. */
  readonly parts: Map<number, SentPart>;
}

/** A file on its way. The engine alone writes it. */
export interface UploadItem {
  readonly id: number;
  /** With the folders that were chosen, `scans/1.tif`. */
  readonly path: string;
  file: File;
  /** Bytes, and ms since 1970: the properties of a file make the browser look at the disk, each time. */
  readonly size: number;
  readonly modified: number;
  readonly batch: UploadBatch;
  key: string;
  /** Whether a listing has shown that no object has the key. */
  isFree: boolean;
  state: UploadState;
  /** Bytes that have left, those of parts under way included. */
  sent: number;
  /** Why it failed, else null. */
  fault: UploadFault | null;
  /** The store had it before, by an upload that the journal records. */
  wasThere: boolean;
  /** Whether it is sent on condition that no object has its name. */
  ifAbsent: boolean;
  /** An upload of the same file that an earlier page started. */
  earlier: UploadRecord | null;
  upload: UploadInParts | null;
  /** Parts to be sent, and the bytes of those under way. */
  pending: number[];
  readonly flight: Map<number, number>;
  /** Uploads that were ended elsewhere. */
  restarts: number;
  /** Whether the journal has it as a whole file: its key was free and its request was sent. */
  isRecorded: boolean;
  /** Whether a request whose response was lost may have written the object. */
  mayBeWritten: boolean;
  /** Ends its requests; null while it has none. */
  control: AbortController | null;
}

/** States of files that need nothing more. */
const SETTLED: ReadonlySet<UploadState> = new Set<UploadState>(["done", "skipped", "cancelled"]);

export function isSettled({ state }: UploadItem): boolean {
  return SETTLED.has(state);
}

/** The files of a page with their states, how many there are of each, their bytes, and the queue of those that wait. */
export class ItemList {
  readonly items: UploadItem[] = [];
  /** Files that can be sent and are not done, skipped or cancelled. */
  open = 0;
  /** Bytes of all files that were not skipped or cancelled, and those that have left. */
  bytes = 0;
  sentBytes = 0;
  readonly #counts = new Map<UploadState, number>();
  /** In order, with files that no longer wait; those before `#taken` have had their turn. */
  #queue: UploadItem[] = [];
  #taken = 0;

  count(state: UploadState): number {
    return this.#counts.get(state) ?? 0;
  }

  /** Files of a batch that are in a state. */
  of(batch: UploadBatch, state: UploadState): UploadItem[] {
    return this.items.filter((item) => item.batch === batch && item.state === state);
  }

  /** The batches of files that are in a state. */
  batchesOf(state: UploadState): ReadonlySet<UploadBatch> {
    return new Set(this.items.filter((item) => item.state === state).map(({ batch }) => batch));
  }

  /** Lets a file wait for its turn. */
  enqueue(item: UploadItem): void {
    this.set(item, "waiting");
    this.#queue.push(item);
  }

  /** Puts a file at the head of the queue, in the place of one that has had its turn. */
  enqueueFirst(item: UploadItem): void {
    this.set(item, "waiting");
    if (this.#taken > 0) this.#queue[--this.#taken] = item;
    else this.#queue.unshift(item);
  }

  /** The file whose turn it is; null where none waits. */
  next(): UploadItem | null {
    while (this.#taken < this.#queue.length) {
      const item = this.#queue[this.#taken++];
      if (item.state === "waiting") return item;
    }
    this.clearQueue();
    return null;
  }

  clearQueue(): void {
    this.#queue = [];
    this.#taken = 0;
  }

  /** Adds a file; one that cannot be sent has failed. */
  add(path: string, file: File, batch: UploadBatch): UploadItem {
    const key = batch.prefix + path;
    const problem = keyProblem(key);
    const { size, lastModified: modified } = file;
    const kind = size > MAX_OBJECT_BYTES ? "too large" : problem === "too long" ? "name too long" : problem;
    const item: UploadItem = {
      id: this.items.length === 0 ? 0 : this.items[this.items.length - 1].id + 1,
      path,
      file,
      size,
      modified,
      batch,
      key,
      isFree: false,
      state: kind === null ? "looking" : "failed",
      sent: 0,
      fault: kind && new UploadFault(kind),
      wasThere: false,
      ifAbsent: true,
      earlier: null,
      upload: null,
      pending: [],
      flight: new Map(),
      restarts: 0,
      isRecorded: false,
      mayBeWritten: false,
      control: null,
    };
    this.items.push(item);
    this.#count(item.state, 1);
    this.bytes += size;
    if (kind === null) this.open++;
    return item;
  }

  /** Takes files that need nothing more off the list. */
  clear(): void {
    for (const { state, size, sent } of this.items.filter(isSettled)) {
      this.#count(state, -1);
      if (state !== "done") continue;
      this.bytes -= size;
      this.sentBytes -= sent;
    }
    this.items.splice(0, this.items.length, ...this.items.filter((item) => !isSettled(item)));
  }

  set(item: UploadItem, state: UploadState): void {
    this.#count(item.state, -1);
    this.#count(state, 1);
    item.state = state;
    // A file that cannot be sent was never counted as open.
    if (SETTLED.has(state) && !item.fault?.isFinal) this.open--;
    if (state !== "skipped" && state !== "cancelled") return;
    this.bytes -= item.size;
    this.sentTo(item, 0);
  }

  /** Notes how many bytes of a file have left. */
  sentTo(item: UploadItem, sent: number): void {
    this.sentBytes += sent - item.sent;
    item.sent = sent;
  }

  #count(state: UploadState, change: 1 | -1): void {
    this.#counts.set(state, this.count(state) + change);
  }
}

const MIB = 1024 * 1024;

/** Longest file that is sent by one PUT, bytes. */
export const SINGLE_PUT_BYTES = 8 * MIB;
/** Longest object (S3 API), bytes. */
export const MAX_OBJECT_BYTES = 5 * 1024 ** 4;
/** Longest part that is hashed, bytes: Web Crypto digests no streams, so the part is in memory for that time. */
export const MAX_HASHED_BYTES = 64 * MIB;
/** Most parts of an upload (S3 API). */
const MAX_PARTS = 10_000;
/** Length of the parts of most files, bytes: what is sent again after a lost connection, and hashed in memory. */
const PART_BYTES = 16 * MIB;

/** How a file is cut. */
interface PartPlan {
  readonly fileBytes: number;
  /** The length of every part but the last. */
  readonly partBytes: number;
  readonly parts: number;
}

/** Bytes of a file, the end excluded. */
interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** How a file above {@linkcode SINGLE_PUT_BYTES} is cut into parts of whole MiB. */
export function planParts(fileBytes: number): PartPlan {
  const partBytes = Math.max(PART_BYTES, Math.ceil(fileBytes / MAX_PARTS / MIB) * MIB);
  return { fileBytes, partBytes, parts: Math.ceil(fileBytes / partBytes) };
}

/** The bytes of a part. @param number from 1 on */
export function partSpan({ fileBytes, partBytes }: PartPlan, number: number): ByteSpan {
  return { start: (number - 1) * partBytes, end: Math.min(fileBytes, number * partBytes) };
}
