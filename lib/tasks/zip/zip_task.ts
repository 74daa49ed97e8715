import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest, codedError } from "@/lib/http/errors.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import { forEachConcurrent, yielding } from "@/lib/std/concurrency.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import { objectPages } from "@/lib/s3/delete_objects.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { headObject } from "@/lib/s3/objects.ts";
import { proveCredentials } from "@/lib/s3/probes.ts";
import type { Job, TaskHandler, TaskType } from "@/lib/tasks/task_keys.ts";
import type { Blobs } from "@/lib/tasks/task.ts";
import { type ObjectSource, problemOf, retried, RETRY_MS } from "./entry_read.ts";
import {
  chunkName,
  closedChunk,
  DamagedPlan,
  EMPTY_PLAN,
  type FoundObject,
  isOpen,
  type LeftOut,
  MAX_OBJECTS,
  MAX_PLAN_BYTES,
  objectsIn,
  PlanBuilder,
  plannedEtag,
  planSums,
} from "./zip_format.ts";

/** Look-ups of objects at a time. */
const MAX_LOOKUPS = 20;
/** So many keys of objects that are missing are shown. */
const MAX_FAILED_KEYS = 50;

const zipProgress = z.object({
  /** How many objects the archive is to have. */
  total: z.int(),
  /** How many of them have been looked up. */
  completed: z.int(),
  /** The first keys of those that are missing. */
  failedKeys: z.array(z.string()),
  /** How many chunks the plan has, and the sums over those that are complete. */
  chunks: z.int(),
  plan: planSums,
});
export type ZipProgress = z.output<typeof zipProgress>;

/** The tasks that prepare archives. Such a task is ready once its plan is complete: nothing is stored of the archive. */
export const ZIP_TASK: TaskType<ZipProgress> = { kind: "zip", progress: zipProgress };

/** Objects by their keys, or all under a prefix, which takes precedence. */
interface ZipRequest {
  readonly keys?: readonly string[] | null;
  readonly prefix?: string | null;
}

/**
 * Plans an archive as far as it can be without looking at each object.
 *
 * @returns initial progress and blobs of its task
 * @throws HttpError 400 for no objects, too many and too long keys, 404 for a missing bucket, 502 for a listing that does
 *   not advance; as {@link objectPages}
 */
export async function planArchive(
  s3: S3,
  caller: Caller,
  bucket: string,
  { keys, prefix }: ZipRequest,
): Promise<{ readonly progress: ZipProgress; readonly blobs: Blobs }> {
  const plan = new PlanBuilder();
  if (typeof prefix === "string") await addUnder(plan, prefix, s3, caller, bucket);
  else await addKeys(plan, keys ?? [], s3, caller, bucket);
  const blobs = await plan.blobs();
  mustBeShort([...blobs.values()].reduce((sum, { length }) => sum + length, 0));
  const { count: total } = plan;
  return { progress: { total, completed: 0, failedKeys: [], chunks: blobs.size, plan: EMPTY_PLAN }, blobs };
}

async function addUnder(plan: PlanBuilder, prefix: string, s3: S3, caller: Caller, bucket: string): Promise<void> {
  for await (const objects of objectPages(s3, caller, bucket, prefix)) {
    mustFit(plan.count + objects.length);
    await yielding(objects.length, (at) => {
      const { Key, Size, ETag, LastModified } = objects[at];
      plan.add(Key, { size: Size, etag: plannedEtag(ETag), modifiedMs: timeOf(LastModified) });
    });
    mustBeShort(plan.bytes);
  }
  if (plan.count === 0) throw codedError(400, "archive_empty");
}

async function addKeys(
  plan: PlanBuilder,
  keys: readonly string[],
  s3: S3,
  caller: Caller,
  bucket: string,
): Promise<void> {
  const distinct = [...new Set(keys)];
  if (distinct.length === 0) throw badRequest("Provide either 'prefix' or 'keys'");
  mustFit(distinct.length);
  await headBucket(s3, caller, bucket);
  await yielding(distinct.length, (at) => {
    plan.add(distinct[at]);
    mustBeShort(plan.bytes);
  });
}

function mustFit(count: number): void {
  if (count > MAX_OBJECTS) throw codedError(400, "archive_objects_too_many", { count, most: MAX_OBJECTS });
}

function mustBeShort(planBytes: number): void {
  if (planBytes > MAX_PLAN_BYTES) throw codedError(400, "archive_keys_too_long");
}

