import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { contentDisposition, namesType } from "@/lib/http/header_values.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { streamedText } from "@/lib/http/upstream.ts";
import { folderOf } from "@/lib/tasks/fixity/find_manifests.ts";
import { FIXITY, hasAllRows } from "@/lib/tasks/fixity/fixity.ts";
import { csvReport, jsonReport, manifestReport, MAX_ROWS, readRows } from "@/lib/tasks/fixity/report.ts";
import {
  fixityBody,
  fixityReport,
  fixitySchedules,
  fixityStatus,
  type ListedSchedules,
  reportHead,
} from "@/lib/tasks/fixity/responses.ts";
import { fixityOrder, startFixity } from "@/lib/tasks/fixity/start_fixity.ts";
import { ownerOf } from "@/lib/tasks/task_keys.ts";
import { isAdministrator } from "@/lib/mapi/administrators.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import type { FixitySchedules, ScheduleView } from "@/lib/tasks/fixity/schedules.ts";
import { failureMembers, iso } from "@/lib/tasks/task_responses.ts";
import { bucketParams, type GatewayOperation } from "./operation.ts";
import { followOperations, taskParams, type TaskRoutes, TASKS_TAG } from "./tasks.ts";

const PATH = "/api/v1/buckets/{bucket}/fixity";
const list = z.object({ tasks: z.array(fixityStatus) }).meta({ id: "FixityList" });

/** Comparing the bytes of stored objects in the background. */
export function fixityOperations(operation: GatewayOperation, routes: TaskRoutes): Operation[] {
  const { s3, tasks } = routes;
  return [
    operation({
      id: "start_fixity",
      method: "POST",
      path: PATH,
      tag: TASKS_TAG,
      summary: "Start a fixity check in the background",
      description:
        "Reads objects and compares them with a manifest if one is given, else with their stored checksum, or with an " +
        "ETag that is an MD5.",
      params: bucketParams,
      body: { kind: "json", schema: fixityOrder },
      responses: {
        202: { description: "Started", schema: fixityStatus },
        400: { description: "Invalid option; `write` and `overwrite` are not supported" },
        404: { description: "No such bucket" },
        429: { description: "Too many unfinished tasks; retry after `Retry-After`" },
      },
      audit: {
        action: "task_start",
        target: ({ params: { bucket }, body: { prefix } }) => ({ kind: "objects", bucket, prefix }),
        details: () => ({ task: "fixity" }),
      },
      async handler({ caller, params: { bucket }, body }, context) {
        const id = await startFixity({ s3, tasks }, caller, bucket, body);
        context.noted = { task_id: id };
        const found = await tasks.find(FIXITY, bucket, id, caller);
        return Response.json(fixityBody(found.task, found.progress), { status: 202 });
      },
    }),
    operation({
      id: "list_fixity",
      method: "GET",
      path: PATH,
      tag: TASKS_TAG,
      summary: "List the caller's fixity checks in a bucket, newest first",
      description: "Returns at most 100, including unfinished ones.",
      params: bucketParams,
      responses: { 200: { description: "The fixity checks", schema: list } },
      async handler({ caller, params: { bucket } }) {
        await caller.prove?.();
        const found = await tasks.list(FIXITY, bucket, ownerOf(caller, tasks.keys));
        return Response.json({ tasks: found.map(({ task, progress }) => fixityBody(task, progress)) });
      },
    }),
    ...followOperations(operation, routes, {
      type: FIXITY,
      path: PATH,
      noun: "fixity task",
      schema: fixityStatus,
      availability: "for 400 days after the end, of the last 20 tasks",
      cancel: {
        method: "DELETE",
        description: "The report contains the objects checked so far.",
        name: "Fixity",
      },
      bodyOf: fixityBody,
    }),
    operation({
      id: "get_fixity_report",
      method: "GET",
      path: `${PATH}/{task_id}/report`,
      tag: TASKS_TAG,
      summary: "Get the report of a fixity check",
      description: `Has a row for each object that is not intact, up to ${ROWS}; with \`full\`, for each object. ` +
        "Available for 30 days after the end.",
      params: taskParams,
      query: z.object({
        format: z.enum(["json", "csv", "manifest-sha256"]).optional().meta({
          description: "Default: the type that `Accept` asks for, else JSON. `manifest-sha256` is a BagIt manifest",
        }),
      }),
      responses: {
        200: { description: "The report; as `text/csv` only its rows", schema: fixityReport },
        404: { description: "No such fixity task of this caller in this bucket" },
        409: { description: "The check has not ended, or has no complete SHA-256s for a manifest" },
        410: { description: "The rows have expired, or the task belongs to another version of the gateway" },
      },
      async handler({ caller, params: { bucket, task_id }, query: { format } }, context) {
        await caller.prove?.();
        const { task, progress } = await tasks.find(FIXITY, bucket, task_id, caller);
        if (task.state === "running") throw new HttpError(409, "The fixity task has not ended yet: its report follows");
        const chosen = format ?? (namesType(context.header("Accept"), "text/csv") ? "csv" : "json");
        if (chosen === "manifest-sha256" && !hasAllRows(progress)) throw new HttpError(409, NO_MANIFEST);
        const rows = () => readRows(progress.rows, (names) => tasks.store.readBlobs(task_id, names));
        const { type, extension, textOf } = {
          json: {
            type: "application/json",
            extension: ".json",
            textOf: () => jsonReport(reportHead(task, progress), rows()),
          },
          csv: { type: "text/csv; charset=utf-8", extension: ".csv", textOf: () => csvReport(rows()) },
          "manifest-sha256": {
            type: "text/plain; charset=utf-8",
            extension: "-manifest-sha256.txt",
            textOf: () => manifestReport(folderOf(progress.request.prefix), rows),
          },
        }[chosen];
        return new Response(await streamedText(textOf(), "the report of a fixity task", context), {
          headers: {
            "Content-Type": type,
            "Content-Disposition": contentDisposition("attachment", `fixity-${task_id}${extension}`),
            "Cache-Control": "private, no-cache",
            Vary: "Accept",
          },
        });
      },
    }),
  ];
}

