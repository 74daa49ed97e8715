import { callDoor } from "@/lib/client/storage/door.ts";
import { offeredChanges } from "@/lib/client/storage/refused_changes.ts";
import { readBuckets } from "@/lib/presentation/storage/listing.ts";

/**
 * The buckets that objects of a bucket may be copied and moved to: all but those that the store is known to forbid the
 * account to write to. Of other buckets only what the store has refused to this tab is known.
 *
 * @param write whether the bucket itself may be written to; it is offered then even where buckets cannot be listed
 */
export async function targetBuckets(account: string, bucket: string, write: boolean): Promise<readonly string[]> {
  const { json } = await callDoor("/buckets", account, {});
  const names = readBuckets(json)?.map(({ name }) => name) ?? [];
  const all = names.includes(bucket) ? names : [bucket, ...names];
  return all.filter((name) => offeredChanges(account, name, { write: write || name !== bucket, delete: true }).write);
}
