import { freeKey } from "@/lib/std/free_key.ts";
import type { ItemList } from "./item_list.ts";
import type { Retry } from "./retry.ts";
import { findTaken } from "./taken_keys.ts";
import type { UploadCalls } from "./upload_calls.ts";
import { asFault, UploadFault } from "./upload_fault.ts";
import type { NameAnswer, UploadBatch, UploadItem } from "./upload_item.ts";
import type { FileRecord, UploadJournal } from "./upload_journal.ts";
import type { UploadMemory } from "./upload_memory.ts";

interface NameParts {
  readonly list: ItemList;
  readonly memory: UploadMemory;
  readonly retry: Retry;
  readonly calls: UploadCalls;
  readonly journal: UploadJournal;
  /** Takes an upload in parts for this page until it is left; false where a page has it already. */
  readonly claim: (uploadId: string) => Promise<boolean>;
  /** Lets a file wait for its turn. */
  readonly enqueue: (item: UploadItem) => void;
  /** Deletes the parts of a file, and forgets it. @throws UploadFault */
  readonly abort: (item: UploadItem, signal: AbortSignal) => Promise<void>;
  /** Stops everything. */
  readonly halt: (fault: UploadFault) => void;
  /** Files of a batch have been looked up. */
  readonly onFound: () => void;
  readonly onChange: () => void;
}

/** Looks up which names are in use before their files are sent, and applies the reader's answer to those. */
export class NamesInUse {
  readonly #parts: NameParts;

  constructor(parts: NameParts) {
    this.#parts = parts;
  }

  /** Finds out which names of a batch are in use, and lets the others begin. */
  async lookUp(batch: UploadBatch): Promise<void> {
    const { list, memory, retry, calls, journal, claim, enqueue, halt, onFound } = this.#parts;
    const { bucket, prefix } = batch;
    const items = list.of(batch, "looking");
    const keys = items.map(({ key }) => key);
    const { signal } = new AbortController();
    let records = new Map<string, FileRecord>();
    let taken = new Map<string, number>();
    let isListed = false;
    try {
      records = new Map((await journal.files(bucket, prefix)).map((record) => [record.key, record]));
      taken = await retry(signal, () => findTaken(calls, bucket, keys, signal));
      isListed = true;
    } catch (error) {
      const fault = asFault(error);
      // A login that may write and not list still overwrites nothing, as long as the store knows the condition.
      if (fault.kind !== "forbidden") return halt(fault.kind === "gone" ? new UploadFault("no bucket") : fault);
    }
    for (const [index, item] of items.entries()) {
      const record = records.get(keys[index]);
      const isSame = record?.size === item.size && record.modified === item.modified;
      const earlier = isSame && record.upload && await claim(record.upload.uploadId) ? record.upload : null;
      // It may have been cancelled, another look-up may have been faster, or the answer may have led to another key.
      if (item.state !== "looking" || item.key !== keys[index]) continue;
      item.isFree = isListed && !taken.has(item.key);
      item.earlier ??= earlier;
      if (!taken.has(item.key)) enqueue(item);
      else if (isSame && record?.upload === null && taken.get(item.key) === item.size) {
        item.wasThere = true;
        list.sentTo(item, item.size);
        list.set(item, "done");
      } else list.set(item, "taken");
    }
    this.applyAnswer(batch);
    onFound();
    await memory.settled(batch);
  }

  /** Applies an answer to the names in use, and to those of the same batches that are found later. */
  answer(answer: NameAnswer): void {
    const { list, memory } = this.#parts;
    for (const batch of list.batchesOf("taken")) {
      batch.answer = answer;
      this.applyAnswer(batch);
      void memory.settled(batch);
    }
  }

  /** Applies the answer for a batch, once there is one, to its names in use. */
  applyAnswer(batch: UploadBatch): void {
    const { list, enqueue, abort } = this.#parts;
    if (batch.answer === null) return;
    const taken = list.of(batch, "taken");
    if (taken.length === 0) return;
    if (batch.answer === "keep both") return this.#rename(batch, taken);
    for (const item of taken) {
      if (batch.answer === "skip") {
        list.set(item, "skipped");
        // The parts of a file whose name was taken meanwhile are of no use.
        if (item.upload ?? item.earlier) this.#inBackground(item, (signal) => abort(item, signal));
        continue;
      }
      item.ifAbsent = false;
      enqueue(item);
    }
  }

  /** Chooses other names for files, and looks up whether these are in use as well. */
  #rename(batch: UploadBatch, items: readonly UploadItem[]): void {
    const { bucket, prefix, taken, keys } = batch;
    const { list, calls, journal } = this.#parts;
    for (const { key } of items) taken.add(key);
    const used = new Set(list.items.flatMap(({ batch, key }) => batch.bucket === bucket ? [key] : []));
    for (const item of items) {
      const { key } = item;
      const upload = item.upload ?? item.earlier;
      if (upload) {
        this.#inBackground(item, async (signal) => {
          await calls.abort({ bucket, key }, upload.uploadId, signal);
          await journal.forget({ bucket, key });
        });
      }
      item.upload = item.earlier = null;
      item.mayBeWritten = false;
      item.ifAbsent = true;
      item.key = freeKey(prefix + item.path, (free) => used.has(free) || taken.has(free));
      used.add(item.key);
      keys.add(item.key);
      list.sentTo(item, 0);
      list.set(item, "looking");
    }
    void this.lookUp(batch);
  }

  #inBackground(item: UploadItem, step: (signal: AbortSignal) => Promise<void>): void {
    const { retry, memory, onChange } = this.#parts;
    const { signal } = new AbortController();
    retry(signal, () => step(signal)).catch(asFault).then(() => memory.settled(item.batch)).then(onChange);
  }
}
