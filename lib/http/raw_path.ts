import { percentDecoded } from "@/lib/std/percent_decoded.ts";
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
  const value = decodedOnce(name, raw);
  if (value.includes("\0")) throw badRequest(`${name}: a NUL character is not allowed`);
  return value;
}

/**
 * The key of an object, percent-decoded exactly once. Any character may be part of one; which of them it takes is the
 * store's business.
 *
 * @throws HttpError 400 when the encoding is malformed or is not UTF-8
 */
export function decodeKey(raw: string): string {
  return decodedOnce("key", raw);
}

function decodedOnce(name: string, raw: string): string {
  const value = percentDecoded(raw);
  if (value === null) throw badRequest(`${name}: malformed percent-encoding`);
  return value;
}

/** Whether a path has a segment `.` or `..`, encoded or not: `fetch`, `new URL` and most clients fold those away. */
export function hasDotSegment(path: string): boolean {
  return DOT_SEGMENT.test(path);
}
