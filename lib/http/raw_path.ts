const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/** The path and query of a request exactly as they were sent. */
export interface RawTarget {
  /** Begins with `/`; percent-encoding and dot segments untouched. */
  readonly path: string;
  /** Without `?`; empty when there is none. */
  readonly query: string;
}

/** Splits a request's URL without `new URL`, which would fold `.` and `..` and re-encode characters. */
export function rawTarget(url: string): RawTarget {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return { path: "/", query: "" };
  const hash = url.indexOf("#", start);
  const end = hash < 0 ? url.length : hash;
  const mark = url.indexOf("?", start);
  if (mark < 0 || mark > end) return { path: url.slice(start, end), query: "" };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

/** Whether a path has a segment `.` or `..`, encoded or not: `fetch`, `new URL` and most clients fold those away. */
export function hasDotSegment(path: string): boolean {
  return DOT_SEGMENT.test(path);
}

/**
 * A path of this origin with its query and fragment, as a browser reads it; null for any other text. For a redirect to what
 * a form or an address names.
 */
export function ownPath(text: string): string | null {
  if (text.length > MAX_CHARACTERS || !isPath(text)) return null;
  const url = URL.parse(text, HERE);
  // The origin alone does not tell a path: that of `blob:http://here.invalid/…` is its inner URL's.
  if (!url || url.protocol !== "http:" || url.origin !== HERE) return null;
  const path = url.pathname + url.search + url.hash;
  // The path of `/.//elsewhere` starts with two slashes, which would name another host.
  return path.startsWith("//") ? null : path;
}

/**
 * Whether a text is a path with exactly one leading slash. Browsers treat backslashes as slashes and drop some control
 * characters, so such a text could become another address than the one that was checked.
 */
function isPath(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(text);
}

/** Longest path. */
const MAX_CHARACTERS = 4096;

const HERE = "http://here.invalid";

/** A target as the address of a link. */
export function addressOf({ path, query }: RawTarget): string {
  return query === "" ? path : `${path}?${query}`;
}
