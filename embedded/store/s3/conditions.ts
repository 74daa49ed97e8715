import { S3Error } from "./s3_error.ts";

/**
 * Judges the conditions of a read in the order of RFC 9110, section 13.2.2. Throws {@link S3Error} PreconditionFailed or
 * NotModified; the latter with the given headers, as HTTP asks.
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

/** Whether If-Range (RFC 9110, section 13.1.5) lets the Range header count; true where it is absent. */
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
