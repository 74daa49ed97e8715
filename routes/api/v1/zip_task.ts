import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { forbidden, HttpError, notFound, unavailable } from "@/lib/http/errors.ts";
import { namesType } from "@/lib/http/header_values.ts";
import { type Operation, publicOperation } from "@/lib/http/operation.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { objectKey, wellFormed } from "@/lib/s3/objects.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { SHORT_LIFETIME, type Task } from "@/lib/tasks/task.ts";
import { openCaller, readableProgress } from "@/lib/tasks/task_keys.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { planArchive, ZIP_TASK, type ZipProgress } from "@/lib/tasks/zip/zip_task.ts";
import { checkTicket, issueTicket, ZipDownloads } from "@/lib/tasks/zip/zip_download.ts";
import { codeMembers, failureOrCancel, iso, timesOf } from "@/lib/tasks/task_responses.ts";
import { bucketParams, type GatewayOperation, keyDetails, MAX_KEYS_BODY_BYTES } from "./operation.ts";
import { EVENTS_DESCRIPTION, OTHER_VERSION, pollResponse, taskParams, type TaskRoutes, TASKS_TAG } from "./tasks.ts";

const PATH = "/api/v1/buckets/{bucket}/objects/download";
const RETRY_AFTER_SECONDS = 2;

const zipRequest = z.object({
  keys: z.array(objectKey).nullish().meta({ examples: [["2026/a.txt", "2026/b.txt"]] }),
  prefix: wellFormed.nullish().meta({ description: "Key prefix; `keys` are then ignored" }),
}).meta({ id: "ZipRequest" });

const time = z.string().meta({ format: "date-time" });
const zipStatus = z.object({
  task_id: z.string(),
  status: z.enum(["processing", "ready", "failed"]),
  total: z.int().meta({ description: "Objects of the archive" }),
  completed: z.int().meta({ description: "Objects looked up so far" }),
  failed: z.int().meta({ description: "Objects that will be missing" }),
  failed_keys: z.array(z.string()).meta({ description: "First keys of missing objects, once the archive is ready" }),
  error: z.string().nullable(),
  ...codeMembers,
  bytes: z.int().nullable().meta({ description: "Length of the archive so far" }),
  download_url: z.string().meta({ description: "Path that downloads the archive without other credentials" }),
  started_at: time,
  updated_at: time,
  ended_at: time.nullable(),
  estimated_end: time.nullable(),
}).meta({ id: "ZipStatus" });

const zipFailed = z.object({
  detail: z.object({
    status: z.literal("failed"),
    error: z.string().nullable(),
    ...codeMembers,
    failed_keys: z.array(z.string()),
  }),
}).meta({ id: "ZipFailed" });

const failed = { description: "The task failed", schema: zipFailed };
const notReady = {
  description: "Too many downloads at a time, or the archive is not ready; retry after `Retry-After`",
};
const archive = {
  200: { description: "The ZIP archive", mediaType: "application/zip" },
  404: { description: "No such task" },
  500: failed,
  503: notReady,
};

interface ZipOperationDeps extends TaskRoutes {
  /** ms since 1970 */
  readonly now: () => number;
  /** Takes a slot for a request without other credentials than a ticket. @throws HttpError 503 */
  readonly admit: (context: RequestContext) => void;
}

