import type { WriteCondition } from "@/embedded/store/changes.ts";
import { S3Error } from "./s3_error.ts";
import { rejectHeaders } from "./unsupported_headers.ts";

/** Conditions that S3 has for reads alone: a write regardless of them would be worse than an error. */
const UNSUPPORTED = /^if-(?:modified|unmodified)-since$/;

/**
 * Checks the conditions of a read in the order of RFC 9110, section 13.2.2.
 *
 * @throws {S3Error} PreconditionFailed or NotModified; the latter with `notModifiedHeaders`, as HTTP requires
 */
export function checkReadConditions(
  request: Headers,
  object: { etag: string; modifiedMs: number },
  notModifiedHeaders: Record<string, string>,
): void {
  const modified = Math.floor(object.modifiedMs / 1000) * 1000;
  const ifMatch = request.get("if-match");
  const unmodifiedSince = httpDate(request.get("if-unmodified-since"));
  if (ifMatch !== null) {
    if (!etagListed(ifMatch, object.etag)) throw new S3Error("PreconditionFailed");
  } else if (unmodifiedSince !== null && modified > unmodifiedSince) {
    throw new S3Error("PreconditionFailed");
  }
  const ifNoneMatch = request.get("if-none-match");
  const modifiedSince = httpDate(request.get("if-modified-since"));
  if (ifNoneMatch !== null) {
    if (etagListed(ifNoneMatch, object.etag)) throw new S3Error("NotModified", undefined, notModifiedHeaders);
  } else if (modifiedSince !== null && modified <= modifiedSince) {
    throw new S3Error("NotModified", undefined, notModifiedHeaders);
  }
}

/** Whether If-Range (RFC 9110, section 13.1.5) allows the Range header; true where it is absent. */
export function rangeHolds(ifRange: string | null, object: { etag: string; modifiedMs: number }): boolean {
  if (ifRange === null) return true;
  if (ifRange.includes('"')) return ifRange.trim() === `"${object.etag}"`;
  return httpDate(ifRange) === Math.floor(object.modifiedMs / 1000) * 1000;
}

/** Whether an entity tag (without quotes) is in an If-Match or If-None-Match list; clients send tags without quotes, too. */
function etagListed(list: string, etag: string): boolean {
  return list.split(",").map((tag) => tag.trim()).some((tag) =>
    tag === "*" || tag.replace(/^W\//, "").replace(/^"(.*)"$/, "$1") === etag
  );
}

function httpDate(text: string | null): number | null {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** An ETag as the index stores it: headers and XML bodies have it with or without quotes. */
export function unquotedEtag(text: string): string {
  return text.trim().replace(/^"(.*)"$/, "$1");
}

/**
 * What must be true of the present object for a write to happen.
 *
 * @throws {S3Error}
 */
export function writeCondition(headers: Headers): WriteCondition | null {
  rejectHeaders(headers, UNSUPPORTED);
  const ifNoneMatch = headers.get("if-none-match");
  const ifMatch = headers.get("if-match");
  if (ifNoneMatch !== null && ifMatch !== null) {
    throw new S3Error("NotImplemented", "A request may have only one condition");
  }
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.includes(",")) {
      throw new S3Error("NotImplemented", "If-None-Match on a write must be one ETag or *");
    }
    return ifNoneMatch.trim() === "*" ? { absent: true } : { otherThan: unquotedEtag(ifNoneMatch) };
  }
  return ifMatch === null ? null : { etag: unquotedEtag(ifMatch) };
}
