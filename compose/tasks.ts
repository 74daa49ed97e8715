import { resolveLogin } from "@/lib/auth/admission.ts";
import type { Identify } from "@/lib/auth/store_credentials.ts";
import { type Config, ConfigError, type GatewayConfig } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import type { EndedCheck } from "@/lib/operations/notifications/fixity_news.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { proveCredentials } from "@/lib/s3/probes.ts";
import { countHandler } from "@/lib/tasks/count.ts";
import { deleteHandler } from "@/lib/tasks/delete.ts";
import { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import { fixityHandler } from "@/lib/tasks/fixity/fixity_task.ts";
import type { FixitySchedules } from "@/lib/tasks/fixity/schedules.ts";
import { openTaskFile, SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";
import { deploymentOf, PROCESS_CLOCK, steadyTime, type TaskHandler, taskKeys } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { transferHandler } from "@/lib/tasks/transfer.ts";
import { zipHandler } from "@/lib/tasks/zip/zip_task.ts";
import { caCertificates, textOf } from "./shared.ts";

/** The file of tasks in the data folder; SQLite adds `-wal` and `-shm`. */
export const TASKS_FILE = "tasks.db";
/** One tenant has a quarter of all tasks, and at least so many. */
const MIN_TASKS_PER_TENANT = 20;

interface TaskRunnerParts {
  readonly store: TaskStore;
  /** The secret that signs tokens. */
  readonly secret: Uint8Array;
  readonly s3: S3;
  readonly log: RequestLog;
  readonly fixity: FixityParts;
  /** Records how tasks end; null: nothing does. */
  readonly recorder: AuditRecorder | null;
}

/**
 * Opens the store of background tasks: Redis where it is configured, else a file in the data folder, else memory.
 *
 * @param secret that signs tokens: processes with another one have other tasks
 * @param warn receives lines for the operator
 * @returns the store, and whether the server in which replicas share it replies; null where this process has it for itself
 * @throws {DataFolderError} when there can be no such file
 */
export async function openTasks(
  config: Config,
  secret: Uint8Array,
  folder: DataFolder | null,
  warn: (line: string) => void,
): Promise<{ readonly store: TaskStore; readonly isReachable: (() => Promise<boolean>) | null }> {
  const { redisUrl } = config;
  // Outages of the same server are reported by a connection of compose/replication.ts.
  if (redisUrl !== null) return await openRedisTasks(config, redisUrl, deploymentOf(secret), warn);
  return { store: openOwnTasks(folder, TASKS_FILE, warn), isReachable: null };
}

/** Opens the tasks that a process has for itself: a file in its data folder, else memory. @throws {DataFolderError} */
export function openOwnTasks(folder: DataFolder | null, file: string, warn: (line: string) => void): SqliteTaskStore {
  const now = steadyTime();
  return folder ? openTaskFile(`${folder.path}/${file}`, now, warn) : new SqliteTaskStore(":memory:", now);
}

/** Opens the tasks in Redis of the processes with one name. The connection does not report outages. */
export async function openRedisTasks(
  config: Config,
  url: string,
  deployment: string,
  warn: (line: string) => void,
) {
  // Loaded only here: most starts have no Redis.
  const { RedisClient } = await import("@/lib/state/redis_client.ts");
  const { RedisTaskStore } = await import("@/lib/state/redis_task_store.ts");
  const client = new RedisClient({ url, caCerts: caCertificates(config), warn, reportsOutages: false });
  return { store: new RedisTaskStore(client, { deployment, warn }), isReachable: () => client.isReachable() };
}

/** The runner of background tasks in this process, not started. */
export function taskRunner(
  { maxTasksPerUser, maxTasks, fixityRate }: GatewayConfig,
  parts: TaskRunnerParts,
): TaskRunner {
  return new TaskRunner({
    store: parts.store,
    keys: taskKeys(parts.secret),
    handlers: taskHandlers(parts.s3, fixityRate, parts.fixity),
    bounds: {
      maxPerOwner: maxTasksPerUser,
      maxPerTenant: Math.max(MIN_TASKS_PER_TENANT, Math.floor(maxTasks / 4)),
      max: maxTasks,
    },
    clock: PROCESS_CLOCK,
    log: parts.log,
    recorder: parts.recorder,
    prove: (caller) => proveCredentials(parts.s3, caller),
  });
}

/**
 * The handlers of all kinds of tasks.
 *
 * @param fixityRate bytes per second that fixity tasks read together; null or absent: no limit
 */
export function taskHandlers(
  s3: S3,
  fixityRate: number | null = null,
  { figures, report }: FixityParts = { figures: new FixityFigures(), report: null },
): TaskHandler<unknown>[] {
  const fixity = fixityHandler({
    s3,
    rate: fixityRate,
    clock: PROCESS_CLOCK,
    figures,
    async onEnd({ state, ...ended }) {
      if (state === "canceled" || !ended.progress) return;
      const { prefix, schedule } = ended.progress.request;
      await report?.({ ...ended, prefix, schedule });
    },
  });
  return [countHandler(s3), deleteHandler(s3), transferHandler(s3), zipHandler(s3), fixity];
}

/** Where fixity checks report to. */
export interface FixityParts {
  readonly figures: FixityFigures;
  /** Receives each ended check; null: none are reported. */
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
 * The schedules of fixity checks, not started; null if none are configured.
 *
 * @throws {ConfigError}
 */
export async function fixitySchedules(
  { fixitySchedules: source }: GatewayConfig,
  { identify, s3, tasks, log, report }: ScheduleParts,
): Promise<FixitySchedules | null> {
  if (source === null) return null;
  // Loaded only here: most starts have no schedules.
  const { FixitySchedules, parseScheduleFile, ScheduleFileError } = await import("@/lib/tasks/fixity/schedules.ts");
  try {
    return new FixitySchedules({
      schedules: parseScheduleFile(textOf(source)),
      identify,
      s3,
      tasks,
      clock: PROCESS_CLOCK,
      now: Date.now,
      log,
      async onFailure({ id, schedule: { name, bucket, prefix, login }, error }) {
        const { tenant } = resolveLogin(login);
        await report?.({ id, owner: "", tenant, bucket, prefix, schedule: name, error, progress: null });
      },
    });
  } catch (error) {
    const variable = "text" in source ? "FIXITY_SCHEDULES" : "FIXITY_SCHEDULES_FILE";
    throw new ConfigError(variable, error instanceof ScheduleFileError ? error.message : "cannot be read");
  }
}