/** Archives of many objects: started, polled, downloaded. Nothing of an archive is stored. */
export function zipOperations(operation: GatewayOperation, routes: ZipOperationDeps): Operation[] {
  const { s3, tasks, now, admit } = routes;
  const downloads = new ZipDownloads(s3, tasks.store, tasks.reads);
  const query = z.object({ ticket: z.string().min(1).meta({ description: "Ticket from `download_url`" }) });
  type TicketInput = { readonly params: z.output<typeof taskParams>; readonly query: z.output<typeof query> };
  const file = {
    path: `${PATH}/{task_id}/file`,
    tag: TASKS_TAG,
    params: taskParams,
    query,
    async handler({ params: { bucket, task_id }, query: { ticket } }: TicketInput, context: RequestContext) {
      return await downloads.respond(await ticketTask(tasks, { bucket, id: task_id, ticket, now: now() }), context);
    },
  } as const;
  return [
    operation({
      id: "start_zip",
      method: "POST",
      path: PATH,
      tag: TASKS_TAG,
      summary: "Prepare a ZIP archive of many objects",
      description:
        "Takes keys or a prefix, at most 50,000 objects. The archive is produced while it is downloaded, from this task or " +
        "`download_url`, until 10 minutes after it was ready or last downloaded.",
      params: bucketParams,
      body: { kind: "json", schema: zipRequest, limitBytes: MAX_KEYS_BODY_BYTES },
      responses: {
        202: { description: "Started", schema: zipStatus },
        400: { description: "No objects, or too many" },
        404: { description: "No such bucket" },
        429: { description: "Too many unfinished tasks; retry after `Retry-After`" },
      },
      audit: {
        action: "task_start",
        target: ({ params: { bucket }, body: { prefix } }) => ({
          kind: "objects",
          bucket,
          ...(typeof prefix === "string" ? { prefix } : {}),
        }),
        details: ({ body: { keys } }) => ({ task: "zip", ...keyDetails(keys ?? []) }),
      },
      async handler({ caller, params: { bucket }, body }, context) {
        const plan = await planArchive(s3, caller, bucket, body);
        const id = await tasks.create(ZIP_TASK, { caller, bucket, ...plan });
        context.noted = { task_id: id };
        const { task, progress } = await tasks.find(ZIP_TASK, bucket, id, caller);
        return Response.json({ ...statusOf(task, progress, tasks), status: "processing" }, { status: 202 });
      },
    }),
    operation({
      id: "poll_zip",
      method: "GET",
      path: `${PATH}/{task_id}`,
      tag: TASKS_TAG,
      summary: "Get the progress of an archive, or download it",
      description:
        "Returns JSON while the archive is prepared, then the archive, unless `Accept` names `application/json`. An " +
        "archive has no Content-Length; `X-Zip-Size` is its length unless objects change. " +
        `${EVENTS_DESCRIPTION}.`,
      params: taskParams,
      responses: {
        ...archive,
        200: { description: "Progress, or the archive as `application/zip`", schema: zipStatus },
        410: OTHER_VERSION,
      },
      handler: ({ caller, params }, context) =>
        pollResponse(routes, context, {
          type: ZIP_TASK,
          caller,
          params,
          bodyOf: (task, progress) => statusOf(task, progress, tasks),
          respond({ task, progress, body }) {
            mustNotHaveFailed(task, progress);
            // Only a client that names JSON is shown a ready archive as such.
            const isArchive = task.state === "ready" && !namesType(context.header("Accept"), "application/json");
            return isArchive ? downloads.respond({ task, progress, caller }, context) : Response.json(body);
          },
        }),
    }),
    publicOperation({
      ...file,
      id: "download_zip",
      method: "GET",
      summary: "Download an archive with a ticket",
      description: "Requires no token. `download_url` of the task is the complete path with its ticket.",
      responses: { ...archive, 403: { description: "Invalid or expired ticket" } },
    }, admit),
    publicOperation({
      ...file,
      id: "head_zip",
      method: "HEAD",
      summary: "Get the headers of an archive with a ticket",
      responses: {
        200: { description: "The archive is ready" },
        403: { description: "Invalid or expired ticket" },
        404: { description: "No such task" },
        500: { description: "The task failed" },
        503: notReady,
      },
    }, admit),
  ];
}

/** @throws HttpError 403 for the ticket, 404 for the task, 500 where it failed, 503 while it is prepared */
async function ticketTask(
  tasks: TaskRunner,
  { bucket, id, ticket, now }: {
    readonly bucket: string;
    readonly id: string;
    readonly ticket: string;
    readonly now: number;
  },
): Promise<{ readonly task: Task; readonly progress: ZipProgress; readonly caller: Caller }> {
  const verdict = checkTicket(ticket, id, now, tasks.keys);
  if (verdict === "wrong") throw forbidden("The link of the archive is not valid: copy it whole");
  if (verdict === "expired") throw forbidden("The link of the archive has expired: start the archive again");
  const task = await tasks.store.get(id);
  const progress = task && readableProgress(ZIP_TASK, task, tasks.keys);
  if (!task || !progress || task.kind !== ZIP_TASK.kind || task.bucket !== bucket) throw notFound("Task");
  mustNotHaveFailed(task, progress);
  if (task.state === "running") throw unavailable("The archive is not ready yet", RETRY_AFTER_SECONDS);
  const opened = task.sealedCaller && openCaller(task.sealedCaller, task, tasks.keys);
  if (!opened) throw notFound("Task");
  return { task, progress, caller: opened.caller };
}

/** A failed archive is an error response to its polls (wire facts, Background tasks). @throws HttpError 500 */
function mustNotHaveFailed(task: Task, { failedKeys }: ZipProgress): void {
  if (task.state !== "failed" && task.state !== "canceled") return;
  throw new HttpError(500, { status: "failed", error: null, ...failureOrCancel(task), failed_keys: failedKeys });
}

function statusOf(task: Task, progress: ZipProgress, { keys }: TaskRunner): z.output<typeof zipStatus> {
  const { id, bucket, state, createdAt, updatedAt } = task;
  const { total, completed, failedKeys, plan } = progress;
  const isRunning = state === "running";
  const rest = completed > 0 ? (updatedAt - createdAt) * (total - completed) / completed : null;
  const file = `${PATH.replace("{bucket}", encodeRfc3986(bucket))}/${id}/file`;
  return {
    task_id: id,
    status: isRunning ? "processing" : state === "ready" ? "ready" : "failed",
    total,
    completed,
    failed: plan.missing,
    failed_keys: isRunning ? [] : failedKeys,
    error: null,
    ...failureOrCancel(task),
    bytes: plan.bytes + plan.centralBytes,
    // No download prolongs the task for longer.
    download_url: `${file}?ticket=${issueTicket(id, createdAt + SHORT_LIFETIME.maxRunMs, keys)}`,
    ...timesOf(task),
    estimated_end: isRunning && rest !== null ? iso(updatedAt + rest) : null,
  };
}
