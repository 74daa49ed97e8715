import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { BrokenStream, guardedStream } from "@/lib/http/guarded_stream.ts";
import { contentDisposition } from "@/lib/http/header_values.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { readCountPage } from "@/lib/s3/count_page.ts";
import type { BodyReader } from "@/lib/std/byte_reader.ts";
import { damageOf, FIXITY, type FixityProgress, fixityTotals, newFixity } from "@/lib/tasks/fixity/fixity.ts";
import { PROOFS } from "@/lib/tasks/fixity/claims.ts";
import { csvReport, jsonReport } from "@/lib/tasks/fixity/report.ts";
import { reportRow } from "@/lib/tasks/fixity/report_row.ts";
import { MAX_ROWS, readRows } from "@/lib/tasks/fixity/report_rows.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { TaskView } from "@/lib/tasks/task_events.ts";
import { ownerOf } from "@/lib/tasks/task_keys.ts";
import { bucketParams, wellFormed } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";
import {
  EVENTS_DESCRIPTION,
  OTHER_VERSION,
  pollResponse,
  taskParams,
  type TaskRoutes,
  taskTimes,
  timesOf,
} from "./task_progress.ts";

const TAG = "Background tasks";
const PATH = "/api/v1/buckets/{bucket}/fixity";
const STATUS = { running: "processing", ready: "done", failed: "failed", canceled: "canceled" } as const;
/** Slowest reading that can be asked for, bytes per second: below it, stores take a connection for dead. */
const MIN_RATE = 65_536;

const start = z.object({
  prefix: wellFormed.default("").meta({ description: "Empty: the whole bucket", examples: ["2026/"] }),
  rate: z.int().min(MIN_RATE).nullish().meta({
    description: "Bytes per second of this check; `FIXITY_RATE` bounds all of a process together",
  }),
  all_versions: z.boolean().default(false).meta({ description: "Reads older versions too" }),
  full: z.boolean().default(false).meta({ description: "Rows for objects that are intact too, up to 500,000" }),
}).meta({ id: "FixityStart" });

const count = z.int().min(0);
const status = z.object({
  task_id: z.string(),
  status: z.enum(["processing", "done", "canceled", "failed"]),
  prefix: z.string(),
  files: count.meta({ description: "Objects read so far" }),
  bytes: z.number().meta({ description: "Their bytes" }),
  bytes_under_way: z.number().meta({ description: "Bytes of objects that are being read" }),
  damaged: count.meta({ description: "`changed` and `unreadable` together" }),
  ...fixityTotals.shape,
  proved_by: z.object(Object.fromEntries(PROOFS.map((proof) => [proof, count]))).meta({
    description: "Intact objects by what their bytes were compared with",
  }),
  rate: z.number().meta({ description: "Bytes per second so far" }),
  rate_limit: z.int().nullable().meta({ description: "As asked for" }),
  rows: count.meta({ description: "Rows of the report so far" }),
  rows_left_out: count.meta({ description: "Rows beyond the bounds, which are counted only" }),
  ...taskTimes,
  error: z.string().optional().meta({ description: "Why it failed" }),
}).meta({ id: "FixityStatus" });
const list = z.object({ tasks: z.array(status) }).meta({ id: "FixityList" });
const canceling = z.object({ task_id: z.string(), status: z.enum(["canceling", "done", "canceled", "failed"]) })
  .meta({ id: "FixityCanceling" });
const report = z.object({
  task_id: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  status: z.enum(["done", "canceled", "failed"]),
  error: z.string().optional(),
  started_at: z.string(),
  checked_at: z.string().nullable(),
  all_versions: z.boolean(),
  files: count,
  bytes: z.number(),
  damaged: count,
  ...fixityTotals.shape,
  proved_by: status.shape.proved_by,
  full: z.boolean(),
  rows_left_out: count,
  rows: z.array(reportRow),
}).meta({ id: "FixityReport" });

