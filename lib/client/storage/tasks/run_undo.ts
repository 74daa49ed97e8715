import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { doorMessage } from "./door_message.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";
import type { UndoPlan } from "@/lib/presentation/storage/task_record.ts";

const CONCURRENCY = 4;
const PAGE = 1000;
/** By how much the clocks of gateway and store may differ, ms. */
const CLOCKS_MS = 5000;

/**
 * Removes the delete markers of a deletion, so that the versions below them are current again. Of a key the newest
 * version is looked at; below a prefix only markers of the time of the deletion are removed, since others may be older.
 *
 * @throws TaskStopped
 */
export async function runUndo(control: TaskControl, plan: UndoPlan): Promise<void> {
  const { place: { bucket }, keys, prefixes, objects } = plan;
  // Markers that are gone are not found again, so that all of it can be looked at anew after a reload.
  control.change({ total: objects });
  await forEachConcurrent(keys, CONCURRENCY, async (key) => {
    if (control.state.isCanceling) return;
    const { status, json } = await control.call("/buckets/:bucket/versions/:key", { bucket, key, max_keys: 1 });
    if (status !== 200 && status !== 404) return control.addFault({ key, status, message: "" });
    const newest = entries(member(json, "versions"))[0];
    const version = stringAt(newest, "VersionId");
    if (version !== null && member(newest, "IsDeleteMarker") === true) await remove(control, bucket, key, version);
  });
  for (const prefix of prefixes) {
    for await (const markers of markersBelow(control, plan, prefix)) {
      await forEachConcurrent(markers, CONCURRENCY, async ({ key, version }) => {
        if (!control.state.isCanceling) await remove(control, bucket, key, version);
      });
      if (control.state.isCanceling) return;
      await control.save();
    }
  }
}

async function remove(control: TaskControl, bucket: string, key: string, version: string): Promise<void> {
  const parameters = { bucket, key, version_id: version };
  const answer = await control.call("/buckets/:bucket/objects/:key", parameters, { method: "DELETE" });
  if (answer.status === 200 || answer.status === 404) control.change({ done: control.state.done + 1 });
  else control.addFault({ key, status: answer.status, message: doorMessage(answer) });
}

interface Marker {
  readonly key: string;
  readonly version: string;
}

async function* markersBelow(
  control: TaskControl,
  { place: { bucket }, since, until }: UndoPlan,
  prefix: string,
): AsyncGenerator<readonly Marker[]> {
  let where: { readonly key_marker?: string; readonly version_id_marker?: string } = {};
  for (let isMore = true; isMore;) {
    const { status, json } = await control.call("/buckets/:bucket/versions", {
      bucket,
      prefix,
      max_keys: PAGE,
      ...where,
    });
    if (status !== 200) throw new TaskStopped(status);
    yield entries(member(json, "delete_markers")).flatMap((marker): Marker[] => {
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
