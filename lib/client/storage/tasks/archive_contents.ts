import { callDoor } from "@/lib/client/storage/door.ts";
import type { Chosen, TaskEnd } from "@/lib/presentation/storage/task_record.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";

/** Most objects of an archive (gateway). */
const MAX_OBJECTS = 50_000;
const LIST_KEYS = 1000;

/** What an archive is of: one prefix, or keys, to which those below prefixes are added. */
export async function archiveContents(
  { account, bucket }: { readonly account: string; readonly bucket: string },
  { keys, prefixes }: Chosen,
): Promise<{ readonly json: { readonly keys: readonly string[] } | { readonly prefix: string } } | TaskEnd> {
  if (prefixes.length === 1 && keys.length === 0) return { json: { prefix: prefixes[0] } };
  const all = [...keys];
  for (const prefix of prefixes) {
    for (let start_after: string | undefined = "", isMore = true; isMore;) {
      const parameters = { bucket, prefix, max_keys: LIST_KEYS, start_after };
      const { status, json } = await callDoor("/buckets/:bucket/objects", account, parameters);
      if (status !== 200) return { how: "failed", status, message: "" };
      const below = entries(member(json, "objects")).flatMap((object) => stringAt(object, "Key") ?? []);
      all.push(...below);
      if (all.length > MAX_OBJECTS) return { how: "failed", status: 400, message: "" };
      isMore = member(json, "is_truncated") === true && below.length > 0;
      start_after = below.at(-1);
    }
  }
  return { json: { keys: all } };
}
