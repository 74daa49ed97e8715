import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { codedError } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { listObjects, type ObjectPage } from "@/lib/s3/listing.ts";
import { compareText } from "@/lib/std/text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { countKeys, type KeyCountState, NOTHING_COUNTED } from "./count.ts";
import type { Job, TaskHandler, TaskType } from "./task_keys.ts";
import { lowerBound } from "@/lib/std/lower_bound.ts";

/** Keys of a chunk. */
const CHUNK_KEYS = 1000;
/** Largest list of keys or prefixes after unpacking, bytes; a request may have 8 MiB. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const PREFIXES = "prefixes";
const chunkName = (index: number) => `keys/${index}`;

type Input = Pick<Job<unknown>, "readBlobs">;

/**
 * Packs keys and prefixes. Those that lie under another prefix are left out, so that nothing is counted twice.
 *
 * @param isLast prefixes that come last; the others are in order
 * @returns blobs with chunks of keys and with the prefixes, and the counts of all three
 */
export function packedKeys(
  keys: readonly string[],
  prefixes: readonly string[],
  isLast: (prefix: string) => boolean = () => false,
) {
  const outer = outermost(prefixes);
  const single = [...new Set(keys)].filter((key) => !isUnder(outer, key));
  const ordered = outer.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)));
  const blobs = new Map<string, Uint8Array>([[PREFIXES, packed(ordered)]]);
  let chunks = 0;
  for (let at = 0; at < single.length; at += CHUNK_KEYS) {
    blobs.set(chunkName(chunks++), packed(single.slice(at, at + CHUNK_KEYS)));
  }
  return { chunks, prefixes: outer.length, keys: single.length, blobs };
}

/** The prefixes of a task. @throws HttpError 410 where the stored texts are gone or damaged, as {@link readChunk} */
export const readPrefixes = (job: Input) => readTexts(job, PREFIXES);
/** A chunk of the keys of a task. */
export const readChunk = (job: Input, index: number) => readTexts(job, chunkName(index));

interface PageOptions {
  readonly prefix: string;
  /** The page lists keys after this one; null: from the first. */
  readonly after: string | null;
  readonly maxKeys: number;
}

/** A page of the objects under a prefix. @throws HttpError 501 where the store does not list from a key on */
export async function pageAfter(
  s3: S3,
  { caller, bucket, read }: Pick<Job<unknown>, "caller" | "bucket" | "read">,
  { prefix, after, maxKeys }: PageOptions,
): Promise<{ readonly objects: ObjectPage["objects"]; readonly isLast: boolean }> {
  const options = { prefix, startAfter: after ?? undefined, maxKeys };
  const { objects, is_truncated } = await read(() => listObjects(s3, caller, bucket, options));
  const isBehind = after === null || objects.length === 0 || compareText(objects[0].Key, after) > 0;
  if (!isBehind || (objects.length === 0 && is_truncated)) throw codedError(501, "listing_not_resumable", { bucket });
  return { objects, isLast: !is_truncated };
}

/** State of the count of prefixes. */
interface PrefixCount {
  /** The prefix that is counted. */
  readonly index: number;
  /** State of its count; null before the start. */
  readonly count: KeyCountState | null;
  readonly total: number;
}

/** Counts the keys under prefixes, continuing from a state. @param store records the new state */
export async function countPrefixes(
  s3: S3,
  { caller, bucket, read }: Pick<Job<unknown>, "caller" | "bucket" | "read">,
  prefixes: readonly string[],
  from: PrefixCount,
  store: (change: Partial<PrefixCount>) => Promise<void>,
): Promise<void> {
  let { count, total } = from;
  for (let { index } = from; index < prefixes.length; index++) {
    const { files } = await countKeys(count ?? NOTHING_COUNTED, {
      s3,
      caller,
      bucket,
      prefix: prefixes[index],
      delimiter: "",
      read,
      onPage: (count) => store({ count }),
    });
    count = null;
    total += files;
    await store({ index: index + 1, count, total });
  }
}

/** One run of a task on chosen keys. */
export abstract class ChosenKeysRun<P extends object> {
  progress: P;
  /** Cancellation does not abort a request that changes an object: its outcome must be known. */
  protected readonly uncanceled: Caller;

  constructor(protected readonly s3: S3, protected readonly job: Job<P>) {
    this.progress = job.progress;
    this.uncanceled = { ...job.caller, signal: job.leaseSignal };
  }

  abstract run(): Promise<void>;

  protected change(change: Partial<P>): void {
    this.progress = { ...this.progress, ...change };
  }

  protected async store(change: Partial<P>, when?: "at once"): Promise<void> {
    this.change(change);
    await this.job.checkpoint(this.progress, when);
  }
}

/** Handler of a kind of task on chosen keys. */
export function chosenKeysHandler<P extends object>(
  type: TaskType<P>,
  s3: S3,
  Run: new (s3: S3, job: Job<P>) => ChosenKeysRun<P>,
): TaskHandler<P> {
  return {
    ...type,
    async run(job) {
      const run = new Run(s3, job);
      await run.run();
      return run.progress;
    },
  };
}

async function readTexts(job: Input, name: string): Promise<string[]> {
  const [blob] = await job.readBlobs([name]);
  try {
    const text = gunzipSync(Buffer.from(blob ?? []), { maxOutputLength: MAX_LIST_BYTES });
    return z.array(z.string()).parse(parsedJson(text));
  } catch {
    throw codedError(410, "task_input_changed");
  }
}

function packed(texts: readonly string[]): Uint8Array {
  return gzipSync(JSON.stringify(texts), { level: 1 });
}

/** The prefixes that do not lie under another one, in order. */
export function outermost(prefixes: readonly string[]): string[] {
  const outer: string[] = [];
  for (const prefix of [...new Set(prefixes)].sort()) {
    const last = outer.at(-1);
    if (last === undefined || !prefix.startsWith(last)) outer.push(prefix);
  }
  return outer;
}

/** Whether a key lies under one of the outermost prefixes: only the last one that is not greater can be it. */
export function isUnder(outer: readonly string[], key: string): boolean {
  const after = lowerBound(outer.length, (index) => outer[index] <= key);
  return after > 0 && key.startsWith(outer[after - 1]);
}
