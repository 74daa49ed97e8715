import type { Clock } from "@/lib/pages/browser/poller_client.ts";
import type { UploadCalls } from "./upload_calls_client.ts";
import { nameOf, type UploadBatch, type UploadItem } from "./upload_items_client.ts";
import type { BatchRecord, UploadJournal } from "./upload_journal_client.ts";

interface MemoryParts {
  readonly calls: Pick<UploadCalls, "abort">;
  readonly journal: UploadJournal;
  readonly clock: Clock;
  readonly onChange: () => void;
}

/** The records of this page's uploads in the journal: from the choice of files until nothing of them is open. */
export class UploadMemory {
  readonly #parts: MemoryParts;
  readonly #batches: UploadBatch[] = [];
  /** Uploads that this page has begun, by bucket and folder. */
  readonly #begun = new Map<string, BatchRecord>();
  /** Changes of the journal that follow on the end of files, under way. */
  #ending = 0;

  constructor(parts: MemoryParts) {
    this.#parts = parts;
  }

  /** Whether the journal still has files that have ended: a page that is opened by then calls their upload interrupted. */
  get isEnding(): boolean {
    return this.#ending > 0;
  }

  /**
   * Remembers that files are to go to a folder.
   *
   * @param handles what can be read again after a reload
   */
  async begin(
    batch: UploadBatch,
    items: readonly UploadItem[],
    handles: readonly FileSystemHandle[],
  ): Promise<void> {
    const { bucket, prefix } = batch;
    this.#batches.push(batch);
    const before = this.#begun.get(folderOf(batch)) ?? await this.#interrupted(batch);
    const record: BatchRecord = {
      bucket,
      prefix,
      startedAt: before?.startedAt ?? this.#parts.clock.now(),
      files: (before?.files ?? 0) + items.length,
      bytes: (before?.bytes ?? 0) + items.reduce((sum, { size }) => sum + size, 0),
      handles: [...before?.handles ?? [], ...handles],
    };
    this.#begun.set(folderOf(batch), record);
    await this.#parts.journal.putBatch(record);
  }

  /** Remembers a file that is sent whole, or has arrived. */
  async record(item: UploadItem): Promise<void> {
    const { size, modified, batch: { prefix } } = item;
    item.isRecorded = true;
    await this.#parts.journal.putFile({ ...nameOf(item), prefix, size, modified, upload: null });
  }

  /** Forgets a file that is sent whole: the object that has its key is another one. */
  unrecord(item: UploadItem): void {
    if (item.isRecorded) void this.#parts.journal.forget(nameOf(item));
    item.isRecorded = item.isFree = false;
  }

  /**
   * Takes its upload in parts away from a file, which then begins anew.
   *
   * @returns deletes the parts in the store and forgets the file; null where there is nothing to delete or forget
   */
  discard(item: UploadItem): ((signal: AbortSignal) => Promise<void>) | null {
    const { calls, journal } = this.#parts;
    const upload = item.upload ?? item.earlier;
    // Thousands of files may be cancelled that were never begun.
    if (!upload && !item.isRecorded) return null;
    const name = nameOf(item);
    item.upload = item.earlier = null;
    item.isRecorded = false;
    return async (signal) => {
      if (upload) await calls.abort(name, upload.uploadId, signal);
      await journal.forget(name);
    };
  }

  /** Remembers that a file has arrived, or forgets its upload where it was the last one. */
  async arrived(item: UploadItem): Promise<void> {
    await this.#toEnd(async () => {
      if (item.upload) await this.#parts.journal.forget(nameOf(item));
      if (!item.isRecorded) await this.record(item);
      await this.settled(item.batch);
    });
  }

  /** Forgets what this page has sent to a folder once nothing is open there. */
  async settled({ bucket, prefix }: UploadBatch): Promise<void> {
    const all = this.#batches.filter((batch) => batch.bucket === bucket && batch.prefix === prefix);
    if (all.some(({ open }) => open > 0)) return;
    this.#begun.delete(folderOf({ bucket, prefix }));
    const keys = new Set(all.flatMap((batch) => [...batch.keys]));
    // Files that are cancelled together settle together: the first one has forgotten all of them.
    if (keys.size === 0) return;
    for (const batch of all) batch.keys.clear();
    await this.#toEnd(() => this.#parts.journal.forgetBatch(bucket, prefix, keys));
  }

  /** An upload to the same folder that another page began, and of which these files are not all. */
  async #interrupted({ bucket, prefix, keys }: UploadBatch): Promise<BatchRecord | undefined> {
    const { journal } = this.#parts;
    const files = await journal.files(bucket, prefix);
    if (files.every((file) => file.prefix !== prefix || keys.has(file.key))) return undefined;
    return (await journal.batches()).find((one) => one.bucket === bucket && one.prefix === prefix);
  }

  async #toEnd(change: () => Promise<void>): Promise<void> {
    this.#ending++;
    this.#parts.onChange();
    await change().finally(() => this.#ending--);
    this.#parts.onChange();
  }
}

function folderOf({ bucket, prefix }: Pick<UploadBatch, "bucket" | "prefix">): string {
  return `${bucket}/${prefix}`;
}
