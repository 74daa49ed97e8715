import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest, HttpError } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import { readCountPage } from "@/lib/s3/count_page.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { objectKey, wellFormed } from "@/lib/s3/name_schemas.ts";
import { DELETE, type DeleteProgress, newDelete } from "@/lib/tasks/delete.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { TaskView } from "@/lib/tasks/task_events.ts";
import { bucketTarget, keyDetails } from "./audited_objects.ts";
import { bucketParams } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";
import { EVENTS_DESCRIPTION, OTHER_VERSION, pollResponse, taskParams, type TaskRoutes } from "./task_progress.ts";
import { failureMembers } from "@/lib/tasks/task_error.ts";
import { codeMembers } from "@/lib/tasks/coded_members.ts";
import { iso, taskTimes, timesOf } from "@/lib/tasks/task_times.ts";

const TAG = "Background tasks";
const PATH = "/api/v1/buckets/{bucket}/objects/delete-task";
const MAX_KEYS = 100_000;
const MAX_PREFIXES = 1000;
/** Largest body that lists keys, bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const STATUS = { running: "processing", ready: "done", failed: "failed", canceled: "canceled" } as const;

const deleteTask = z.object({
  keys: z.array(objectKey).max(MAX_KEYS).nullish().meta({ examples: [["2026/a.txt", "2026/b.txt"]] }),
  prefixes: z.array(wellFormed).max(MAX_PREFIXES).nullish().meta({
    description: "Everything whose key begins with one of them",
    examples: [["2025/"]],
  }),
  all: z.boolean().nullish().meta({ description: "Says that an empty prefix, the whole bucket, is meant" }),
}).meta({ id: "DeleteTask" });

const counts = {
  task_id: z.string(),
  total: z.int().meta({ description: "Objects found so far; they are counted before the first one is deleted" }),
  deleted: z.int().meta({ description: "Named keys that are absent count as deleted" }),
  failed: z.int().meta({ description: "Objects that the store did not delete" }),
};
const started = z.object({ ...counts, status: z.literal("processing") }).meta({ id: "DeleteTaskStarted" });
const progress = z.object({
  ...counts,
  status: z.enum(["processing", "done", "canceled", "failed"]),
  errors: z.array(z.object({ Key: z.string(), Code: z.string(), Message: z.string().nullable() })).meta({
    description: "The first 100 failures",
  }),
  error: z.string().optional().meta({ description: "Why it failed" }),
  ...codeMembers,
  ...taskTimes,
  estimated_end: z.string().optional().meta({ description: "While it deletes, at the pace so far" }),
}).meta({ id: "DeleteTaskProgress" });
const canceling = z.object({ task_id: z.string(), status: z.enum(["canceling", "done", "canceled", "failed"]) })
  .meta({ id: "DeleteTaskCanceling" });

/** Deleting many objects in the background. */
export function deleteTaskOperations(operation: GatewayOperation, routes: TaskRoutes): Operation[] {
  const { s3, tasks } = routes;
  return [
    operation({
      id: "start_delete",
      method: "POST",
      path: PATH,
      tag: TAG,
      summary: "Delete objects by keys or prefixes in the background",
      description: "Of any number. An empty prefix is 400 unless `all` is true.",
      params: bucketParams,
      body: { kind: "json", schema: deleteTask, limitBytes: MAX_BODY_BYTES },
      responses: {
        202: { description: "Started", schema: started },
        400: { description: "Neither keys nor prefixes, or an empty prefix without `all`" },
        404: { description: "No such bucket" },
        429: { description: "Too many background tasks, of this user or of all" },
      },
      audit: {
        action: "task_start",
        target: ({ params: { bucket }, body: { prefixes } }) => ({
          kind: "objects",
          bucket,
          ...(prefixes?.length === 1 ? { prefix: prefixes[0] } : {}),
        }),
        details: ({ body: { keys, prefixes } }) => ({
          task: "delete",
          ...keyDetails(keys ?? []),
          ...((prefixes?.length ?? 0) > 1 ? { prefixes: prefixes ?? [] } : {}),
        }),
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
    operation({
      id: "get_delete",
      method: "GET",
      path: `${PATH}/{task_id}`,
      tag: TAG,
      summary: "The progress or the result of a deletion",
      description: `It can be read for ten minutes after the end. ${EVENTS_DESCRIPTION}.`,
      params: taskParams,
      responses: {
        200: { description: "How far it is, and how it ended", schema: progress },
        404: { description: "No such deletion of this user in this bucket" },
        410: OTHER_VERSION,
        502: { description: 'It failed: `{"status": "failed", "error": …}`' },
      },
      handler({ caller, params: { bucket, task_id } }, context) {
        const view = async () => {
          const { task, progress } = await tasks.find(DELETE, bucket, task_id, caller);
          return { task, ...viewOf(task, progress) };
        };
        return pollResponse(routes, caller, context, view, ({ task, body }) => {
          if (task.state === "failed") throw new HttpError(502, { status: "failed", ...failureMembers(task.error) });
          return Response.json(body);
        });
      },
    }),
    operation({
      id: "cancel_delete",
      method: "POST",
      path: `${PATH}/{task_id}/cancel`,
      tag: TAG,
      summary: "Cancel a deletion",
      description: "It ends after the page that is being deleted. What is deleted by then stays deleted.",
      params: taskParams,
      responses: {
        200: { description: "It ends soon, or how it ended before", schema: canceling },
        404: { description: "No such deletion of this user in this bucket" },
        410: OTHER_VERSION,
      },
      audit: {
        action: "task_cancel",
        target: bucketTarget,
        details: ({ params: { task_id } }) => ({ task: "delete", task_id }),
      },
      async handler({ caller, params: { bucket, task_id } }) {
        await caller.prove?.();
        const { task: { state } } = await tasks.find(DELETE, bucket, task_id, caller);
        if (state === "running") await tasks.cancel(task_id);
        return Response.json({ task_id, status: state === "running" ? "canceling" : STATUS[state] });
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
async function mustExist(s3: S3, caller: Caller, bucket: string, prefix: string | undefined): Promise<void> {
  if (prefix === undefined) return await headBucket(s3, caller, bucket);
  await readCountPage(s3, caller, bucket, { prefix, delimiter: "", token: null, after: null, maxKeys: 1 });
}

function viewOf(task: Task, progress: DeleteProgress): TaskView {
  const { deleted, failed, errors, count, deletingMs } = progress;
  const total = progress.total + (count?.files ?? 0);
  const done = deleted + failed;
  const isEstimated = task.state === "running" && deletingMs > 0 && done > 0 && done < total;
  return {
    body: {
      task_id: task.id,
      status: STATUS[task.state],
      total,
      deleted,
      failed,
      errors,
      ...timesOf(task),
      ...isEstimated ? { estimated_end: iso(task.updatedAt + deletingMs / done * (total - done)) } : {},
      ...failureMembers(task.error),
    },
    isOver: task.state !== "running",
  };
}
