import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { doorMessage } from "./door_message.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";
import type { DeleteMarker, UndoPlan } from "@/lib/presentation/storage/task_record.ts";

const CONCURRENCY = 4;
const PAGE = 1000;
/** Markers between two moments at which it is stored how far the task is. */
const BATCH = 100;
/** By how much the clocks of gateway and store may differ, ms. */
const CLOCKS_MS = 5000;

/**
 * Removes the delete markers of a deletion, so that the versions below them are current again. Of a key the newest
 * version is looked at; below a prefix only markers of the time of the deletion are removed, since others may be older.
 * Markers that are gone are not found again, so that all of it can be looked at anew after a reload.
 *
 * @throws TaskStopped
 */
export async function runUndo(control: TaskControl, plan: UndoPlan): Promise<void> {
  const { place: { bucket }, prefixes, objects } = plan;
  control.change({ total: objects });
  // An earlier page may have removed some of its last ones: these count as well.
  await removeAll(control, bucket, control.state.pending);
  for (let first = 0; first < plan.keys.length; first += BATCH) {
    await removeAll(control, bucket, await markersOf(control, bucket, plan.keys.slice(first, first + BATCH)));
  }
  for (const prefix of prefixes) {
    for await (const markers of markersBelow(control, plan, prefix)) {
      await removeAll(control, bucket, markers);
      if (control.state.isCanceling) return;
    }
  }
}

/** Removes markers, which are stored before, so that each of them is counted once. */
async function removeAll(control: TaskControl, bucket: string, markers: readonly DeleteMarker[]): Promise<void> {
  for (let first = 0; first < markers.length; first += BATCH) {
    if (control.state.isCanceling) return;
    const batch = markers.slice(first, first + BATCH);
    control.change({ pending: batch });
    await control.save();
    await forEachConcurrent(batch, CONCURRENCY, async (marker) => {
      if (control.state.isCanceling) return;
      const { key, version } = marker;
      const parameters = { bucket, key, version_id: version };
      const answer = await control.call("/buckets/:bucket/objects/:key", parameters, { method: "DELETE" });
      const isGone = answer.status === 200 || answer.status === 404;
      if (!isGone) control.addFault({ key, status: answer.status, message: doorMessage(answer) });
      const { done, pending } = control.state;
      control.change({ done: isGone ? done + 1 : done, pending: pending.filter((one) => one !== marker) });
    });
    await control.save();
  }
}

/** The delete markers that are the newest versions of keys. */
async function markersOf(control: TaskControl, bucket: string, keys: readonly string[]): Promise<DeleteMarker[]> {
  const markers: DeleteMarker[] = [];
  await forEachConcurrent(keys, CONCURRENCY, async (key) => {
    if (control.state.isCanceling) return;
    const { status, json } = await control.call("/buckets/:bucket/versions/:key", { bucket, key, max_keys: 1 });
    if (status !== 200 && status !== 404) return control.addFault({ key, status, message: "" });
    const newest = entries(member(json, "versions"))[0];
    const version = stringAt(newest, "VersionId");
    if (version !== null && member(newest, "IsDeleteMarker") === true) markers.push({ key, version });
  });
  return markers;
}

async function* markersBelow(
  control: TaskControl,
  { place: { bucket }, since, until }: UndoPlan,
  prefix: string,
): AsyncGenerator<readonly DeleteMarker[]> {
  let where: { readonly key_marker?: string; readonly version_id_marker?: string } = {};
  for (let isMore = true; isMore;) {
    const { status, json } = await control.call("/buckets/:bucket/versions", {
      bucket,
      prefix,
      max_keys: PAGE,
      ...where,
    });
    if (status !== 200) throw new TaskStopped(status);
    yield entries(member(json, "delete_markers")).flatMap((marker): DeleteMarker[] => {
      const [key, version] = [stringAt(marker, "Key"), stringAt(marker, "VersionId")];
      const at = Date.parse(stringAt(marker, "LastModified") ?? "");
      const isOurs = member(marker, "IsLatest") === true && at >= since - CLOCKS_MS && at <= until + CLOCKS_MS;
      return isOurs && key !== null && version !== null ? [{ key, version }] : [];
    });
    where = {
      key_marker: stringAt(json, "next_key_marker") ?? undefined,
      version_id_marker: stringAt(json, "next_version_id_marker") ?? undefined,
    };
    isMore = member(json, "is_truncated") === true && where.key_marker !== undefined;
  }
}
