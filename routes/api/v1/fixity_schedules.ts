import { HttpError } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { isAdministrator } from "@/lib/mapi/administrators.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import { fixityBody, fixitySchedules, type ListedSchedules } from "@/lib/tasks/fixity/responses.ts";
import type { FixitySchedules, ScheduleView } from "@/lib/tasks/fixity/schedules.ts";
import type { GatewayOperation } from "./operation.ts";
import { TASKS_TAG } from "./task_progress.ts";
import { failureMembers, iso } from "@/lib/tasks/task_responses.ts";

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
