import { percentDecoded } from "@/lib/std/percent_decoded.ts";

/** Everything of the results role lives below this path. */
export const RESULTS_PATH = "/results/";

/** Longest key of an S3 object, bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The key of a result file that a raw path names, decoded exactly once; null for everything that is not surely one:
 * another path than `/results/…`, an escaped slash or backslash, an empty, `.` or `..` segment, malformed encoding, and
 * any namespace but those that are served.
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
