import { unquotedEtag } from "./conditions.ts";
import { versionHeader, versionParameter } from "./object_version.ts";
import { bucketByDataAccess, permittedBucket } from "./permitted.ts";
import { rejectHeaders } from "./unsupported_headers.ts";
import type { S3Call } from "./s3_operation.ts";

/** Conditions that S3 does not have for deletions: deleting regardless of them would be worse than an error. */
const UNSUPPORTED = /^if-(?:none-match|modified-since|unmodified-since)$/;

/** DeleteObject: an absent key is no error, unless a condition names its ETag. */
export async function deleteObject(call: S3Call): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const wanted = versionParameter(request);
  const bucket = (wanted === null ? permittedBucket : bucketByDataAccess)(call, name, "DELETE");
  rejectHeaders(request.headers, UNSUPPORTED);
  const ifMatch = request.headers.get("if-match");
  const { version, isMarker } = await store.writer.change("deleteObject", {
    bucket: bucket.id,
    key: new TextEncoder().encode(key),
    version: wanted,
    atMs: store.now(),
    ifMatch: ifMatch === null ? null : unquotedEtag(ifMatch),
  });
  const headers = { ...versionHeader(version), ...(isMarker ? { "x-amz-delete-marker": "true" } : {}) };
  return new Response(null, { status: 204, headers });
}
