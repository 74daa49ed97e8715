import { z } from "zod";
import { badGateway, HttpError, listingStuck, notFound } from "@/lib/http/errors.ts";
import { redactText } from "@/lib/http/request_context.ts";
import { resourceOf, type S3 } from "@/lib/s3/s3_client.ts";
import {
  ABSENT,
  currentHeaders,
  deleteObject,
  isSameBucket,
  type ObjectRef,
  preconditions,
  sourcePreconditions,
} from "@/lib/s3/objects.ts";
import { copyObject } from "@/lib/s3/copy.ts";
import { deleteBatch } from "@/lib/s3/delete_objects.ts";
import { S3Failure } from "@/lib/s3/s3_errors.ts";
import { listObjects, listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import type { Coded } from "@/lib/std/coded.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { freeKey, numberedStart } from "@/lib/std/text.ts";
import {
  chosenKeysHandler,
  ChosenKeysRun,
  countPrefixes,
  packedKeys,
  pageAfter,
  readChunk,
  readPrefixes,
} from "./chosen_keys.ts";
import { codedOrNull, isTransient } from "./task_responses.ts";
import { keyCountState } from "./count.ts";
import type { TaskHandler, TaskType } from "./task_keys.ts";
import type { Blobs } from "./task.ts";

/** Objects that are stored as under way at a time, and how many of them are worked on at once. */
const BATCH = 100;
const CONCURRENCY = 4;
/** Entries of a page of versions, whose delete markers are stored together. */
const VERSIONS = 500;
/** How often an object is tried whose source or target changes meanwhile. */
const MAX_TRIES = 5;
/** Forbidden objects in a row after which the others would be as well. */
const MAX_FORBIDDEN = 5;
/** Failures that are shown one by one. */
const MAX_SHOWN_ERRORS = 100;
/** Tolerated difference between the clocks of gateway and store, ms. */
const CLOCKS_MS = 5000;

/** Handling of objects whose new key is in use: `keep` adds a number to the name. */
export const IF_EXISTS = ["skip", "keep", "replace"] as const;

const amount = z.int().min(0);
const found = z.object({ etag: z.string().nullable(), bytes: amount });
type Found = z.output<typeof found>;

/** An object on its way. */
const item = z.object({
  from: z.string(),
  to: z.string(),
  /** The source when it was listed or, where `copied` is set, when it was copied. */
  source: found.nullable(),
  /** The ETag of its copy, whose source is being deleted. */
  copied: z.string().nullable(),
});
type Item = z.output<typeof item>;

const order = z.discriminatedUnion("mode", [
  z.object({
    mode: z.enum(["copy", "move"]),
    /** Prefix of the keys, replaced by `to.prefix`. */
    from: z.string(),
    to: z.object({ bucket: z.string(), prefix: z.string() }),
    ifExists: z.enum(IF_EXISTS),
  }),
  z.object({
    mode: z.literal("undo"),
    /** When the deletion began and ended, ms since 1970. */
    since: z.number(),
    until: z.number(),
  }),
]);
/** The requested operation on the keys and prefixes. */
export type TransferOrder = z.output<typeof order>;
type CopyOrder = Extract<TransferOrder, { mode: "copy" | "move" }>;

/** Order and progress of a transfer. The defaults are the initial progress. */
const transferProgress = z.object({
  order,
  /** Numbers of chunks of keys, and of prefixes, which follow. */
  chunks: amount,
  prefixes: amount,
  phase: z.enum(["counting", "working"]),
  /** The chunk or, behind all of them, the prefix where it goes on; while it counts, the prefix. */
  index: amount.default(0),
  /** State of the count of this prefix; null before the start. */
  count: keyCountState.nullable().default(null),
  /** Started keys of this chunk. */
  at: amount.default(0),
  /** Last started key under this prefix; for versions, with the version. */
  after: z.string().nullable().default(null),
  version: z.string().nullable().default(null),
  /** Objects and delete markers in progress: stored before any of them changes. */
  pending: z.array(item).default([]),
  markers: z.array(z.object({ key: z.string(), versionId: z.string() })).default([]),
  total: amount,
  /** Objects that were copied, or brought back. */
  done: amount.default(0),
  /** Sources that were deleted after their copy. */
  deleted: amount.default(0),
  skipped: amount.default(0),
  /** Objects that got a number in their name. */
  renamed: amount.default(0),
  failed: amount.default(0),
  errors: z.array(z.object({
    Key: z.string(),
    Status: z.int(),
    Message: z.string(),
    coded: codedOrNull,
  })).default([]),
});
export type TransferProgress = z.output<typeof transferProgress>;

export const TRANSFER: TaskType<TransferProgress> = { kind: "transfer", progress: transferProgress, isSealed: true };

/** Initial progress and blobs of a transfer. */
export function newTransfer(
  order: TransferOrder,
  keys: readonly string[],
  prefixes: readonly string[],
): { progress: TransferProgress; blobs: Blobs } {
  // A folder that moves up to a parent of the same name comes last: its objects may get keys of the others.
  const isUpward = (prefix: string) => order.mode !== "undo" && prefix.startsWith(targetOf(order, prefix));
  const { blobs, keys: total, ...chosen } = packedKeys(keys, prefixes, isUpward);
  const begun = order.mode === "undo" ? { phase: "working", total: 0 } : { phase: "counting", total };
  return { progress: transferProgress.parse({ order, ...chosen, ...begun }), blobs };
}

/** The key or prefix that one gets. */
export function targetOf({ from, to }: Pick<CopyOrder, "from" | "to">, key: string): string {
  return to.prefix + key.slice(from.length);
}

/** The objects of a folder would get keys below the folder itself. */
const ONTO_ITSELF: Coded = { code: "transfer_onto_itself" };

/**
 * Copies or moves objects inside the store, or removes delete markers. Each object is stored with its new key before it
 * is copied, so that a run after an interruption finds the existing copy and creates no second one. A source is deleted
 * only after its copy exists, and only if it was not overwritten since.
 */
export function transferHandler(s3: S3): TaskHandler<TransferProgress> {
  return chosenKeysHandler(TRANSFER, s3, Transfer);
}

class Transfer extends ChosenKeysRun<TransferProgress> {
  /** In a row. */
  #forbidden = 0;

  override async run(): Promise<void> {
    const prefixes = await readPrefixes(this.job);
    const { order } = this.progress;
    if (this.progress.phase === "counting") {
      await countPrefixes(this.s3, this.job, prefixes, this.progress, (change) => this.store(change));
      await this.store({ phase: "working", index: 0 });
    }
    if (order.mode === "undo") {
      await this.#removeMarkers(true);
      return await this.#undo(order, prefixes);
    }
    await this.#treat(order, true);
    for await (const batch of this.#batches(order, prefixes)) {
      await this.store(batch, "at once");
      await this.#treat(order, false);
    }
  }

  /** The next objects, and the position after them. */
  async *#batches(order: CopyOrder, prefixes: readonly string[]): AsyncGenerator<Partial<TransferProgress>> {
    const itemOf = (from: string, source: Found | null): Item => ({
      from,
      to: targetOf(order, from),
      source,
      copied: null,
    });
    for await (const { keys, ...next } of this.#namedKeys()) {
      yield { ...next, pending: keys.map((key) => itemOf(key, null)) };
    }
    while (this.progress.index < this.progress.chunks + prefixes.length) {
      const { index, after } = this.progress;
      const left = prefixes.slice(index - this.progress.chunks);
      const page = await pageAfter(this.s3, this.job, { prefix: left[0], after, maxKeys: BATCH });
      const pending = page.objects.map(({ Key, ETag, Size }) => itemOf(Key, { etag: ETag, bytes: Size }));
      const isSource = ({ to }: Item) =>
        isSameBucket(order.to.bucket, this.job.bucket) && left.some((prefix) => to.startsWith(prefix));
      for (const { from } of pending.filter(isSource)) {
        this.#note(from, 409, "It would get a key that is moved or copied itself", ONTO_ITSELF);
      }
      // A request for no key is one for the bucket: a copy there would create it.
      for (const { from } of pending.filter(({ to }) => to === "")) this.#note(from, 400, "It would get an empty key");
      yield {
        ...page.isLast ? { index: index + 1, after: null } : { after: pending[pending.length - 1].from },
        pending: pending.filter((item) => item.to !== "" && !isSource(item)),
      };
    }
  }

  /** The named keys from where the task is. */
  async *#namedKeys(): AsyncGenerator<Pick<TransferProgress, "index" | "at"> & { keys: string[] }> {
    for (let { index, at } = this.progress; index < this.progress.chunks; index++, at = 0) {
      const chunk = await readChunk(this.job, index);
      for (; at < chunk.length; at += BATCH) {
        const isLast = at + BATCH >= chunk.length;
        yield {
          ...isLast ? { index: index + 1, at: 0 } : { index, at: at + BATCH },
          keys: chunk.slice(at, at + BATCH),
        };
      }
    }
  }

  /** @param isRepeated whether an earlier run may have done some of it */
  async #treat(order: CopyOrder, isRepeated: boolean): Promise<void> {
    await this.#each(this.progress.pending, async (item) => {
      try {
        await this.job.read(() => this.#one(order, item, isRepeated));
        this.#forbidden = 0;
      } catch (error) {
        this.#fail(item.from, error);
        this.change({ pending: this.#without(item) });
      }
      await this.store({});
    });
  }

  /** Waits for all started work, even if one item fails. */
  async #each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const failures: unknown[] = [];
    await forEachConcurrent(items, CONCURRENCY, async (item) => {
      if (failures.length > 0) return;
      await work(item).catch((error) => failures.push(error));
    });
    if (failures.length > 0) throw failures[0];
  }

  async #one(order: CopyOrder, begun: Item, isRepeated: boolean): Promise<void> {
    const { mode, to: { bucket }, ifExists } = order;
    let item = begun;
    if (item.copied !== null && (await this.#look(bucket, item.to))?.etag === item.copied) {
      return await this.#copied(order, item);
    }
    for (let tries = 1, isNamed = isRepeated;; tries++) {
      const source = (tries === 1 && !isRepeated && item.source) || await this.#look(this.job.bucket, item.from);
      if (source === null) {
        const wasMoved = isRepeated && mode === "move" && await this.#look(bucket, item.to) !== null;
        if (wasMoved) return this.#ended(order, item, { done: 1, deleted: 1 });
        throw notFound(resourceOf({ bucket: this.job.bucket, key: item.from }));
      }
      const mayExist = ifExists !== "replace" && (isRepeated || tries > 1 || !await this.#isGuarded(bucket, item.to));
      const there = mayExist ? await this.#look(bucket, item.to) : null;
      if (there !== null) {
        if (isSame(source, there)) return await this.#copied(order, { ...item, source, copied: there.etag });
        if (ifExists === "skip") return this.#ended(order, item, { skipped: 1 });
        // Stores give copies of objects that were uploaded in parts other ETags.
        if (isNamed && source.bytes === there.bytes) throw uncertain(item);
        item = await this.#beside(order, item);
        isNamed = false;
        continue;
      }
      try {
        const copied = await this.#copy(order, item, source);
        item = this.#replace(item, { ...item, source, copied });
      } catch (error) {
        const isChanged = error instanceof HttpError && error.status === 412;
        if (!isChanged || tries >= MAX_TRIES) throw error;
        continue;
      }
      // Another run could not recognize the copy by its ETag alone.
      if (mode === "move" && item.copied !== source.etag) await this.store({}, "at once");
      return await this.#copied(order, item);
    }
  }

  /** @returns the ETag of the copy */
  async #copy(order: CopyOrder, { from, to }: Item, { etag }: Found): Promise<string | null> {
    const { mode, to: { bucket }, ifExists } = order;
    const target = { bucket, key: to };
    const table = await this.s3.conditions?.(this.uncanceled, target);
    const condition = new Headers(table?.copySource && etag ? { "x-amz-copy-source-if-match": etag } : {});
    const written = await copyObject(this.s3, this.uncanceled, {
      source: { bucket: this.job.bucket, key: from },
      target,
      ofSource: sourcePreconditions(condition),
      whereSupported: ifExists === "replace" ? {} : ABSENT,
    });
    // Without it nothing says that there is a copy: a later try looks for it before the source goes.
    if (mode === "move" && !written.etag) throw badGateway(`${resourceOf(target)}: the store's response has no ETag`);
    return written.etag;
  }

  /** A copy is there: of a move the source goes, unless it was overwritten since. */
  async #copied(order: CopyOrder, item: Item): Promise<void> {
    if (order.mode === "copy") return this.#ended(order, item, { done: 1 });
    try {
      await this.#deleteSource({ bucket: this.job.bucket, key: item.from }, item.source?.etag ?? null);
    } catch (error) {
      const isGone = error instanceof HttpError && error.status === 404;
      if (!isGone) {
        this.#fail(item.from, error);
        return this.#ended(order, item, { done: 1 });
      }
    }
    this.#ended(order, item, { done: 1, deleted: 1 });
  }

  async #deleteSource(ref: ObjectRef, etag: string | null): Promise<void> {
    const caller = this.uncanceled;
    if (etag !== null && (await this.s3.conditions?.(caller, ref))?.delete.includes("if-match")) {
      return void await deleteObject(this.s3, caller, ref, preconditions(new Headers({ "if-match": etag })));
    }
    const present = await this.#look(ref.bucket, ref.key);
    if (present !== null && present.etag !== etag) {
      throw new HttpError(412, `${resourceOf(ref)}: it was changed meanwhile`);
    }
    await deleteObject(this.s3, caller, ref);
  }

  /** Gives an object a number in its name, which is stored before it is copied. */
  async #beside({ to: { bucket } }: CopyOrder, item: Item): Promise<Item> {
    const options = { prefix: numberedStart(item.to), maxKeys: MAX_KEYS };
    const { objects } = await listObjects(this.s3, this.uncanceled, bucket, options);
    const taken = new Set([...objects.map(({ Key }) => Key), ...this.progress.pending.map(({ to }) => to)]);
    const named = this.#replace(item, { ...item, to: freeKey(item.to, (key) => taken.has(key)) });
    await this.store({}, "at once");
    return named;
  }

  /** Whether the store itself keeps a copy from replacing an object. */
  async #isGuarded(bucket: string, key: string): Promise<boolean> {
    const table = await this.s3.conditions?.(this.uncanceled, { bucket, key });
    return table ? table.copy.includes("if-none-match") && table.complete.includes("if-none-match") : false;
  }

  async #look(bucket: string, key: string): Promise<Found | null> {
    const headers = await currentHeaders(this.s3, this.uncanceled, { bucket, key });
    return headers && { etag: headers.get("etag"), bytes: Number(headers.get("content-length")) };
  }

  async #undo(order: Extract<TransferOrder, { mode: "undo" }>, prefixes: readonly string[]): Promise<void> {
    for await (const { keys, ...next } of this.#namedKeys()) {
      const markers: TransferProgress["markers"] = [];
      await this.#each(keys, async (key) => {
        const versionId = await this.#newestMarker(key).catch((error) => this.#fail(key, error));
        if (versionId) markers.push({ key, versionId });
      });
      await this.#begin(markers, next);
    }
    while (this.progress.index < this.progress.chunks + prefixes.length) {
      const { index, chunks, after, version } = this.progress;
      const page = await this.#versions({
        prefix: prefixes[index - chunks],
        maxKeys: VERSIONS,
        keyMarker: after ?? undefined,
        versionIdMarker: version ?? undefined,
      });
      const markers = page.delete_markers.flatMap(({ Key, VersionId, IsLatest, LastModified }) => {
        const at = Date.parse(LastModified ?? "");
        const isOurs = IsLatest && at >= order.since - CLOCKS_MS && at <= order.until + CLOCKS_MS;
        return isOurs && VersionId !== null ? [{ key: Key, versionId: VersionId }] : [];
      });
      const next = page.is_truncated
        ? { after: page.next_key_marker, version: page.next_version_id_marker }
        : { index: index + 1, after: null, version: null };
      if (page.is_truncated && (next.after === null || (next.after === after && next.version === version))) {
        throw listingStuck(this.job.bucket);
      }
      await this.#begin(markers, next);
    }
  }

  /** The version of the delete marker that a key has in place of an object; null: it has none. */
  async #newestMarker(key: string): Promise<string | null> {
    // The newest version of a key is the first entry with this prefix.
    const { delete_markers: [newest] } = await this.#versions({ prefix: key, maxKeys: 1 });
    return newest?.Key === key ? newest.VersionId : null;
  }

  #versions(options: Parameters<typeof listVersions>[3]): ReturnType<typeof listVersions> {
    const { caller, bucket, read } = this.job;
    return read(() => listVersions(this.s3, caller, bucket, options));
  }

  async #begin(markers: TransferProgress["markers"], next: Partial<TransferProgress>): Promise<void> {
    await this.store({ ...next, markers, total: this.progress.total + markers.length }, "at once");
    await this.#removeMarkers(false);
  }

  /**
   * Removes the stored markers. One that an earlier run has removed counts as removed.
   *
   * @param isRepeated whether there was such a run
   */
  async #removeMarkers(isRepeated: boolean): Promise<void> {
    const { markers } = this.progress;
    if (markers.length === 0) return;
    const left = isRepeated ? await this.#stillThere(markers) : markers;
    const errors = await deleteBatch(this.s3, this.uncanceled, this.job.bucket, left);
    for (const { Key, Code, Message } of errors) this.#note(Key, Code === "AccessDenied" ? 403 : 0, Message ?? Code);
    await this.store({ markers: [], done: this.progress.done + Math.max(0, markers.length - errors.length) });
  }

  /** Markers that may still be removed: where versioning is suspended, a new object has the version of the marker, `null`. */
  async #stillThere(markers: TransferProgress["markers"]): Promise<TransferProgress["markers"]> {
    const left: TransferProgress["markers"] = [];
    await this.#each(markers, async (marker) => {
      const { key, versionId } = marker;
      if (versionId !== "null" || await this.#newestMarker(key) === versionId) left.push(marker);
    });
    return left;
  }

  /** @throws `error` where it is not of this object alone */
  #fail(key: string, error: unknown): void {
    if (!(error instanceof HttpError) || isTransient(error) || error.status === 401) throw error;
    if (error instanceof S3Failure && error.code === "NoSuchBucket") throw error;
    this.#forbidden = error.status === 403 ? this.#forbidden + 1 : 0;
    if (this.#forbidden >= MAX_FORBIDDEN) throw error;
    this.#note(key, error.status, error.message, error.coded);
  }

  #note(Key: string, Status: number, message: string, coded: Coded | null = null): void {
    const { failed, errors } = this.progress;
    const error = { Key, Status, Message: redactText(message), coded };
    this.change({ failed: failed + 1, errors: errors.length < MAX_SHOWN_ERRORS ? [...errors, error] : errors });
  }

  /** Counts an object, which is no longer under way. */
  #ended(order: CopyOrder, item: Item, counts: { done?: number; deleted?: number; skipped?: number }): void {
    const { done, deleted, skipped, renamed } = this.progress;
    const isRenamed = counts.done === 1 && item.to !== targetOf(order, item.from);
    this.change({
      done: done + (counts.done ?? 0),
      deleted: deleted + (counts.deleted ?? 0),
      skipped: skipped + (counts.skipped ?? 0),
      renamed: renamed + Number(isRenamed),
      pending: this.#without(item),
    });
  }

  #replace(item: Item, by: Item): Item {
    this.change({ pending: [...this.#without(item), by] });
    return by;
  }

  #without({ from }: Item): Item[] {
    return this.progress.pending.filter((item) => item.from !== from);
  }
}

function isSame(a: Found, b: Found): boolean {
  return a.etag !== null && a.etag === b.etag && a.bytes === b.bytes;
}

/** The copy of an object may be there already, or another object of the same length. */
function uncertain({ from, to }: Item): HttpError {
  return new HttpError(409, `object '${from}': '${to}' may be its copy. Compare both, then delete one`, {
    coded: { code: "transfer_uncertain", params: { key: to } },
  });
}
