import type { Clock } from "@/lib/client/poller.ts";
import type { callDoor } from "@/lib/client/storage/door.ts";
import { wait } from "@/lib/client/storage/upload/upload_wait.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import { integerAt, stringAt } from "@/lib/std/untrusted.ts";

/** Folders up to which their objects are counted: each takes a task of the gateway. */
const MAX_FOLDERS = 50;
const POLL_MS = 300;
const PATH = "/buckets/:bucket/objects/s3_stats";

/** Objects and their bytes. */
export interface ChosenCount {
  readonly objects: number;
  readonly bytes: number;
}

interface CountParts {
  readonly call: typeof callDoor;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Objects so far. */
  readonly onCount: (objects: number) => void;
}

/**
 * Counts what rows of a folder stand for: folders by tasks of the gateway.
 *
 * @returns null where that cannot be known, or would take too many tasks
 * @throws the signal's reason when it aborts
 */
export async function countChosen(
  { account, bucket }: { readonly account: string; readonly bucket: string },
  rows: readonly StorageRow[],
  { call, clock, signal, onCount }: CountParts,
): Promise<ChosenCount | null> {
  const folders = rows.filter(({ kind }) => kind === "folder");
  if (folders.length > MAX_FOLDERS) return null;
  let objects = rows.length - folders.length;
  let bytes = rows.reduce((sum, { size }) => sum + size, 0);
  onCount(objects);
  for (const { key: prefix } of folders) {
    const started = await call(PATH, account, { bucket, prefix }, { method: "POST", signal });
    const task_id = stringAt(started.json, "task_id");
    if (started.status !== 202 || task_id === null) return null;
    for (;;) {
      const { status, json } = await call(`${PATH}/:task_id`, account, { bucket, task_id }, { signal });
      const state = stringAt(json, "status");
      if (status !== 200 || state === "failed") return null;
      onCount(objects + integerAt(json, "files"));
      if (state === "ready") {
        objects += integerAt(json, "files");
        bytes += integerAt(json, "bytes");
        break;
      }
      await wait(clock, POLL_MS, signal);
    }
  }
  return { objects, bytes };
}