/**
 * Handler of archive tasks, which look up objects that were named by their keys, chunk by chunk.
 *
 * @param retryMs waits between two look-ups of an object, ms; there is one look-up more than waits
 */
export function zipHandler(s3: S3, retryMs: readonly number[] = RETRY_MS): TaskHandler<ZipProgress> {
  return {
    ...ZIP_TASK,
    keepsCaller: true,
    async run(job) {
      // Objects of an incomplete chunk are looked up and counted again.
      let progress = { ...job.progress, completed: job.progress.plan.entries };
      for (let number = progress.plan.chunks; number < progress.chunks; number++) {
        const [blob] = await job.readBlobs([chunkName(number)]);
        if (!blob) throw codedError(410, "archive_plan_gone");
        progress = await lookUp({ s3, retryMs }, job, progress, blob).catch((error) => {
          throw error instanceof DamagedPlan ? codedError(410, "archive_plan_gone") : error;
        });
        await job.checkpoint(progress);
      }
      return progress;
    },
  };
}

type LookupSource = Pick<ObjectSource, "s3" | "retryMs">;

/** Looks up the objects of one chunk that are not known yet. @throws DamagedPlan, HttpError as {@link found} */
async function lookUp(
  source: LookupSource,
  job: Job<ZipProgress>,
  before: ZipProgress,
  blob: Uint8Array,
): Promise<ZipProgress> {
  const objects = objectsIn(blob);
  let done = 0;
  const busy: unknown[] = [];
  const failures: unknown[] = [];
  // A failure is thrown when all calls have ended: a checkpoint after it would overwrite those of the next run.
  await forEachConcurrent(objects.filter(isOpen), MAX_LOOKUPS, async (object) => {
    if (failures.length > 0) return;
    try {
      const result = await found(source, job, object.key);
      if ("error" in result) {
        object.missing = "unreadable";
        return void busy.push(result.error);
      }
      if (typeof result.object === "string") object.missing = result.object;
      else object.found = result.object;
      done++;
      // An interruption repeats the whole chunk.
      await job.checkpoint({ ...before, completed: before.completed + done }, "partial");
    } catch (error) {
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
  // The store may be overloaded for all of them.
  if (done === 0 && busy.length > 0) throw busy[0];
  const { blob: closed, sums, missingKeys } = closedChunk(objects, before.plan);
  await job.writeBlobs(new Map([[chunkName(before.plan.chunks), closed]]));
  return {
    ...before,
    completed: sums.entries,
    failedKeys: [...before.failedKeys, ...missingKeys].slice(0, MAX_FAILED_KEYS),
    plan: sums,
  };
}

/**
 * Looks up an object, again where the store is busy.
 *
 * @returns the object, why it is left out, or the last error where it stays busy while the bucket can be reached
 * @throws HttpError where the store refuses the credentials, or does not work
 */
async function found(
  { s3, retryMs }: LookupSource,
  job: Job<ZipProgress>,
  key: string,
): Promise<{ readonly object: FoundObject | LeftOut } | { readonly error: unknown }> {
  try {
    return { object: await retried({ retryMs, signal: job.signal }, () => job.read(() => foundOnce(s3, job, key))) };
  } catch (error) {
    if (problemOf(error) !== "retry" || job.signal.aborted) throw error;
    await job.read(() => headBucket(s3, job.caller, job.bucket));
    return { error };
  }
}

async function foundOnce(s3: S3, { bucket, caller }: Job<ZipProgress>, key: string): Promise<FoundObject | LeftOut> {
  try {
    const response = await headObject(s3, caller, { bucket, key });
    const size = announcedLength(response);
    const etag = plannedEtag(response.headers.get("etag"));
    // Without them it could not be known whether later reads are of the same object.
    if (size === null || etag === null) return "unreadable";
    return { size, etag, modifiedMs: timeOf(response.headers.get("last-modified")) };
  } catch (error) {
    const problem = problemOf(error);
    if (problem === "fatal" || problem === "retry") throw error;
    // A response to HEAD does not say whether the object is denied or the credentials are wrong.
    if (problem === "denied") await proveCredentials(s3, caller);
    return problem;
  }
}

/** A date as ms since 1970; 0 where there is none. */
function timeOf(text: string | null): number {
  const time = Date.parse(text ?? "");
  return Number.isFinite(time) ? time : 0;
}
