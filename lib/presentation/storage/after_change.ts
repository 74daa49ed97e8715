import { folderOf } from "./key_names.ts";
import { type FolderAddress, folderPath, type ObjectAddress, objectPath } from "./storage_paths.ts";
import type { TaskPlan, TaskState } from "./task_record.ts";

/**
 * Where the reader of an object goes once a task has taken it away: to its new place, or to the folder that it was in.
 * Null where the object is still there.
 */
export function pathAfter({ account, bucket, key }: ObjectAddress, plan: TaskPlan, state: TaskState): string | null {
  if (plan.place.bucket !== bucket || state.end?.how !== "done" || state.failed > 0) return null;
  if (plan.kind === "delete") {
    return state.done > 0 && plan.keys.includes(key) ? folderPath({ account, bucket, prefix: folderOf(key) }) : null;
  }
  if (plan.kind !== "move" || state.deleted === 0) return null;
  if (!plan.keys.includes(key)) return null;
  const place = { account, bucket: plan.to.bucket };
  const to = plan.to.prefix + key.slice(plan.from.length);
  // Which number the name got is not known.
  return state.renamed > 0 ? folderPath({ ...place, prefix: folderOf(to) }) : objectPath({ ...place, key: to });
}

/**
 * Where the reader of a folder goes once a task has taken all of it away: to its new place, or to the folder around it.
 * Null where the folder is still there.
 */
export function folderPathAfter(
  { account, bucket, prefix }: FolderAddress,
  plan: TaskPlan,
  state: TaskState,
): string | null {
  if (plan.place.bucket !== bucket || state.end?.how !== "done" || state.failed > 0) return null;
  if (plan.kind === "delete") {
    const isGone = state.done > 0 && plan.prefixes.includes(prefix);
    return isGone ? folderPath({ account, bucket, prefix: folderOf(prefix) }) : null;
  }
  if (plan.kind !== "move" || state.deleted === 0 || state.skipped > 0) return null;
  if (!plan.prefixes.includes(prefix)) return null;
  return folderPath({ account, bucket: plan.to.bucket, prefix: plan.to.prefix + prefix.slice(plan.from.length) });
}
