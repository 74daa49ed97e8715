import { errorReason } from "@/lib/std/error_reason.ts";
import { removeIfExists } from "@/lib/std/optional_file.ts";
import { SqliteNotificationStore } from "./sqlite_notification_store.ts";

/**
 * Opens a file of notifications, readable by its owner only. No start ends for it: a damaged one is renamed and a new one
 * begun, and where there can be none, as on a full disk, notifications are in memory until the next start.
 *
 * @param now ms since 1970
 * @param warn receives a line for the operator
 */
export function openNotificationFile(
  path: string,
  now: () => number,
  warn: (line: string) => void,
): SqliteNotificationStore {
  try {
    return open(path, now);
  } catch (error) {
    if (!isDamaged(error)) return withoutFile(path, now, warn, error);
  }
  try {
    Deno.renameSync(path, `${path}.damaged`);
    for (const suffix of ["-wal", "-shm"]) removeIfExists(path + suffix);
    warn(`${path} was damaged: it is ${path}.damaged now, and the notifications in it are lost`);
    return open(path, now);
  } catch (error) {
    return withoutFile(path, now, warn, error);
  }
}

function open(path: string, now: () => number): SqliteNotificationStore {
  // SQLite opens the files beside it with the same mode.
  Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
  return new SqliteNotificationStore(path, now);
}

function withoutFile(
  path: string,
  now: () => number,
  warn: (line: string) => void,
  error: unknown,
): SqliteNotificationStore {
  warn(`${path} cannot be used (${errorReason(error)}): notifications are in memory until the next start`);
  return new SqliteNotificationStore(":memory:", now);
}

function isDamaged(error: unknown): boolean {
  return error instanceof Error && /not a database|malformed|unsupported file format/i.test(error.message);
}
