import { z } from "zod";
import { bucketName, objectKey, wellFormed } from "@/lib/s3/name_schemas.ts";
import { PROOFS } from "@/lib/tasks/fixity/claims.ts";
import { bagView, damageOf, type FixityProgress, fixityTotals, manifestView } from "@/lib/tasks/fixity/fixity.ts";
import { codedOrNull, codeMembers } from "@/lib/tasks/coded_members.ts";
import { reportRow } from "@/lib/tasks/fixity/report_row.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { TaskView } from "@/lib/tasks/task_events.ts";
import { failureMembers } from "@/lib/tasks/task_error.ts";
import { taskTimes, timesOf } from "@/lib/tasks/task_times.ts";

export const STATUS = { running: "processing", ready: "done", failed: "failed", canceled: "canceled" } as const;
/** Slowest reading that can be asked for, bytes per second: below it, stores take a connection for dead. */
const MIN_RATE = 65_536;

/** What a check is asked for. */
export const fixityStart = z.object({
  prefix: wellFormed.default("").meta({ description: "Empty: the whole bucket", examples: ["2026/"] }),
  rate: z.int().min(MIN_RATE).nullish().meta({
    description: "Bytes per second of this check; `FIXITY_RATE` bounds all of a process together",
  }),
  all_versions: z.boolean().default(false).meta({ description: "Reads older versions too" }),
  full: z.boolean().default(false).meta({ description: "Rows for objects that are intact too, up to 500,000" }),
  manifest: objectKey.nullish().meta({
    description: "Key of a manifest that is compared: of BagIt, or as sha256sum and its kin write them",
    examples: ["2026/manifest-sha256.txt"],
  }),
  manifest_bucket: bucketName.nullish().meta({ description: "Its bucket; this one when absent" }),
  manifest_root: wellFormed.nullish().meta({
    description: "The prefix below which its paths lie; the folder of its key when absent",
  }),
  bag: z.boolean().default(false).meta({
    description: "The prefix is a bag of BagIt: all its manifests and its Payload-Oxum are compared",
  }),
  baseline: z.uuid().nullish().meta({
    description: "An earlier check of this bucket with `full`, whose SHA-256s are compared",
  }),
  write: z.enum(["manifest", "bag"]).nullish().meta({
    description:
      "Writes `manifest-sha256.txt` into the folder of the prefix where nothing is damaged; `bag`: and makes " +
      "the prefix a bag of BagIt",
  }),
  overwrite: z.boolean().default(false).meta({ description: "Whether `write` may replace objects with other bytes" }),
  report_to: objectKey.nullish().meta({
    description: "A prefix in this bucket below which the report is written, as JSON and CSV",
    examples: ["reports/"],
  }),
  etags: z.enum(["compare", "ignore"]).default("compare").meta({
    description: "`ignore` for stores whose ETags are no MD5s although they look like them",
  }),
}).meta({ id: "FixityStart" });

const count = z.int().min(0);
const manifest = z.object({
  bucket: z.string().nullable(),
  keys: z.array(z.string()),
  root: z.string(),
  entries: count.nullable().meta({ description: "Null until they have been read" }),
  invalid_lines: count,
}).meta({ id: "FixityManifest" });
const codeList = z.array(codedOrNull);
const bag = z.object({
  valid: z.boolean().nullable().meta({ description: "Null until the end" }),
  problems: z.array(z.string()).meta({ description: "What is wrong besides what the rows say" }),
  problem_codes: codeList.meta({ description: "Codes of the problems, in their order" }),
}).meta({ id: "FixityBag" });

/** What progress and report have in common. */
const shared = {
  all_versions: z.boolean(),
  full: z.boolean(),
  etags: z.enum(["md5", "other", "ignored"]).nullable().meta({
    description: "What the ETags of the store turned out to be. `other`: those that differ prove nothing",
  }),
  manifest: manifest.nullable().meta({ description: "The manifests that are compared" }),
  bag: bag.nullable(),
  baseline: z.string().nullable().meta({ description: "The earlier check that is compared" }),
  schedule: z.string().nullable().meta({ description: "Name of the schedule that asked for it" }),
};

export const fixityStatus = z.object({
  task_id: z.string(),
  status: z.enum(["processing", "done", "canceled", "failed"]),
  prefix: z.string(),
  ...shared,
  files: count.meta({ description: "Objects read so far" }),
  bytes: z.number().meta({ description: "Their bytes" }),
  bytes_under_way: z.number().meta({ description: "Bytes of objects that are being read" }),
  damaged: count.meta({ description: "`changed`, `missing` and `unreadable` together" }),
  ...fixityTotals.shape,
  proved_by: z.object(Object.fromEntries(PROOFS.map((proof) => [proof, count]))).meta({
    description: "Intact objects by what their bytes were compared with",
  }),
  rate: z.number().meta({ description: "Bytes per second so far" }),
  rate_limit: z.int().nullable().meta({ description: "As asked for" }),
  rows: count.meta({ description: "Rows of the report so far" }),
  rows_left_out: count.meta({ description: "Rows beyond the bounds, which are counted only" }),
  written: z.array(z.object({ key: z.string(), size: z.int(), sha256: z.string() })).meta({
    description: "Objects that the check has written",
  }),
  write_error: z.string().optional().meta({ description: "Why something was not written" }),
  write_error_codes: codeList.optional().meta({ description: "The codes of its sentences" }),
  ...taskTimes,
  error: z.string().optional().meta({ description: "Why it failed" }),
  ...codeMembers,
}).meta({ id: "FixityStatus" });

export const fixityReport = z.object({
  task_id: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  status: z.enum(["done", "canceled", "failed"]),
  error: z.string().optional(),
  ...codeMembers,
  started_at: z.string(),
  checked_at: z.string().nullable(),
  ...shared,
  files: count,
  bytes: z.number(),
  damaged: count,
  ...fixityTotals.shape,
  proved_by: fixityStatus.shape.proved_by,
  rows_left_out: count,
  rows: z.array(reportRow),
}).meta({ id: "FixityReport" });

/** A check as its owner sees it. */
export function fixityView(task: Task, progress: FixityProgress): TaskView {
  const { request, files, bytes, underWay, totals, provedBy, rows, workedMs, etags } = progress;
  return {
    body: {
      task_id: task.id,
      status: STATUS[task.state],
      prefix: request.prefix,
      all_versions: request.allVersions,
      full: request.full,
      etags: request.etags === "ignore" ? "ignored" : etags,
      manifest: manifestView(progress),
      bag: bagView(progress),
      baseline: request.baseline,
      schedule: request.schedule,
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
      written: progress.written ?? [],
      ...progress.writeError === null
        ? {}
        : { write_error: progress.writeError, write_error_codes: progress.writeCodes ?? [] },
      ...timesOf(task),
      ...failureMembers(task.error),
    },
    isOver: task.state !== "running",
  };
}
