import type { BucketList } from "@/lib/s3/buckets.ts";
import { signal } from "@preact/signals";
import { browserClock } from "@/lib/pages/browser/poller_client.ts";
import type { StorageRow } from "./folder_listing.ts";
import type { FolderName } from "./storage_paths.ts";
import type { TaskPlan, TaskState } from "./task_record.ts";
import { callStorageApi } from "./storage_api_client.ts";
import { folderChanged, offeredChanges, refused } from "./folder_changes_client.ts";
import { TaskList } from "./task_list_client.ts";

const lists = new Map<string, TaskList>();

/** The tasks of an account on this page, whichever island asks for them. */
export function tasksOf(account: string): TaskList {
  const known = lists.get(account);
  if (known) return known;
  const list = new TaskList({
    account,
    call: callStorageApi,
    storage: {
      getItem: (name) => localStorage.getItem(name),
      setItem: (name, text) => localStorage.setItem(name, text),
    },
    clock: browserClock,
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

/** A change that did not succeed even once is not allowed: copies need the right to write, deletions that to delete. */
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

/** A change that a reader wants, before it is confirmed. */
export type WantedChange =
  & {
    readonly folder: FolderName;
    /** It has been confirmed. */
    readonly onStart: () => void;
  }
  & (
    | { readonly kind: "folder" }
    | { readonly kind: "rename" | "delete"; readonly rows: readonly StorageRow[] }
    | {
      readonly kind: "move" | "copy";
      readonly rows: readonly StorageRow[];
      /** Buckets that they may go to, the first one at first: the folder's own, unless it may not be written to. */
      readonly targets: readonly string[];
    }
  );

/** The change whose dialog is open; null: none is. The folder's island asks for it, that of the tasks shows it. */
export const wantedChange = signal<WantedChange | null>(null);

/**
 * The buckets that objects of a bucket may be copied and moved to: all but those that the store is known to forbid the
 * account to write to. Of other buckets only what the store has refused to this tab is known.
 *
 * @param write whether the bucket itself may be written to; it is offered then even where buckets cannot be listed
 */
export async function targetBuckets(account: string, bucket: string, write: boolean): Promise<readonly string[]> {
  const { status, json } = await callStorageApi<BucketList>("/buckets", account, {});
  const names = status === 200 ? json.buckets.map(({ Name }) => Name) : [];
  const all = names.includes(bucket) ? names : [bucket, ...names];
  return all.filter((name) => offeredChanges(account, name, { write: write || name !== bucket, delete: true }).write);
}
