import { browserClock } from "@/lib/client/poller.ts";
import { callDoor } from "@/lib/client/storage/door.ts";
import { folderChanged } from "@/lib/client/storage/folder_events.ts";
import { refused } from "@/lib/client/storage/refused_changes.ts";
import { browserJournal } from "./task_journal.ts";
import { TaskList } from "./task_list.ts";
import type { TaskPlan, TaskState } from "@/lib/presentation/storage/task_record.ts";

const lists = new Map<string, TaskList>();

/** The tasks of an account on this page, whichever island asks for them. */
export function tasksOf(account: string): TaskList {
  const known = lists.get(account);
  if (known) return known;
  const list = new TaskList({
    account,
    call: callDoor,
    journal: browserJournal(),
    clock: browserClock,
    random: Math.random,
    alone,
    onEnd: (plan, state) => ended(account, plan, state),
  });
  lists.set(account, list);
  addEventListener("online", () => list.wake());
  void list.restore();
  return list;
}

/** Without locks (a site without TLS has none) two pages may perform the same task: each step may be done twice. */
async function alone(name: string, wait: () => void, work: () => Promise<void>): Promise<void> {
  if (!("locks" in navigator)) return await work();
  const done = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await work();
    return lock !== null;
  });
  if (done) return;
  wait();
  await navigator.locks.request(name, work);
}

function ended(account: string, plan: TaskPlan, { download, end, faults, done, deleted }: TaskState): void {
  if (end === null) return;
  const status = "status" in end ? end.status : faults[0]?.status;
  if (plan.kind === "zip") {
    if (download !== null) save(download);
    return;
  }
  if (status === 403) learnRefused(account, plan, done, deleted);
  folderChanged({ account, ...plan.place });
  if ("to" in plan) folderChanged({ account, ...plan.to });
  // The page may show one of the folders itself.
  const folders = "steps" in plan
    ? plan.steps.flatMap(({ kind, from }) => kind === "folder" ? [from] : [])
    : plan.prefixes;
  for (const prefix of folders) folderChanged({ account, bucket: plan.place.bucket, prefix });
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
