import { badRequest } from "./errors.ts";

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

/**
 * A path parameter, percent-decoded exactly once.
 *
 * @throws HttpError 400 naming the parameter when the encoding is malformed, is not UTF-8 or hides a NUL.
 */
export function decodeParameter(name: string, raw: string): string {
  let value: string;
  try {
    value = decodeURIComponent(raw);
  } catch {
    throw badRequest(`${name}: malformed percent-encoding`);
  }
  if (value.includes("\0")) throw badRequest(`${name}: a NUL character is not allowed`);
  return value;
}

/** Whether a path has a segment `.` or `..`, encoded or not: `fetch`, `new URL` and most clients fold those away. */
export function hasDotSegment(path: string): boolean {
  return DOT_SEGMENT.test(path);
}
