import { z } from "zod";
import {
  codedOrNull,
  codeMembers,
  failureMembers,
  iso,
  TASK_STATUS,
  taskTimes,
  timesOf,
} from "@/lib/tasks/task_responses.ts";
import type { Task } from "@/lib/tasks/task.ts";
import { bagView, byProof, damageOf, type FixityProgress, fixityTotals, manifestView } from "./fixity.ts";
import { reportRow } from "./report.ts";

const count = z.int().min(0);
const codeList = z.array(codedOrNull);
const manifest = z.object({
  bucket: z.string().nullable(),
  keys: z.array(z.string()),
  root: z.string(),
  entries: count.nullable().meta({ description: "Null until the manifests have been read" }),
  invalid_lines: count,
}).meta({ id: "FixityManifest" });
const bag = z.object({
  valid: z.boolean().nullable().meta({ description: "Null until the check has ended" }),
  problems: z.array(z.string()).meta({ description: "Problems besides those in the rows" }),
  problem_codes: codeList.meta({ description: "Codes of the problems, in their order" }),
}).meta({ id: "FixityBag" });

/** Members of progress and report. */
const shared = {
  task_id: z.string(),
  prefix: z.string(),
  all_versions: z.boolean(),
  full: z.boolean(),
  etags: z.enum(["md5", "other", "ignored"]).nullable().meta({
    description: "Kind of the store's ETags. `other`: a difference does not prove a change",
  }),
  manifest: manifest.nullable().meta({ description: "Manifests compared with" }),
  bag: bag.nullable(),
  baseline: z.string().nullable().meta({ description: "Task id of the earlier check" }),
  schedule: z.string().nullable().meta({ description: "Name of the schedule that started the check" }),
  files: count.meta({ description: "Objects read so far" }),
  bytes: z.number().meta({ description: "Bytes read so far" }),
  damaged: count.meta({ description: "`changed`, `missing` and `unreadable` together" }),
  ...fixityTotals.shape,
  proved_by: byProof.meta({ description: "Intact objects, by what they were compared with" }),
  rows_left_out: count.meta({ description: "Rows left out of the report, which has a maximum" }),
  error: z.string().optional().meta({ description: "Why the task failed" }),
  ...codeMembers,
};

export const fixityStatus = z.object({
  ...shared,
  status: z.enum(["processing", "done", "canceled", "failed"]),
  bytes_under_way: z.number().meta({ description: "Bytes of objects that are being read" }),
  rate: z.number().meta({ description: "Bytes per second so far" }),
  rate_limit: z.int().nullable().meta({ description: "Requested limit in bytes per second" }),
  rows: count.meta({ description: "Rows of the report so far" }),
  written: z.array(z.object({ key: z.string(), size: z.int(), sha256: z.string() })).meta({
    description: "Objects written by the check",
  }),
  write_error: z.string().optional().meta({ description: "Why an object was not written" }),
  write_error_codes: codeList.optional().meta({ description: "Codes of `write_error`" }),
  ...taskTimes,
}).meta({ id: "FixityStatus" });
export type FixityStatus = z.output<typeof fixityStatus>;

export const fixityReport = z.object({
  ...shared,
  bucket: z.string(),
  status: z.enum(["done", "canceled", "failed"]),
  started_at: z.string(),
  checked_at: z.string().nullable(),
  rows: z.array(reportRow),
}).meta({ id: "FixityReport" });

const schedule = z.object({
  name: z.string(),
  account: z.string().meta({ description: "Account whose login the checks use" }),
  own: z.boolean().meta({ description: "Whether it is the caller's; others cannot open its checks" }),
  bucket: z.string(),
  prefix: z.string(),
  cron: z.string(),
  time_zone: z.string(),
  next_at: z.string().nullable(),
  last: fixityStatus.pick({
    task_id: true,
    status: true,
    started_at: true,
    ended_at: true,
    files: true,
    bytes: true,
    damaged: true,
    error: true,
    code: true,
    params: true,
  }).extend({ due_at: z.string() }).nullable().meta({ description: "Last check, while its record is kept" }),
  last_end_at: z.string().nullable().meta({ description: "End of the last finished check" }),
  error: z.string().nullable().meta({ description: "Why the last check could not be started" }),
  ...codeMembers,
});
export const fixitySchedules = z.object({
  schedules: z.array(schedule),
  partial: z.boolean().meta({
    description: "Whether schedules of other accounts may be missing, since the management API did not respond",
  }),
}).meta({ id: "FixitySchedules" });
export type ListedSchedules = z.output<typeof fixitySchedules>;

/** A check that is shown. */
type ShownTask = Pick<Task, "id" | "bucket" | "state" | "error">;

function sharedOf({ id, error }: ShownTask, progress: FixityProgress) {
  const { request, files, bytes, totals, provedBy, rows } = progress;
  return {
    task_id: id,
    prefix: request.prefix,
    all_versions: request.allVersions,
    full: request.full,
    etags: request.etags === "ignore" ? "ignored" as const : progress.etags,
    manifest: manifestView(progress),
    bag: bagView(progress),
    baseline: request.baseline,
    schedule: request.schedule,
    files,
    bytes,
    damaged: damageOf(totals),
    ...totals,
    proved_by: provedBy,
    rows_left_out: rows.leftOut,
    ...failureMembers(error),
  };
}

/** A check as its owner sees it. */
export function fixityBody(task: Task, progress: FixityProgress): FixityStatus {
  const { request, bytes, underWay, rows, workedMs, writeError, writeCodes = [] } = progress;
  return {
    ...sharedOf(task, progress),
    status: TASK_STATUS[task.state],
    bytes_under_way: task.state === "running" ? underWay : 0,
    rate: workedMs > 0 ? Math.round(bytes / workedMs * 1000) : 0,
    rate_limit: request.rate,
    rows: rows.count,
    written: progress.written ?? [],
    ...writeError === null ? {} : { write_error: writeError, write_error_codes: writeCodes },
    ...timesOf(task),
  };
}

/** A report without its rows. */
export function reportHead(task: ShownTask, progress: FixityProgress) {
  const { startedAt, checkedAt } = progress;
  return {
    ...sharedOf(task, progress),
    bucket: task.bucket,
    status: TASK_STATUS[task.state],
    started_at: iso(startedAt),
    checked_at: checkedAt === null ? null : iso(checkedAt),
  };
}
