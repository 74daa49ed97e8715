import { entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { doorPath } from "@/lib/presentation/storage/storage_paths.ts";
import { countOf, failure, followGatewayTask, startGatewayTask } from "./gateway_task.ts";
import { keysBelow } from "./keys_below.ts";
import type { TaskControl } from "./task_control.ts";
import type { TaskEnd, ZipPlan } from "@/lib/presentation/storage/task_record.ts";

const PATH = "/buckets/:bucket/objects/download";
/** Most objects of an archive (gateway). */
const MAX_OBJECTS = 50_000;
const LIST_KEYS = 1000;

/**
 * Has the gateway prepare an archive. Its bytes come with the download alone, which the browser performs: the page holds
 * nothing of them.
 *
 * @throws TaskStopped
 */
export async function runZip(control: TaskControl, plan: ZipPlan): Promise<TaskEnd> {
  const { place: { bucket } } = plan;
  const what = control.state.taskId === null ? await contents(control, plan) : null;
  if (what !== null && "how" in what) return what;
  const id = await startGatewayTask(control, PATH, bucket, what);
  if (typeof id !== "string") return id;
  const look = () => control.call(`${PATH}/:task_id`, { bucket, task_id: id });
  return await followGatewayTask(control, look, (answer): TaskEnd | null => {
    if (answer.status !== 200) return failure(answer);
    const keys = entries(member(answer.json, "failed_keys"));
    control.change({
      total: countOf(answer, "total"),
      done: countOf(answer, "completed"),
      failed: countOf(answer, "failed"),
      bytes: countOf(answer, "bytes"),
      faults: keys.flatMap((key) => typeof key === "string" ? [{ key, status: 0, message: "" }] : []),
    });
    if (stringAt(answer.json, "status") === "processing") return null;
    const ticket = ticketOf(stringAt(answer.json, "download_url"));
    if (ticket === null) return { how: "gone" };
    control.change({ download: doorPath(`${PATH}/:task_id/file`, control.account, { bucket, task_id: id, ticket }) });
    return { how: "done" };
  });
}

/** What the archive is of: one prefix, or keys, to which those below prefixes are added. */
async function contents(
  control: TaskControl,
  { place: { bucket }, keys, prefixes }: ZipPlan,
): Promise<{ readonly keys: readonly string[] } | { readonly prefix: string } | TaskEnd> {
  if (prefixes.length === 1 && keys.length === 0) return { prefix: prefixes[0] };
  const all = [...keys];
  for (const prefix of prefixes) {
    for await (const below of keysBelow(control, { bucket, prefix }, "", LIST_KEYS)) {
      all.push(...below);
      if (control.state.isCanceling) return { how: "canceled" };
      if (all.length > MAX_OBJECTS) return { how: "failed", status: 400, message: "" };
    }
  }
  return { keys: all };
}

function ticketOf(url: string | null): string | null {
  return url === null ? null : new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("ticket");
}
