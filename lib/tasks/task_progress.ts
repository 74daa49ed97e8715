import { parsedJson } from "@/lib/std/untrusted.ts";
import type { Task } from "./task.ts";
import { CHANGED_INPUT, CHANGED_PROGRESS, taskGone, UNREADABLE_TASK } from "./task_error.ts";
import type { TaskType } from "./task_handler.ts";
import { blobDigest, openProgress, type SealedTask, sealProgress, type TaskKeys } from "./task_keys.ts";

/** A progress as it is stored. */
export function progressText<P>({ isSealed }: TaskType<P>, task: SealedTask, progress: P, keys: TaskKeys): string {
  const text = JSON.stringify(progress);
  return isSealed ? sealProgress(text, task, keys) : text;
}

/** @throws HttpError 410 for the progress of another version, and for a sealed one that was changed */
export function progressOf<P>(
  { isSealed, progress }: TaskType<P>,
  task: SealedTask & Pick<Task, "progress">,
  keys: TaskKeys,
): P {
  const text = isSealed ? openProgress(task.progress, task, keys) : task.progress;
  const { data, success } = progress.safeParse(text === null ? undefined : parsedJson(text));
  if (!success) throw taskGone(text === null ? CHANGED_PROGRESS : UNREADABLE_TASK);
  return data;
}

/** Null for a progress that cannot be read. */
export function readableProgress<P>(
  type: TaskType<P>,
  task: SealedTask & Pick<Task, "progress">,
  keys: TaskKeys,
): P | null {
  try {
    return progressOf(type, task, keys);
  } catch {
    return null;
  }
}

/** @throws HttpError 410 for a blob that is not the one whose digest was sealed */
export function mustBeSealed(
  names: readonly string[],
  blobs: readonly (Uint8Array | null)[],
  digests: Readonly<Record<string, string>>,
): void {
  names.forEach((name, index) => {
    const blob = blobs[index];
    if (!blob || !Object.hasOwn(digests, name) || blobDigest(blob) !== digests[name]) {
      throw taskGone(CHANGED_INPUT);
    }
  });
}

/** Whether the blobs of a task are those that it was created with. */
export function hasFixedBlobs({ isSealed, writesBlobs }: TaskType<unknown>): boolean {
  return isSealed === true && !writesBlobs;
}
