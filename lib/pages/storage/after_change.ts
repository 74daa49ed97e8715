import { folderOf } from "./key_names.ts";
import { type FolderAddress, folderPath, type ObjectAddress, objectPath } from "./storage_paths.ts";
import type { TaskPlan, TaskState } from "./task_record.ts";

/**
 * Where the reader of an object or a folder goes once a task has taken all of it away: to its new place, or to the folder
 * around it. Null where it is still there.
 */
export function pathAfter(address: ObjectAddress | FolderAddress, plan: TaskPlan, state: TaskState): string | null {
  const { account, bucket } = address;
  const isObject = "key" in address;
  const name = isObject ? address.key : address.prefix;
  if (plan.place.bucket !== bucket || state.end?.how !== "done" || state.failed > 0) return null;
  if (!(isObject ? plan.keys : plan.prefixes).includes(name)) return null;
  if (plan.kind === "delete") {
    return state.done > 0 ? folderPath({ account, bucket, prefix: folderOf(name) }) : null;
  }
  if (plan.kind !== "move" || state.deleted === 0) return null;
  const place = { account, bucket: plan.to.bucket };
  const to = plan.to.prefix + name.slice(plan.from.length);
  // Skipped objects of a folder are still in it.
  if (!isObject) return state.skipped > 0 ? null : folderPath({ ...place, prefix: to });
  // Which number the name got is not known.
  return state.renamed > 0 ? folderPath({ ...place, prefix: folderOf(to) }) : objectPath({ ...place, key: to });
}
