import type { Clock } from "@/lib/pages/browser/poller_client.ts";
import type { Connection } from "./retry_client.ts";
import { asFault, NEVER, type UploadCalls } from "./upload_calls_client.ts";
import type { ItemList, UploadItem } from "./upload_items_client.ts";
import type { BatchRecord, UploadFolder, UploadJournal, UploadRecord } from "./upload_journal_client.ts";

interface MemoryParts {
  readonly folder: UploadFolder;
  readonly list: ItemList;
  readonly calls: UploadCalls;
  readonly connection: Connection;
  readonly journal: UploadJournal;
  readonly clock: Clock;
  readonly onChange: () => void;
}

/** The records of this page's uploads in the journal: from the choice of files until none of them is open. */
export class UploadMemory {
  /** Keys that this page may have recorded. */
  readonly keys = new Set<string>();
  /** The upload of this page. */
  #record: BatchRecord | null = null;
  /** Changes of the journal under way that follow on the end of files. */
  #ending = 0;

  constructor(private readonly parts: MemoryParts) {}

  /** Whether the journal still has files that have ended: a page that is opened by then calls their upload interrupted. */
  get isEnding(): boolean {
    return this.#ending > 0;
  }

  /**
   * Records that files are to be uploaded.
   *
   * @param handles what can be read again after a reload
   */
  async begin(items: readonly UploadItem[], handles: readonly FileSystemHandle[]): Promise<void> {
    const { folder: { bucket, prefix }, clock, journal } = this.parts;
    for (const { key } of items) this.keys.add(key);
    const before = this.#record ?? await this.#interrupted();
    this.#record = {
      bucket,
      prefix,
      startedAt: before?.startedAt ?? clock.now(),
      files: (before?.files ?? 0) + items.length,
      bytes: (before?.bytes ?? 0) + items.reduce((sum, { size }) => sum + size, 0),
      handles: [...before?.handles ?? [], ...handles],
    };
    await journal.putBatch(this.#record);
  }

  /** Records a file that is sent whole, has arrived, or has an upload in parts. */
  async record(item: UploadItem, upload: UploadRecord | null): Promise<void> {
    const { key, size, modified } = item;
    const { folder: { bucket, prefix }, journal } = this.parts;
    item.isRecorded = upload === null;
    await journal.putFile({ bucket, key, prefix, size, modified, upload });
  }

  async forget(key: string): Promise<void> {
    const { folder: { bucket }, journal } = this.parts;
    await journal.forget({ bucket, key });
  }

  /** Forgets a file that is sent whole: the object that has its key is another one. */
  unrecord(item: UploadItem): void {
    if (item.isRecorded) void this.forget(item.key);
    item.isRecorded = item.isFree = false;
  }

  /** Forgets a file, and deletes the parts that the store has of it. */
  async discard(item: UploadItem): Promise<void> {
    const { calls, connection } = this.parts;
    const { key, isRecorded } = item;
    const upload = item.upload ?? item.earlier;
    item.upload = item.earlier = null;
    item.isRecorded = false;
    // Thousands of files may be cancelled that were never sent.
    if (upload || isRecorded) {
      // Parts that cannot be deleted stay in the list of unfinished uploads.
      await connection.retry(NEVER, async () => {
        if (upload) await calls.abort(key, upload.uploadId);
        await this.forget(key);
      }).catch(asFault);
    }
    await this.settled();
  }

  /** Records that a file has arrived, or forgets its upload where it was the last one. */
  async arrived(item: UploadItem): Promise<void> {
    await this.#toEnd(async () => {
      if (item.upload) await this.forget(item.key);
      if (!item.isRecorded) await this.record(item, null);
      await this.settled();
    });
  }

  /** Forgets what this page has sent once nothing is open. */
  async settled(): Promise<void> {
    const { folder: { bucket, prefix }, list, journal } = this.parts;
    if (list.open > 0) return;
    this.#record = null;
    const keys = new Set(this.keys);
    // Files that are cancelled together settle together: the first one has forgotten all of them.
    if (keys.size === 0) return;
    this.keys.clear();
    await this.#toEnd(() => journal.forgetBatch(bucket, prefix, keys));
  }

  /** An upload to the same folder that another page started, and of which these files are not all. */
  async #interrupted(): Promise<BatchRecord | undefined> {
    const { folder: { bucket, prefix }, journal } = this.parts;
    const files = await journal.files(bucket, prefix);
    if (files.every((file) => file.prefix !== prefix || this.keys.has(file.key))) return undefined;
    return (await journal.batches()).find((one) => one.bucket === bucket && one.prefix === prefix);
  }

  async #toEnd(change: () => Promise<void>): Promise<void> {
    this.#ending++;
    this.parts.onChange();
    await change().finally(() => this.#ending--);
    this.parts.onChange();
  }
}
