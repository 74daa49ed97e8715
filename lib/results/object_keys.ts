import { percentDecoded } from "@/lib/std/text.ts";

/** The path prefix of the results role. */
export const RESULTS_PATH = "/results/";

/** Longest key of an S3 object, bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The object key of a raw path, decoded exactly once. Null for anything else: a path outside `/results/…`, an escaped
 * slash or backslash, an empty, `.` or `..` segment, malformed encoding, and a namespace that is not served.
 */
export function resultKey(rawPath: string, namespaces: readonly string[]): string | null {
  if (!rawPath.startsWith(RESULTS_PATH) || !VISIBLE_ASCII.test(rawPath)) return null;
  const raw = rawPath.slice(RESULTS_PATH.length);
  if (/%2f|%5c/i.test(raw)) return null;
  const key = percentDecoded(raw);
  if (key === null || /[\\\0]/.test(key) || new TextEncoder().encode(key).length > MAX_KEY_BYTES) return null;
  const segments = key.split("/");
  if (segments.length < 2 || segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return null;
  }
  return namespaces.includes(segments[0]) ? key : null;
}
