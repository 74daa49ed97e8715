import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";

/**
 * The keys below a prefix, in the order of the store, one list after the other.
 *
 * @param after the key after which they begin; "": at the first
 * @param count most keys of a list
 * @throws TaskStopped with the status of a store that does not list them
 */
export async function* keysBelow(
  control: TaskControl,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  after: string,
  count: number,
): AsyncGenerator<readonly string[]> {
  for (let start = after, isMore = true; isMore;) {
    const { status, json } = await control.call("/buckets/:bucket/objects", {
      bucket,
      prefix,
      max_keys: count,
      start_after: start,
    });
    if (status !== 200) throw new TaskStopped(status);
    const keys = entries(member(json, "objects")).flatMap((object) => stringAt(object, "Key") ?? []);
    isMore = member(json, "is_truncated") === true && keys.length > 0;
    start = keys.at(-1) ?? start;
    if (keys.length > 0) yield keys;
  }
}

/** An object as a listing shows it. */
export interface Found {
  readonly etag: string | null;
  readonly bytes: number;
}

/**
 * An object in a listing of the keys that begin with its own, of which it is the first. A listing is no failed request
 * where the object is not there, as a HEAD would be.
 */
export function foundObject(listing: unknown, key: string): Found | null {
  return foundObjects(listing).get(key) ?? null;
}

/** The objects of a listing by their keys. */
export function foundObjects(listing: unknown): Map<string, Found> {
  return new Map(
    entries(member(listing, "objects")).map((object) => [
      stringAt(object, "Key") ?? "",
      { etag: stringAt(object, "ETag"), bytes: integerAt(object, "Size") },
    ]),
  );
}
