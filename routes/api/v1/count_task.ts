import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import { readCountPage } from "@/lib/s3/listing.ts";
import { wellFormed } from "@/lib/s3/objects.ts";
import { COUNT, newCount } from "@/lib/tasks/count.ts";
import { codeMembers, failureOrCancel, taskTimes, timesOf } from "@/lib/tasks/task_responses.ts";
import { bucketParams, type GatewayOperation } from "./operation.ts";
import { followOperations, type TaskRoutes, TASKS_TAG } from "./tasks.ts";

const PATH = "/api/v1/buckets/{bucket}/objects/s3_stats";

const counts = {
  task_id: z.string(),
  files: z.int().meta({
    description: "Objects counted so far; with a delimiter, only those directly under the prefix",
  }),
  folders: z.int().meta({ description: "Folders counted so far; 0 without a delimiter" }),
};
const started = z.object({ ...counts, status: z.literal("counting") }).meta({ id: "CountStarted" });
const progress = z.object({
  ...counts,
  status: z.enum(["counting", "ready", "failed"]),
  bytes: z.number().meta({ description: "Total size of the objects so far" }),
  ...taskTimes,
  error: z.string().optional().meta({ description: "Why the task failed" }),
  ...codeMembers,
}).meta({ id: "CountProgress" });

/** Counting keys in the background. */
export function countOperations(operation: GatewayOperation, routes: TaskRoutes): Operation[] {
  const { s3, tasks } = routes;
  return [
    operation({
      id: "start_count",
      method: "POST",
      path: PATH,
      tag: TASKS_TAG,
      summary: "Count the objects under a prefix in the background",
      params: bucketParams,
      query: z.object({
        prefix: wellFormed.default("").meta({ description: "Empty: the whole bucket" }),
        delimiter: wellFormed.default("").meta({
          description: "Separator such as `/`: keys that contain it after the prefix are counted as folders",
        }),
      }),
      responses: {
        202: { description: "Started", schema: started },
        404: { description: "No such bucket" },
        429: { description: "Too many unfinished tasks; retry after `Retry-After`" },
      },
      async handler({ caller, params: { bucket }, query: { prefix, delimiter } }) {
        await readCountPage(s3, caller, bucket, { prefix, delimiter, maxKeys: 1 });
        const task_id = await tasks.create(COUNT, { caller, bucket, progress: newCount(prefix, delimiter) });
        return Response.json({ task_id, status: "counting", files: 0, folders: 0 }, { status: 202 });
      },
    }),
    ...followOperations(operation, routes, {
      type: COUNT,
      path: PATH,
      noun: "count",
      schema: progress,
      bodyOf(task, { count: { files, folders, bytes } }) {
        const status = task.state === "running" ? "counting" : task.state === "ready" ? "ready" : "failed";
        return { task_id: task.id, status, files, folders, bytes, ...timesOf(task), ...failureOrCancel(task) };
      },
    }),
  ];
}
