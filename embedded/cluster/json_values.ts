import { isObject } from "@/lib/std/is_object.ts";
import { member } from "@/lib/std/untrusted.ts";

export type JsonObject = { [key: string]: unknown };

/** Whether a value is an object all of whose values are strings. */
export function isStringRecord(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((member) => typeof member === "string");
}

/** A JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. Changes neither argument. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  // `fromEntries` defines members, so that a key called `__proto__` stays a key.
  return Object.fromEntries(merged);
}

/** Equality of JSON values, whatever the order of members; absent and undefined are the same. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((element, index) => sameJson(element, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameJson(member(a, key), member(b, key)));
}