const ROWS = MAX_ROWS.toLocaleString("en");
const NO_MANIFEST =
  "The report does not have all objects: a manifest needs one of a check with full that came to its end";

interface ScheduleRoutes {
  /** Null where none are configured. */
  readonly schedules: FixitySchedules | null;
  /** Null where the store has no management API. */
  readonly mapi: Mapi | null;
  readonly warn: (message: string) => void;
}

/** The fixity checks that run at times of their own. */
export function fixityScheduleOperations(
  operation: GatewayOperation,
  { schedules, mapi, warn }: ScheduleRoutes,
): Operation[] {
  return [
    operation({
      id: "list_fixity_schedules",
      method: "GET",
      path: "/api/v1/fixity/schedules",
      tag: TASKS_TAG,
      summary: "List schedules of fixity checks",
      description:
        "Returns the schedules of `FIXITY_SCHEDULES_FILE` that use the caller's login. Accounts with the role " +
        "ADMINISTRATOR or SECURITY also see those of their tenant, or all at the system level.",
      responses: { 200: { description: "The schedules, in the order of the file", schema: fixitySchedules } },
      async handler({ caller }) {
        const administers = async () => mapi !== null && await isAdministrator(mapi, caller);
        // At the system level there are no objects by which the store could accept a login.
        const isSystem = caller.tenant === null && await administers();
        if (!isSystem) await caller.prove?.();
        let partial = false;
        const seesOthers = async () => {
          try {
            return isSystem || await administers();
          } catch (error) {
            // The caller's own schedules need no management API.
            if (!(error instanceof HttpError) || error.status < 500) throw error;
            warn(`fixity schedules of other accounts are not listed: ${error.message}`);
            partial = true;
            return false;
          }
        };
        const views = await schedules?.list(caller, seesOthers) ?? [];
        return Response.json({ schedules: views.map(bodyOf), partial });
      },
    }),
  ];
}

function lastOf({ task, progress }: NonNullable<ScheduleView["last"]>, due: number) {
  const { task_id, status, started_at, ended_at, files, bytes, damaged, ...rest } = fixityBody(task, progress);
  const { error, code, params } = rest;
  return { task_id, due_at: iso(due), status, started_at, ended_at, files, bytes, damaged, error, code, params };
}

function bodyOf({ schedule, account, isOwn, nextAt, note, last }: ScheduleView): ListedSchedules["schedules"][number] {
  const { name, bucket, prefix, cron, time_zone } = schedule;
  const succeededAt = note?.succeededAt ?? null;
  return {
    name,
    account,
    own: isOwn,
    bucket,
    prefix,
    cron,
    time_zone,
    next_at: nextAt === null ? null : iso(nextAt),
    last: last && note && lastOf(last, note.due),
    last_end_at: succeededAt === null ? null : iso(succeededAt),
    error: null,
    ...failureMembers(note?.error ?? null),
  };
}
