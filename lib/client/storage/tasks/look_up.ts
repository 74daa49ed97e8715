import { callDoor } from "@/lib/client/storage/door.ts";
import { reason } from "@/lib/presentation/storage/task_sentences.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { doorMessage } from "./door_message.ts";

/** Whether a key, or the prefix of a folder, is in use; or a sentence why that cannot be known. */
export async function isTaken(account: string, bucket: string, key: string): Promise<boolean | string> {
  const answer = await callDoor("/buckets/:bucket/objects", account, { bucket, prefix: key, max_keys: 1 });
  if (answer.status !== 200) return reason(answer.status, doorMessage(answer));
  const first = entries(member(answer.json, "objects"))[0];
  return key.endsWith("/") ? first !== undefined : stringAt(first, "Key") === key;
}

/**
 * Whether a bucket keeps versions, so that what is deleted can come back; null where that cannot be known.
 *
 * @throws DOMException `AbortError` when the signal aborts
 */
export async function keepsVersions(account: string, bucket: string, signal: AbortSignal): Promise<boolean | null> {
  const { status, json } = await callDoor("/buckets/:bucket/versioning", account, { bucket }, { signal });
  // Stores without versioning.
  if (status === 501) return false;
  return status === 200 ? stringAt(json, "status") === "Enabled" : null;
}
