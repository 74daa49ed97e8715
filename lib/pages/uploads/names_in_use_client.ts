import { compareKeys } from "@/lib/pages/storage/key_names.ts";
import { freeKey } from "@/lib/std/free_key.ts";
import type { Connection } from "./retry_client.ts";
import { asFault, type UploadCalls, UploadFault } from "./upload_calls_client.ts";
import type { ItemList, NameAnswer, UploadBatch, UploadItem } from "./upload_items_client.ts";
import type { FileRecord, UploadJournal } from "./upload_journal_client.ts";
import type { UploadMemory } from "./upload_memory_client.ts";

/**
 * The keys that objects have by now, with their sizes in bytes. The listing is walked beside the sorted keys: a page
 * answers for all keys within it, and the next one begins before the first key beyond. So there are never more pages than
 * keys, and one for a folder that is new.
 *
 * @throws UploadFault
 */
export async function findTaken(
  calls: Pick<UploadCalls, "listObjects">,
  bucket: string,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const taken = new Map<string, number>();
  const sorted = [...new Set(keys)].sort(compareKeys);
  if (sorted.length === 0) return taken;
  const prefix = commonStart(sorted[0], sorted[sorted.length - 1]);
  const sought = new Set(sorted);
  let after: string | null = null;
  for (let index = 0; index < sorted.length;) {
    const { objects, isLast } = await calls.listObjects(bucket, prefix, after, signal);
    for (const { Key, Size } of objects) if (sought.has(Key)) taken.set(Key, Size);
    const end: string | undefined = objects[objects.length - 1]?.Key;
    if (isLast || end === undefined) break;
    while (index < sorted.length && compareKeys(sorted[index], end) <= 0) index++;
    if (index < sorted.length) after = later(end, before(sorted[index]));
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

/** A character that every store takes in a key: no blank, control character, surrogate or noncharacter. */
const PLAIN = /^[^\s\p{C}]$/u;

/** A key that lies a little before another one. */
function before(key: string): string {
  const points = [...key];
  const code = points.pop()?.codePointAt(0) ?? 0;
  const stem = points.join("");
  const isPlain = PLAIN.test(String.fromCodePoint(Math.max(0, code - 1)));
  return isPlain ? `${stem}${String.fromCodePoint(code - 1)}\u{10fffd}` : stem;
}

function later(a: string, b: string): string {
  return compareKeys(a, b) > 0 ? a : b;
}

interface NameParts {
  readonly list: ItemList;
  readonly memory: UploadMemory;
  readonly connection: Connection;
  readonly calls: UploadCalls;
  readonly journal: UploadJournal;
  /** Takes an upload in parts for this page until it is left; false where a page has it already. */
  readonly claim: (uploadId: string) => Promise<boolean>;
  /** Lets a file wait for its turn. */
  readonly enqueue: (item: UploadItem) => void;
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
    const { list, memory, connection, calls, journal, claim, enqueue, halt, onFound } = this.#parts;
    const { bucket, prefix } = batch;
    const items = list.of(batch, "looking");
    const keys = items.map(({ key }) => key);
    const { signal } = new AbortController();
    let records = new Map<string, FileRecord>();
    let taken = new Map<string, number>();
    let isListed = false;
    try {
      records = new Map((await journal.files(bucket, prefix)).map((record) => [record.key, record]));
      taken = await connection.retry(signal, () => findTaken(calls, bucket, keys, signal));
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
    const { list, enqueue } = this.#parts;
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
        enqueue(item);
      }
    }
  }

  /** Chooses other names for files, and looks up whether these are in use as well. */
  #rename(batch: UploadBatch, items: readonly UploadItem[]): void {
    const { bucket, prefix, taken, keys } = batch;
    const { list } = this.#parts;
    for (const { key } of items) taken.add(key);
    const used = new Set(list.items.flatMap(({ batch, key }) => batch.bucket === bucket ? [key] : []));
    for (const item of items) {
      this.#discard(item);
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

  /** Deletes the parts of a file in the background. */
  #discard(item: UploadItem): void {
    const { connection, memory, onChange } = this.#parts;
    const step = memory.discard(item);
    if (!step) return;
    const { signal } = new AbortController();
    connection.retry(signal, () => step(signal)).catch(asFault).then(() => memory.settled(item.batch)).then(onChange);
  }
}
