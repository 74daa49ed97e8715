import { randomBytes } from "node:crypto";
import { DEFAULT_CONTENT_TYPE, storedHeaders } from "./stored_headers.ts";
import { permittedBucket, signedUser } from "./permitted.ts";
import { requestedAcl } from "./requested_acl.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { requestedTags } from "./tags.ts";
import { uploadChecksum } from "./upload_checksums.ts";
import { element, xmlResponse } from "./xml.ts";

/** CreateMultipartUpload */
export const createMultipartUpload: S3Operation = {
  name: "CreateMultipartUpload",
  method: "POST",
  level: "object",
  marker: ["uploads"],
  parameters: [],
  handle,
};

async function handle(call: S3Call): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const { id: owner } = signedUser(call.caller);
  const bucket = permittedBucket(call, name, "WRITE");
  const tags = requestedTags(call);
  const checksum = uploadChecksum(request.headers);
  const acl = requestedAcl(call, bucket.record, { owner, bucketOwner: bucket.owner });
  const atMs = store.now();
  const upload = uploadId(atMs);
  await store.writer.change("createUpload", {
    bucket: bucket.id,
    key: new TextEncoder().encode(key),
    upload,
    owner,
    contentType: request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE,
    headers: storedHeaders(request.headers),
    tags,
    acl,
    checksumAlgorithm: checksum?.algorithm ?? null,
    checksumType: checksum?.type ?? null,
    atMs,
  });
  const headers: Record<string, string> = checksum
    ? { "x-amz-checksum-algorithm": checksum.algorithm.toUpperCase(), "x-amz-checksum-type": checksum.type }
    : {};
  const content = element("Bucket", bucket.name) + element("Key", key) + element("UploadId", upload);
  return xmlResponse("InitiateMultipartUploadResult", content, headers);
}

/** Begins with the time, so that uploads of one key sort by their start; the rest cannot be guessed. */
function uploadId(atMs: number): string {
  return atMs.toString(16).padStart(12, "0") + randomBytes(16).toString("hex");
}
