import { z } from "zod";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { deleteBatch, type DeleteError, MAX_BATCH } from "@/lib/s3/delete_objects.ts";
import { MAX_KEYS } from "@/lib/s3/listing.ts";
import { compareText } from "@/lib/std/text.ts";
import {
  chosenKeysHandler,
  ChosenKeysRun,
  countPrefixes,
  packedKeys,
  pageAfter,
  readChunk,
  readPrefixes,
} from "./chosen_keys.ts";
import { keyCountState } from "./count.ts";
import type { TaskHandler, TaskType } from "./task_keys.ts";
import type { Blobs } from "./task.ts";

/** Failures that are shown one by one. */
const MAX_SHOWN_ERRORS = 100;

/** A number of things. A negative index would be no element of a list, and so no prefix at all. */
const amount = z.int().min(0);

/** Order and progress of a deletion. The defaults are the initial progress. */
const deleteProgress = z.object({
  /** Numbers of chunks of keys and of prefixes to delete. */
  chunks: amount,
  prefixes: amount,
  /** First all is counted, then the chunks are deleted, then what is under the prefixes. */
  phase: z.enum(["counting", "keys", "prefixes"]).default("counting"),
  /** The prefix or the chunk that is worked on. */
  index: amount.default(0),
  /** State of the count of this prefix; null before the start. */
  count: keyCountState.nullable().default(null),
  /** Last processed key of this prefix. */
  after: z.string().nullable().default(null),
  /** A page that is being deleted: its last key, and the number of its keys. */
  page: z.object({ end: z.string(), keys: amount }).nullable().default(null),
  total: amount,
  deleted: amount.default(0),
  failed: amount.default(0),
  errors: z.array(z.object({ Key: z.string(), Code: z.string(), Message: z.string().nullable() })).default([]),
  /** Time spent deleting so far, ms. */
  deletingMs: z.number().default(0),
});
export type DeleteProgress = z.output<typeof deleteProgress>;

export const DELETE: TaskType<DeleteProgress> = { kind: "delete", progress: deleteProgress, isSealed: true };

/** Initial progress and blobs of a deletion. */
export function newDelete(
  keys: readonly string[],
  prefixes: readonly string[],
): { progress: DeleteProgress; blobs: Blobs } {
  const { blobs, keys: total, ...chosen } = packedKeys(keys, prefixes);
  return { progress: deleteProgress.parse({ ...chosen, total }), blobs };
}

/** Deletes keys, and what is under prefixes, page by page. A cancellation takes effect after the page under way. */
export function deleteHandler(s3: S3): TaskHandler<DeleteProgress> {
  return chosenKeysHandler(DELETE, s3, Deletion);
}

class Deletion extends ChosenKeysRun<DeleteProgress> {
  #countedAt = performance.now();

  override async run(): Promise<void> {
    const prefixes = await readPrefixes(this.job);
    if (this.progress.phase === "counting") {
      await countPrefixes(this.s3, this.job, prefixes, this.progress, (change) => this.store(change));
      await this.store({ phase: "keys", index: 0 });
    }
    this.#countedAt = performance.now();
    if (this.progress.phase === "keys") await this.#deleteChunks();
    for (let { index } = this.progress; index < prefixes.length; index++) {
      await this.#deletePrefix(prefixes[index]);
      this.change({ index: index + 1, after: null });
    }
  }

  async #deleteChunks(): Promise<void> {
    for (let { index } = this.progress; index < this.progress.chunks; index++) {
      const keys = await readChunk(this.job, index);
      const errors = await this.#delete(keys);
      this.#counted(keys.length, errors);
      // A process that died before this is stored would delete keys again that may have been uploaded meanwhile.
      await this.store({ index: index + 1 }, "at once");
    }
    await this.store({ phase: "prefixes", index: 0 });
  }

  async #deletePrefix(prefix: string): Promise<void> {
    if (this.progress.page) await this.#deletePageAgain(prefix, this.progress.page);
    for (;;) {
      const { keys, isLast } = await this.#page(prefix);
      if (keys.length > 0) {
        const end = keys[keys.length - 1];
        // Stored before: a process that dies now may or may not have deleted the page.
        await this.store({ page: { end, keys: keys.length } }, "at once");
        const errors = await this.#delete(keys);
        this.#counted(keys.length, errors);
        await this.store({ page: null, after: end });
      }
      if (isLast) return;
    }
  }

  /** A page whose deletion was interrupted: what is still there of it is deleted, the rest has been. */
  async #deletePageAgain(prefix: string, { end, keys: count }: { end: string; keys: number }): Promise<void> {
    const errors: DeleteError[] = [];
    let after = this.progress.after;
    for (let isLast = false; !isLast;) {
      const page = await this.#page(prefix, after);
      const keys = page.keys.filter((key) => compareText(key, end) <= 0);
      if (keys.length > 0) errors.push(...await this.#delete(keys));
      isLast = page.isLast || keys.length < page.keys.length;
      after = page.keys.at(-1) ?? after;
    }
    this.#counted(count, errors.slice(0, count));
    await this.store({ page: null, after: end });
  }

  async #page(prefix: string, after = this.progress.after): Promise<{ keys: string[]; isLast: boolean }> {
    const { objects, isLast } = await pageAfter(this.s3, this.job, { prefix, after, maxKeys: MAX_KEYS });
    return { keys: objects.map(({ Key }) => Key), isLast };
  }

  async #delete(keys: readonly string[]): Promise<DeleteError[]> {
    const errors: DeleteError[] = [];
    for (let at = 0; at < keys.length; at += MAX_BATCH) {
      this.job.signal.throwIfAborted();
      const batch = keys.slice(at, at + MAX_BATCH).map((key) => ({ key }));
      errors.push(...await deleteBatch(this.s3, this.uncanceled, this.job.bucket, batch));
    }
    return errors;
  }

  #counted(keys: number, errors: readonly DeleteError[]): void {
    const now = performance.now();
    const failed = Math.min(keys, errors.length);
    const shown = errors.slice(0, Math.max(0, MAX_SHOWN_ERRORS - this.progress.errors.length));
    this.change({
      deleted: this.progress.deleted + keys - failed,
      failed: this.progress.failed + failed,
      errors: [...this.progress.errors, ...shown.map(({ Key, Code, Message }) => ({ Key, Code, Message }))],
      deletingMs: this.progress.deletingMs + now - this.#countedAt,
    });
    this.#countedAt = now;
  }
}
