import { compareKeys } from "@/lib/presentation/storage/upload_names.ts";
import type { UploadCalls } from "./upload_calls.ts";

/**
 * The keys that objects have by now, with their sizes in bytes. The listing is walked beside the sorted keys: a page
 * answers for all keys within it, and the next one begins before the first key beyond. So there are never more pages than
 * keys, and one for a folder that is new.
 *
 * @throws UploadFault
 */
export async function findTaken(
  calls: Pick<UploadCalls, "listObjects">,
  bucket: string,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const taken = new Map<string, number>();
  const sorted = [...new Set(keys)].sort(compareKeys);
  if (sorted.length === 0) return taken;
  const prefix = commonStart(sorted[0], sorted[sorted.length - 1]);
  const sought = new Set(sorted);
  let after: string | null = null;
  for (let index = 0; index < sorted.length;) {
    const { objects, isLast } = await calls.listObjects(bucket, prefix, after, signal);
    for (const { Key, Size } of objects) if (sought.has(Key)) taken.set(Key, Size);
    const end: string | undefined = objects[objects.length - 1]?.Key;
    if (isLast || end === undefined) break;
    while (index < sorted.length && compareKeys(sorted[index], end) <= 0) index++;
    if (index < sorted.length) after = later(end, before(sorted[index]));
  }
  return taken;
}

function commonStart(first: string, last: string): string {
  let length = 0;
  while (length < first.length && first[length] === last[length]) length++;
  const start = first.slice(0, length);
  // Half a character is no prefix.
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** A character that every store takes in a key: no blank, control character, surrogate or noncharacter. */
const PLAIN = /^[^\s\p{C}]$/u;

/** A key that lies a little before another one. */
function before(key: string): string {
  const points = [...key];
  const code = points.pop()?.codePointAt(0) ?? 0;
  const stem = points.join("");
  const isPlain = PLAIN.test(String.fromCodePoint(Math.max(0, code - 1)));
  return isPlain ? `${stem}${String.fromCodePoint(code - 1)}\u{10fffd}` : stem;
}

function later(a: string, b: string): string {
  return compareKeys(a, b) > 0 ? a : b;
}
