import { browserClock } from "@/lib/client/poller.ts";
import { callDoor } from "@/lib/client/storage/door.ts";
import { folderChanged } from "@/lib/client/storage/folder_events.ts";
import { refused } from "@/lib/client/storage/refused_changes.ts";
import type { TaskPlan, TaskState } from "@/lib/presentation/storage/task_record.ts";
import { TaskList } from "./task_list.ts";

const lists = new Map<string, TaskList>();

/** The tasks of an account on this page, whichever island asks for them. */
export function tasksOf(account: string): TaskList {
  const known = lists.get(account);
  if (known) return known;
  const list = new TaskList({
    account,
    call: callDoor,
    storage: {
      getItem: (name) => localStorage.getItem(name),
      setItem: (name, text) => localStorage.setItem(name, text),
    },
    clock: browserClock,
    random: Math.random,
    onEnd: (plan, state, isFirst) => ended(account, plan, state, isFirst),
  });
  lists.set(account, list);
  addEventListener("online", () => list.wake());
  // Another page has started a task, or taken one off the list.
  addEventListener("storage", (event) => {
    if (event instanceof StorageEvent && event.key === list.name) list.restore(true);
  });
  list.restore();
  return list;
}

function ended(
  account: string,
  plan: TaskPlan,
  { download, end, faults, done, deleted }: TaskState,
  isFirst: boolean,
): void {
  if (plan.kind === "zip") {
    if (download !== null && isFirst) save(download);
    return;
  }
  const status = end?.how === "failed" ? end.status : faults[0]?.status;
  if (status === 403) learnRefused(account, plan, done, deleted);
  folderChanged({ account, ...plan.place });
  if ("to" in plan && !plan.isRename) folderChanged({ account, ...plan.to });
  // The page may show one of the folders itself.
  for (const prefix of plan.prefixes) folderChanged({ account, bucket: plan.place.bucket, prefix });
}

/** What was not done even once is not allowed: copies need the right to write, deletions that to delete. */
function learnRefused(account: string, plan: TaskPlan, done: number, deleted: number): void {
  if (plan.kind === "delete") {
    if (done === 0) refused(account, plan.place.bucket, "delete");
  } else if (plan.kind === "move" || plan.kind === "copy") {
    if (done === 0) refused(account, plan.to.bucket, "write");
    else if (plan.kind === "move" && deleted === 0) refused(account, plan.place.bucket, "delete");
  }
}

/** Has the browser save what an address returns; the page stays. */
function save(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}
