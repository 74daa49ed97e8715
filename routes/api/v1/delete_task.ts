import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest, HttpError } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import { readCountPage } from "@/lib/s3/listing.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { objectKey, wellFormed } from "@/lib/s3/objects.ts";
import { DELETE, type DeleteProgress, newDelete } from "@/lib/tasks/delete.ts";
import type { Task } from "@/lib/tasks/task.ts";
import { codeMembers, failureMembers, iso, TASK_STATUS, taskTimes, timesOf } from "@/lib/tasks/task_responses.ts";
import { bucketParams, chosenDetails, chosenTarget, type GatewayOperation, MAX_KEYS_BODY_BYTES } from "./operation.ts";
import { followOperations, type TaskRoutes, TASKS_TAG } from "./tasks.ts";

const PATH = "/api/v1/buckets/{bucket}/objects/delete-task";
export const MAX_TASK_KEYS = 100_000;
export const MAX_PREFIXES = 1000;

const deleteTask = z.object({
  keys: z.array(objectKey).max(MAX_TASK_KEYS).nullish().meta({ examples: [["2026/a.txt", "2026/b.txt"]] }),
  prefixes: z.array(wellFormed).max(MAX_PREFIXES).nullish().meta({
    description: "Key prefixes",
    examples: [["2025/"]],
  }),
  all: z.boolean().nullish().meta({ description: "Required with an empty prefix, which is the whole bucket" }),
}).meta({ id: "DeleteTask" });

const counts = {
  task_id: z.string(),
  total: z.int().meta({ description: "Objects found so far; counting ends before deleting begins" }),
  deleted: z.int().meta({ description: "Objects deleted; requested keys that do not exist count too" }),
  failed: z.int().meta({ description: "Objects that could not be deleted" }),
};
const started = z.object({ ...counts, status: z.literal("processing") }).meta({ id: "DeleteTaskStarted" });
const progress = z.object({
  ...counts,
  status: z.enum(["processing", "done", "canceled", "failed"]),
  errors: z.array(z.object({ Key: z.string(), Code: z.string(), Message: z.string().nullable() })).meta({
    description: "The first 100 failures",
  }),
  error: z.string().optional().meta({ description: "Why the task failed" }),
  ...codeMembers,
  ...taskTimes,
  estimated_end: z.string().optional().meta({ description: "Estimated end; present while objects are deleted" }),
}).meta({ id: "DeleteTaskProgress" });

/** Deleting many objects in the background. */
export function deleteTaskOperations(operation: GatewayOperation, routes: TaskRoutes): Operation[] {
  const { s3, tasks } = routes;
  return [
    operation({
      id: "start_delete",
      method: "POST",
      path: PATH,
      tag: TASKS_TAG,
      summary: "Delete objects by keys or prefixes in the background",
      description: "No limit on the number of objects. An empty prefix requires `all`.",
      params: bucketParams,
      body: { kind: "json", schema: deleteTask, limitBytes: MAX_KEYS_BODY_BYTES },
      responses: {
        202: { description: "Started", schema: started },
        400: { description: "No keys or prefixes, or an empty prefix without `all`" },
        404: { description: "No such bucket" },
        429: { description: "Too many unfinished tasks; retry after `Retry-After`" },
      },
      audit: {
        action: "task_start",
        target: ({ params: { bucket }, body: { prefixes } }) => chosenTarget(bucket, prefixes ?? []),
        details: ({ body: { keys, prefixes } }) => ({ task: "delete", ...chosenDetails(keys ?? [], prefixes ?? []) }),
      },
      async handler({ caller, params: { bucket }, body: { keys, prefixes, all } }, context) {
        const isWhole = prefixes?.includes("") ?? false;
        if (!keys?.length && !prefixes?.length) throw badRequest("Provide at least one prefix or key to delete");
        if (isWhole && !all) throw badRequest("prefixes: an empty prefix is the whole bucket; say so with all: true");
        if (all && !isWhole) throw badRequest('all: means the whole bucket, and goes with prefixes: [""]');
        await mustExist(s3, caller, bucket, prefixes?.[0]);
        const task_id = await tasks.create(DELETE, { caller, bucket, ...newDelete(keys ?? [], prefixes ?? []) });
        context.noted = { task_id };
        return Response.json({ task_id, status: "processing", total: 0, deleted: 0, failed: 0 }, { status: 202 });
      },
    }),
    ...followOperations(operation, routes, {
      type: DELETE,
      path: PATH,
      noun: "deletion",
      schema: progress,
      cancel: {
        method: "POST",
        description: "Takes effect after the current page of 1,000 objects. Deleted objects stay deleted.",
        name: "DeleteTask",
      },
      failed: { 502: { description: 'The task failed; `detail` is `{"status": "failed", "error": …}`' } },
      bodyOf,
      check({ state, error }) {
        if (state === "failed") throw new HttpError(502, { status: "failed", ...failureMembers(error) });
      },
    }),
  ];
}

/**
 * Resolves when the bucket exists. It needs no right that the deletion does not need: that to list a bucket only for
 * prefixes, and only under the first of them.
 *
 * @throws HttpError 404, 403
 */
export async function mustExist(s3: S3, caller: Caller, bucket: string, prefix: string | undefined): Promise<void> {
  if (prefix === undefined) return await headBucket(s3, caller, bucket);
  await readCountPage(s3, caller, bucket, { prefix, maxKeys: 1 });
}

function bodyOf(task: Task, progress: DeleteProgress) {
  const { deleted, failed, errors, count, deletingMs } = progress;
  const total = progress.total + (count?.files ?? 0);
  const done = deleted + failed;
  const isEstimated = task.state === "running" && deletingMs > 0 && done > 0 && done < total;
  return {
    task_id: task.id,
    status: TASK_STATUS[task.state],
    total,
    deleted,
    failed,
    errors,
    ...timesOf(task),
    ...isEstimated ? { estimated_end: iso(task.updatedAt + deletingMs / done * (total - done)) } : {},
    ...failureMembers(task.error),
  };
}
