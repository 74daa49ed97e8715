import { randomBytes } from "node:crypto";
import { permittedBucket, signedUser } from "@/lib/embedded/store/s3/permitted.ts";
import { requestedAcl } from "@/lib/embedded/store/s3/requested_acl.ts";
import { DEFAULT_CONTENT_TYPE, keptHeaders } from "@/lib/embedded/store/s3/kept_headers.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import { writtenTags } from "@/lib/embedded/store/s3/written_tags.ts";
import { uploadChecksum } from "@/lib/embedded/store/s3/upload_checksums.ts";
import { element, xmlResponse } from "@/lib/embedded/store/s3/xml.ts";

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
  const tags = writtenTags(call);
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
    headers: keptHeaders(request.headers),
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

/** Begins with the time, so that uploads of one key sort by their start; nobody can guess the rest. */
function uploadId(atMs: number): string {
  return atMs.toString(16).padStart(12, "0") + randomBytes(16).toString("hex");
}
