import { bucketByDataAccess } from "./permitted.ts";
import type { S3Call } from "./s3_operation.ts";
import { statedTags } from "./tags.ts";

/**
 * The tags that a write brings in x-amz-tagging, as the index keeps them; null where it brings none. As in S3, an access
 * list that lets write does not let set tags. Throws {@link S3Error} AccessDenied, InvalidArgument or InvalidTag.
 */
export function requestedTags(call: S3Call): string | null {
  const tags = statedTags(call.request.headers.get("x-amz-tagging"));
  if (tags !== null) bucketByDataAccess(call, call.bucket, "WRITE");
  return tags;
}
