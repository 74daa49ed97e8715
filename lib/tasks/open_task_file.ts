import { DataFolderError } from "@/lib/std/data_folder_error.ts";
import { errorReason } from "@/lib/std/error_reason.ts";
import { removeIfExists } from "@/lib/std/optional_file.ts";
import { isDamagedFile, isFullDisk, SqliteTaskStore } from "./sqlite_task_store.ts";

/** What SQLite puts beside a file. */
const SUFFIXES = ["", "-wal", "-shm", "-journal"];

/**
 * Opens a file of background tasks, readable by its owner only. It holds nothing that a start would have to end for: a
 * damaged one is renamed and a new one begun, and on a full disk tasks are in memory until the next start.
 *
 * @param now ms since 1970, by a clock that is not set
 * @param warn receives a line for the operator
 * @throws {DataFolderError} where there can be no such file
 */
export function openTaskFile(path: string, now: () => number, warn: (line: string) => void): SqliteTaskStore {
  try {
    return open(path, now);
  } catch (error) {
    if (isFullDisk(error)) return withoutFile(path, now, warn);
    if (!isDamagedFile(error)) throw unusable(path, error);
  }
  try {
    for (const suffix of SUFFIXES) setAside(`${path}${suffix}`, `${path}.damaged${suffix}`);
    warn(`${path} was damaged: it is ${path}.damaged now, and the tasks in it are lost`);
    return open(path, now);
  } catch (error) {
    if (isFullDisk(error)) return withoutFile(path, now, warn);
    throw unusable(path, error);
  }
}

function open(path: string, now: () => number): SqliteTaskStore {
  // SQLite opens the files beside it with the same mode.
  Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
  return new SqliteTaskStore(path, now);
}

function withoutFile(path: string, now: () => number, warn: (line: string) => void): SqliteTaskStore {
  warn(`The disk of ${path} is full: its tasks are in memory until the next start`);
  return new SqliteTaskStore(":memory:", now);
}

/** Renames a file, over an earlier one, or removes what is left of the earlier one. */
function setAside(from: string, to: string): void {
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    removeIfExists(to);
  }
}

function unusable(path: string, error: unknown): DataFolderError {
  return new DataFolderError(
    `The file ${path} cannot be used (${errorReason(error)}): make it writable, or remove it.`,
  );
}
