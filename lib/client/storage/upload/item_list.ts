import { keyProblem } from "@/lib/presentation/storage/upload_names.ts";
import { MAX_OBJECT_BYTES } from "@/lib/presentation/storage/upload_plan.ts";
import type { UploadBatch, UploadItem, UploadState } from "./upload_item.ts";

/** Of files that need nothing more. */
const SETTLED: ReadonlySet<UploadState> = new Set<UploadState>(["done", "skipped", "cancelled"]);

/** Whether a file needs nothing more. */
export function isSettled({ state }: UploadItem): boolean {
  return SETTLED.has(state);
}

/** The files of a page with their states, how many there are of each, and their bytes. */
export class ItemList {
  readonly items: UploadItem[] = [];
  /** Bytes of all files that were not skipped or cancelled, and those that have left. */
  bytes = 0;
  sentBytes = 0;
  readonly #counts = new Map<UploadState, number>();

  count(state: UploadState): number {
    return this.#counts.get(state) ?? 0;
  }

  get isSettled(): boolean {
    return [...SETTLED].reduce((sum, state) => sum + this.count(state), 0) === this.items.length;
  }

  /** Files of a batch that are in a state. */
  of(batch: UploadBatch, state: UploadState): UploadItem[] {
    return this.items.filter((item) => item.batch === batch && item.state === state);
  }

  /** The batches of files that are in a state. */
  batchesOf(state: UploadState): ReadonlySet<UploadBatch> {
    return new Set(this.items.filter((item) => item.state === state).map(({ batch }) => batch));
  }

  /** Adds a file; one that cannot be sent has failed. */
  add(path: string, file: File, batch: UploadBatch): UploadItem {
    const key = batch.prefix + path;
    const problem = keyProblem(key);
    const { size, lastModified: modified } = file;
    const fault = size > MAX_OBJECT_BYTES ? "too large" : problem === "too long" ? "name too long" : problem;
    const item: UploadItem = {
      id: this.items.length === 0 ? 0 : this.items[this.items.length - 1].id + 1,
      path,
      file,
      size,
      modified,
      batch,
      key,
      isFree: false,
      state: fault === null ? "looking" : "failed",
      sent: 0,
      fault,
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
    if (fault === null) {
      batch.open++;
      batch.keys.add(key);
    }
    return item;
  }

  /**
   * Hands what has arrived of files that have failed or are paused over to the same files chosen again, and takes those
   * off the list.
   *
   * @returns the files that the page did not have
   */
  inherit(items: readonly UploadItem[]): UploadItem[] {
    const identity = ({ batch: { bucket, prefix }, key, size, modified }: UploadItem) =>
      JSON.stringify([bucket, prefix, key, size, modified]);
    const stopped = this.items.filter(({ state, fault }) =>
      state === "paused" || state === "failed" && typeof fault !== "string"
    );
    const before = new Map(stopped.map((item) => [identity(item), item]));
    if (before.size === 0) return [...items];
    const gone = new Set<UploadItem>();
    for (const item of items) {
      const old = before.get(identity(item));
      if (!old || gone.has(old)) continue;
      const { upload, earlier, mayBeWritten, isRecorded, sent } = old;
      Object.assign(item, { upload, earlier, mayBeWritten, isRecorded });
      this.set(old, "cancelled");
      this.#count("cancelled", -1);
      this.sentTo(item, sent);
      gone.add(old);
    }
    this.#retain((item) => !gone.has(item));
    return items.filter((item) => !before.has(identity(item)));
  }

  /** Takes files that need nothing more off the list. */
  clear(): void {
    for (const { state, size, sent } of this.items.filter(isSettled)) {
      this.#count(state, -1);
      if (state !== "done") continue;
      this.bytes -= size;
      this.sentBytes -= sent;
    }
    this.#retain((item) => !isSettled(item));
  }

  set(item: UploadItem, state: UploadState): void {
    this.#count(item.state, -1);
    this.#count(state, 1);
    item.state = state;
    // What cannot be sent was never counted as open.
    if (SETTLED.has(state) && typeof item.fault !== "string") item.batch.open--;
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

  #retain(isRetained: (item: UploadItem) => boolean): void {
    this.items.splice(0, this.items.length, ...this.items.filter(isRetained));
  }
}
