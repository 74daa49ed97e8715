import { justBefore } from "@/lib/pages/storage/folder_listing.ts";
import { compareKeys } from "@/lib/pages/storage/key_names.ts";
import { freeKey } from "@/lib/std/text.ts";
import type { Connection } from "./retry_client.ts";
import { asFault, NEVER, type UploadCalls, UploadFault } from "./upload_calls_client.ts";
import type { ItemList, NameAnswer, UploadBatch, UploadItem } from "./upload_items_client.ts";
import type { FileRecord, UploadFolder, UploadJournal } from "./upload_journal_client.ts";
import type { UploadMemory } from "./upload_memory_client.ts";

/**
 * The keys that objects have by now, with their sizes in bytes. The listing is read beside the sorted keys: a page answers
 * for all keys within it, and the next one starts before the first key beyond. So there are never more pages than keys, and
 * one for a folder that is new.
 *
 * @throws UploadFault
 */
export async function findTaken(
  calls: Pick<UploadCalls, "listObjects">,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const taken = new Map<string, number>();
  const sorted = [...new Set(keys)].sort(compareKeys);
  if (sorted.length === 0) return taken;
  const prefix = commonStart(sorted[0], sorted[sorted.length - 1]);
  const sought = new Set(sorted);
  let after: string | undefined;
  for (let index = 0; index < sorted.length;) {
    const { objects, is_truncated } = await calls.listObjects(prefix, after);
    for (const { Key, Size } of objects) if (sought.has(Key)) taken.set(Key, Size);
    const end: string | undefined = objects[objects.length - 1]?.Key;
    if (!is_truncated || end === undefined) break;
    while (index < sorted.length && compareKeys(sorted[index], end) <= 0) index++;
    if (index === sorted.length) break;
    const next = justBefore(sorted[index]);
    after = compareKeys(end, next) > 0 ? end : next;
  }
  return taken;
}

function commonStart(first: string, last: string): string {
  let length = 0;
  while (length < first.length && first[length] === last[length]) length++;
  const start = first.slice(0, length);
  // Half a character is no prefix.
  return start.isWellFormed() ? start : start.slice(0, -1);
}

interface NameParts {
  readonly folder: UploadFolder;
  readonly list: ItemList;
  readonly memory: UploadMemory;
  readonly connection: Connection;
  readonly calls: UploadCalls;
  readonly journal: UploadJournal;
  /** Takes an upload in parts for this page until it is left; false where a page has it already. */
  readonly claim: (uploadId: string) => Promise<boolean>;
  /** Stops everything. */
  readonly halt: (fault: UploadFault) => void;
  /** Files have another state. */
  readonly onChange: () => void;
}

/** Looks up which names are in use before their files are sent, and applies the reader's answer to those. */
export class NamesInUse {
  constructor(private readonly parts: NameParts) {}

  /** Finds out which names of a batch are in use, and enqueues the other files. */
  async lookUp(batch: UploadBatch): Promise<void> {
    const { folder: { bucket, prefix }, list, memory, connection, calls, journal, claim, halt, onChange } = this.parts;
    const items = list.of(batch, "looking");
    const keys = items.map(({ key }) => key);
    let records = new Map<string, FileRecord>();
    /** Null where the login may write and not list. Nothing is overwritten even so if the store knows the condition. */
    let taken: Map<string, number> | null = null;
    try {
      records = new Map((await journal.files(bucket, prefix)).map((record) => [record.key, record]));
      taken = await connection.retry(NEVER, () => findTaken(calls, keys));
    } catch (error) {
      const fault = asFault(error);
      if (fault.kind !== "forbidden") return halt(fault.kind === "gone" ? new UploadFault("no bucket") : fault);
    }
    for (const [index, item] of items.entries()) {
      const record = records.get(keys[index]);
      const isSame = record?.size === item.size && record.modified === item.modified;
      const earlier = isSame && record.upload && await claim(record.upload.uploadId) ? record.upload : null;
      // It may have been cancelled, another look-up may have been faster, or the answer may have led to another key.
      if (item.state !== "looking" || item.key !== keys[index]) continue;
      const size = taken?.get(item.key);
      item.isFree = taken !== null && size === undefined;
      item.earlier ??= earlier;
      if (size === undefined) list.enqueue(item);
      else if (isSame && record?.upload === null && size === item.size) {
        item.wasThere = true;
        list.sentTo(item, size);
        list.set(item, "done");
      } else list.set(item, "taken");
    }
    this.applyAnswer(batch);
    onChange();
    await memory.settled();
  }

  /** Applies an answer to the names in use, and to those of the same batches that are found later. */
  answer(answer: NameAnswer): void {
    const { list, memory } = this.parts;
    for (const batch of list.batchesOf("taken")) {
      batch.answer = answer;
      this.applyAnswer(batch);
    }
    void memory.settled();
  }

  /** Applies the answer for a batch, once there is one, to its names in use. */
  applyAnswer(batch: UploadBatch): void {
    const { list } = this.parts;
    const taken = list.of(batch, "taken");
    if (batch.answer === null || taken.length === 0) return;
    if (batch.answer === "keep both") return this.#rename(batch, taken);
    for (const item of taken) {
      if (batch.answer === "skip") {
        list.set(item, "skipped");
        // The parts of a file whose name was taken meanwhile are of no use.
        this.#discard(item);
      } else {
        item.ifAbsent = false;
        list.enqueue(item);
      }
    }
  }

  /** Chooses other names for files, and looks up whether these are in use as well. */
  #rename(batch: UploadBatch, items: readonly UploadItem[]): void {
    const { prefix, taken } = batch;
    const { list, memory } = this.parts;
    for (const { key } of items) taken.add(key);
    const used = new Set(list.items.map(({ key }) => key));
    for (const item of items) {
      this.#discard(item);
      item.mayBeWritten = false;
      item.ifAbsent = true;
      item.key = freeKey(prefix + item.path, (free) => used.has(free) || taken.has(free));
      used.add(item.key);
      memory.keys.add(item.key);
      list.sentTo(item, 0);
      list.set(item, "looking");
    }
    void this.lookUp(batch);
  }

  /** Deletes the parts of a file in the background. */
  #discard(item: UploadItem): void {
    const { memory, onChange } = this.parts;
    void memory.discard(item).then(onChange);
  }
}
