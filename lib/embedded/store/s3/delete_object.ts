import { heldBucket, permittedBucket } from "@/lib/embedded/store/s3/permitted.ts";
import { versionHeader, versionParameter } from "@/lib/embedded/store/s3/object_version.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";

/** DeleteObject: what is not there is no error. */
export const deleteObject: S3Operation = {
  name: "DeleteObject",
  method: "DELETE",
  level: "object",
  parameters: ["versionId"],
  handle,
};

/** Conditions of directory buckets: to delete regardless of them would be worse than to refuse. */
const REFUSED = ["if-none-match", "x-amz-if-match-last-modified-time", "x-amz-if-match-size"];

async function handle(call: S3Call): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const wanted = versionParameter(request);
  const bucket = (wanted === null ? permittedBucket : heldBucket)(call, name, "DELETE");
  const refused = REFUSED.find((header) => request.headers.has(header));
  if (refused) throw new S3Error("NotImplemented", `The header ${refused} is not provided`);
  const { version, isMarker } = await store.writer.change("deleteObject", {
    bucket: bucket.id,
    key: new TextEncoder().encode(key),
    version: wanted,
    atMs: store.now(),
    ifMatch: unquoted(request.headers.get("if-match")),
  });
  const headers = { ...versionHeader(version), ...(isMarker ? { "x-amz-delete-marker": "true" } : {}) };
  return new Response(null, { status: 204, headers });
}

function unquoted(etag: string | null): string | null {
  return etag === null ? null : etag.trim().replace(/^"(.*)"$/, "$1");
}
