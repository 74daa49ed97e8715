import type { GatewayConfig } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/data_folder_error.ts";
import { SqliteTaskStore } from "@/lib/tasks/sqlite_task_store.ts";
import { PROCESS_CLOCK, steadyTime } from "@/lib/tasks/task_clock.ts";
import { taskKeys } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import type { TaskStore } from "@/lib/tasks/task_store.ts";

/** Their file in the data folder. */
const TASKS_FILE = "tasks.db";

interface TaskRunnerParts {
  /** The secret that signs tokens. */
  readonly secret: Uint8Array;
  /** Null without an embedded part: then tasks end with the process. */
  readonly folder: DataFolder | null;
  readonly log: RequestLog;
}

/** What works on background tasks in this process; it has not begun yet. */
export function taskRunner({ maxTasksPerUser, maxTasks }: GatewayConfig, parts: TaskRunnerParts): TaskRunner {
  return new TaskRunner({
    store: taskStore(parts.folder),
    keys: taskKeys(parts.secret),
    handlers: [],
    bounds: { maxPerOwner: maxTasksPerUser, max: maxTasks },
    clock: PROCESS_CLOCK,
    log: parts.log,
  });
}

/**
 * Tasks in the data folder, or in memory. A damaged file is replaced by an empty one: tasks are short-lived, and can be
 * started again.
 *
 * @throws {DataFolderError} when there can be no such file
 */
function taskStore(folder: DataFolder | null): TaskStore {
  if (!folder) return new SqliteTaskStore(":memory:", steadyTime());
  const path = `${folder.path}/${TASKS_FILE}`;
  try {
    return new SqliteTaskStore(path, steadyTime());
  } catch {
    try {
      for (const suffix of ["", "-wal", "-shm"]) removeIfThere(path + suffix);
      return new SqliteTaskStore(path, steadyTime());
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown reason";
      throw new DataFolderError(`The file ${path} cannot be used (${reason}): make the data folder writable.`);
    }
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
