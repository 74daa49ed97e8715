import type { Config } from "@/lib/config/mod.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { plainLine } from "@/lib/operations/notifications/event.ts";
import { storedSecret } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { errorReason } from "@/lib/std/text.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import type { TaskStore, TaskSummary } from "@/lib/tasks/task.ts";
import { deploymentOf } from "@/lib/tasks/task_keys.ts";
import { openRedisTasks, TASKS_FILE } from "./tasks.ts";

const MAX_CELL = 80;
const MAX_MESSAGE = 300;
const USAGE = "Usage: main.ts tasks, or main.ts tasks cancel ID";

/**
 * The operator's command, also beside the server that works on the tasks: lists those that count for the limits, or cancels
 * one. The server notices a cancellation within seconds, or at its next start.
 *
 * @param say called with each line
 * @returns whether it did what was asked
 * @throws {DataFolderError} where no tasks are stored outside of a server
 */
export async function operatorTasks(
  config: Config,
  action: string,
  id: string | null,
  say: (line: string) => void,
): Promise<boolean> {
  const isCancel = action === "cancel" && id !== null;
  if (!isCancel && (action !== "" || id !== null)) {
    say(USAGE);
    return false;
  }
  const store = await openBeside(config, say);
  try {
    const found = await store.summaries(null);
    if (!isCancel) {
      for (const line of table(found)) say(line);
      return true;
    }
    const task = found.find((task) => task.id === id);
    if (!task) {
      say(`No unfinished task or archive has the id ${plainLine(id, MAX_CELL)}`);
      return false;
    }
    await store.cancel(task.id);
    say(`${task.id} is cancelled: it ends within seconds where a server works on it, else at the next start`);
    return true;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    say(plainLine(error.message, MAX_MESSAGE));
    return false;
  } finally {
    await store.close();
  }
}

async function openBeside(config: Config, warn: (line: string) => void): Promise<TaskStore> {
  const { redisUrl, gateway, dataFolder } = config;
  if (redisUrl !== null) {
    const secret = gateway?.tokenKey ?? storedSecret(dataFolder, "token-key");
    if (secret === null) throw new DataFolderError("API_SECRET_KEY: not set, so the tasks in Redis cannot be found.");
    const deployment = deploymentOf(new TextEncoder().encode(secret));
    const { store } = await openRedisTasks(config, redisUrl, deployment, warn);
    return store;
  }
  const path = `${dataFolder}/${TASKS_FILE}`;
  try {
    Deno.statSync(path);
    return new SqliteTaskStore(path, Date.now, { isBeside: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new DataFolderError(
        `There is no ${path}. Without an embedded part and without REDIS_URL the tasks are in the server's memory.`,
      );
    }
    throw new DataFolderError(`The file ${path} cannot be used (${errorReason(error)}).`);
  }
}

/** Columns that are as wide as what is in them. */
function table(tasks: readonly TaskSummary[]): string[] {
  if (tasks.length === 0) return ["No unfinished tasks, and no archives"];
  const rows = tasks.map(({ id, kind, state, isCanceling, tenant, account, bucket, createdAt }) =>
    [
      id,
      kind,
      isCanceling ? "canceling" : state,
      tenant ?? "-",
      account ?? "-",
      bucket,
      new Date(createdAt).toISOString(),
    ].map((cell) => plainLine(cell, MAX_CELL))
  );
  const all = [["ID", "KIND", "STATE", "TENANT", "ACCOUNT", "BUCKET", "STARTED"], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd());
}