/** Comparing the bytes of stored objects in the background. */
export function fixityOperations(operation: GatewayOperation, routes: TaskRoutes): Operation[] {
  const { s3, tasks } = routes;
  const find = async (caller: Caller, bucket: string, id: string) => {
    return await tasks.find(FIXITY, bucket, id, caller);
  };
  return [
    operation({
      id: "start_fixity",
      method: "POST",
      path: PATH,
      tag: TAG,
      summary: "Read stored objects and compare their bytes, in the background",
      description: "Each is compared with the checksum that was stored with it, or with its ETag where that is an MD5.",
      params: bucketParams,
      body: { kind: "json", schema: start },
      responses: {
        202: { description: "Started", schema: status },
        404: { description: "No such bucket" },
        429: { description: "Too many background tasks, of this user or of all" },
      },
      async handler({ caller, params: { bucket }, body }) {
        const { prefix, rate, all_versions, full } = body;
        await readCountPage(s3, caller, bucket, { prefix, delimiter: "", token: null, after: null, maxKeys: 1 });
        const progress = newFixity({
          prefix,
          rate: rate ?? null,
          allVersions: all_versions,
          full,
        }, Date.now());
        const id = await tasks.create(FIXITY, { caller, bucket, progress });
        const found = await tasks.find(FIXITY, bucket, id, caller);
        return Response.json(viewOf(found.task, found.progress).body, { status: 202 });
      },
    }),
    operation({
      id: "list_fixity",
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "The fixity tasks of the caller in a bucket, the newest first",
      description: "At most 100 of them, unfinished ones too.",
      params: bucketParams,
      responses: { 200: { description: "Their progress and totals", schema: list } },
      async handler({ caller, params: { bucket } }) {
        await caller.prove?.();
        const found = await tasks.list(FIXITY, bucket, ownerOf(caller, tasks.keys));
        return Response.json({ tasks: found.map(({ task, progress }) => viewOf(task, progress).body) });
      },
    }),
    operation({
      id: "get_fixity",
      method: "GET",
      path: `${PATH}/{task_id}`,
      tag: TAG,
      summary: "The progress or the totals of a fixity task",
      description: `They can be read for 400 days after the end, of the last 20 tasks. ${EVENTS_DESCRIPTION}.`,
      params: taskParams,
      responses: {
        200: { description: "How far it is, and how it ended", schema: status },
        404: { description: "No such fixity task of this user in this bucket" },
        410: OTHER_VERSION,
      },
      handler({ caller, params: { bucket, task_id } }, context) {
        const view = async (): Promise<TaskView> => {
          const { task, progress } = await find(caller, bucket, task_id);
          return viewOf(task, progress);
        };
        return pollResponse(routes, caller, context, view, ({ body }) => Response.json(body));
      },
    }),
    operation({
      id: "get_fixity_report",
      method: "GET",
      path: `${PATH}/{task_id}/report`,
      tag: TAG,
      summary: "The report of a fixity task that has ended",
      description:
        `Rows of what is not intact, up to ${MAX_ROWS.toLocaleString("en")}; with \`full\`, of all. They are ` +
        "kept for 30 days.",
      params: taskParams,
      query: z.object({
        format: z.enum(["json", "csv"]).optional().meta({ description: "As `Accept` says when absent, else JSON" }),
      }),
      responses: {
        200: { description: "The report; as `text/csv` its rows alone", schema: report },
        404: { description: "No such fixity task of this user in this bucket" },
        409: { description: "It has not ended" },
        410: { description: "Its rows are gone, or it was started by another version of the gateway" },
      },
      async handler({ caller, params: { bucket, task_id }, query: { format } }, context) {
        await caller.prove?.();
        const { task, progress } = await find(caller, bucket, task_id);
        if (task.state === "running") throw new HttpError(409, "The fixity task has not ended yet: its report follows");
        const asCsv = (format ?? (acceptsCsv(context) ? "csv" : "json")) === "csv";
        const rows = readRows(progress.rows, (names) => tasks.store.readBlobs(task_id, names));
        const subject = { id: task_id, bucket, status: STATUS[task.state], error: task.error, progress };
        return await reportResponse(asCsv ? csvReport(rows) : jsonReport(subject, rows), asCsv, task_id, context);
      },
    }),
    operation({
      id: "cancel_fixity",
      method: "DELETE",
      path: `${PATH}/{task_id}`,
      tag: TAG,
      summary: "Cancel a fixity task",
      description: "It ends soon. Its report says what was read by then.",
      params: taskParams,
      responses: {
        200: { description: "It ends soon, or how it ended before", schema: canceling },
        404: { description: "No such fixity task of this user in this bucket" },
        410: OTHER_VERSION,
      },
      async handler({ caller, params: { bucket, task_id } }) {
        await caller.prove?.();
        const { task: { state } } = await tasks.find(FIXITY, bucket, task_id, caller);
        if (state === "running") await tasks.cancel(task_id);
        return Response.json({ task_id, status: state === "running" ? "canceling" : STATUS[state] });
      },
    }),
  ];
}

function viewOf(task: Task, progress: FixityProgress): TaskView {
  const { request, files, bytes, underWay, totals, provedBy, rows, workedMs } = progress;
  return {
    body: {
      task_id: task.id,
      status: STATUS[task.state],
      prefix: request.prefix,
      files,
      bytes,
      bytes_under_way: task.state === "running" ? underWay : 0,
      damaged: damageOf(totals),
      ...totals,
      proved_by: provedBy,
      rate: workedMs > 0 ? Math.round(bytes / workedMs * 1000) : 0,
      rate_limit: request.rate,
      rows: rows.count,
      rows_left_out: rows.leftOut,
      ...timesOf(task),
      ...task.error === null ? {} : { error: task.error },
    },
    isOver: task.state !== "running",
  };
}

/** Whether a client names CSV. */
function acceptsCsv(context: RequestContext): boolean {
  return /(?:^|,)\s*text\/csv\s*(?:;|,|$)/i.test(context.header("Accept") ?? "");
}

/** @throws HttpError 410 where the first rows are gone */
async function reportResponse(
  chunks: AsyncGenerator<string>,
  asCsv: boolean,
  id: string,
  context: RequestContext,
): Promise<Response> {
  const encoder = new TextEncoder();
  const next = async () => {
    const { done, value } = await chunks.next();
    return done ? null : encoder.encode(value);
  };
  // What is wrong with the rows shows with the first of them, while a status can still say so.
  const ahead = [await next(), await next()];
  const reader: BodyReader = {
    async read() {
      for (;;) {
        const chunk = ahead.length > 0 ? ahead.shift() ?? null : await next();
        if (chunk === null || chunk.length > 0) return chunk;
      }
    },
    cancel: () => void chunks.return(undefined),
  };
  const body = guardedStream(reader, {
    broken: () => new BrokenStream("BrokenReport", "the report of a fixity task broke off"),
    unread: () => context.info?.breakOff?.(),
  });
  const type = asCsv ? "csv" : "json";
  return new Response(body, {
    headers: {
      "Content-Type": asCsv ? "text/csv; charset=utf-8" : "application/json",
      "Content-Disposition": contentDisposition("attachment", `fixity-${id}.${type}`),
      "Cache-Control": "private, no-cache",
      Vary: "Accept",
    },
  });
}
