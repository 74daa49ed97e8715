import type { WriteCondition } from "@/embedded/store/changes.ts";
import { unquotedEtag } from "./etag.ts";
import { S3Error } from "./s3_error.ts";

/** What must be true of the present object for a write to happen. Throws {@link S3Error}. */
export function writeCondition(headers: Headers): WriteCondition | null {
  const ifNoneMatch = headers.get("if-none-match");
  const ifMatch = headers.get("if-match");
  if (ifNoneMatch !== null && ifMatch !== null) throw new S3Error("NotImplemented", "Only one condition may be given");
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.includes(",")) {
      throw new S3Error("NotImplemented", "If-None-Match on a write must be one ETag or *");
    }
    return ifNoneMatch.trim() === "*" ? { absent: true } : { otherThan: unquotedEtag(ifNoneMatch) };
  }
  return ifMatch === null ? null : { etag: unquotedEtag(ifMatch) };
}
