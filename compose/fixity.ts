import { resolveLogin } from "@/lib/auth/login.ts";
import type { Identify } from "@/lib/auth/store_credentials.ts";
import { ConfigError, type GatewayConfig } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { EndedCheck } from "@/lib/notifications/fixity_news.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { bagView, type FixityFigures, type FixityProgress } from "@/lib/tasks/fixity/fixity.ts";
import type { FailedStart, FixitySchedules } from "@/lib/tasks/fixity/schedules.ts";
import { type EndedTask, PROCESS_CLOCK } from "@/lib/tasks/task_handler.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { textOf } from "./shared.ts";

/** What fixity checks report to. */
export interface FixityParts {
  readonly figures: FixityFigures;
  /** Receives each check that has ended; null: nothing is told. */
  readonly report: ((check: EndedCheck) => Promise<void>) | null;
}

interface ScheduleParts {
  readonly identify: Identify;
  readonly s3: S3;
  readonly tasks: TaskRunner;
  readonly log: RequestLog;
  readonly report: FixityParts["report"];
}

/**
 * The schedules of fixity checks, which have not begun; null where none are configured.
 *
 * @throws {ConfigError}
 */
export async function fixitySchedules(
  { fixitySchedules: source }: GatewayConfig,
  { identify, s3, tasks, log, report }: ScheduleParts,
): Promise<FixitySchedules | null> {
  if (source === null) return null;
  // Loaded only here: most starts have no schedules.
  const { parseScheduleFile, ScheduleFileError } = await import("@/lib/tasks/fixity/schedule_file.ts");
  const { FixitySchedules } = await import("@/lib/tasks/fixity/schedules.ts");
  try {
    return new FixitySchedules({
      schedules: parseScheduleFile(textOf(source)),
      identify,
      s3,
      tasks,
      clock: PROCESS_CLOCK,
      now: Date.now,
      log,
      onFailure: async (failure) => await report?.(failedCheck(failure)),
    });
  } catch (error) {
    const variable = "text" in source ? "FIXITY_SCHEDULES" : "FIXITY_SCHEDULES_FILE";
    throw new ConfigError(variable, error instanceof ScheduleFileError ? error.message : "cannot be read");
  }
}

function failedCheck({ id, schedule: { name, bucket, prefix, login }, error }: FailedStart): EndedCheck {
  return {
    id,
    owner: "",
    tenant: resolveLogin(login).tenant,
    bucket,
    prefix,
    schedule: name,
    wasStarted: false,
    error,
    files: 0,
    bytes: 0,
    changed: 0,
    missing: 0,
    unreadable: 0,
    notInManifest: 0,
    bagIsValid: null,
    writeError: null,
    endedAt: Date.now(),
  };
}

/** What is told of a check; null of one that was canceled. */
export function endedCheck(
  { id, owner, tenant, bucket, state, error, progress }: EndedTask<FixityProgress>,
): EndedCheck | null {
  if (state === "canceled" || !progress) return null;
  const { request: { prefix, schedule }, totals, files, bytes, checkedAt } = progress;
  const { changed, missing, unreadable } = totals;
  return {
    id,
    owner,
    tenant,
    bucket,
    prefix,
    schedule,
    wasStarted: true,
    error,
    files,
    bytes,
    changed,
    missing,
    unreadable,
    notInManifest: totals.not_in_manifest,
    bagIsValid: bagView(progress)?.valid ?? null,
    writeError: progress.writeError,
    endedAt: checkedAt ?? Date.now(),
  };
}
