import { randomBytes } from "node:crypto";
import type { UploadedPart } from "@/embedded/store/uploads.ts";
import { ownerElement } from "./listing_xml.ts";
import { permittedBucket, signedUser } from "./permitted.ts";
import { requestedAcl } from "./requested_acl.ts";
import type { S3Call } from "./s3_operation.ts";
import { DEFAULT_CONTENT_TYPE, storedHeaders } from "./stored_headers.ts";
import { requestedTags } from "./tags.ts";
import { checksumElements, checksumKind, uploadChecksum } from "./upload_checksums.ts";
import { namedUpload, pageSize, presentUpload, wholeNumber } from "./upload_parameters.ts";
import { element, xmlResponse, xmlTime } from "./xml.ts";

/** CreateMultipartUpload */
export async function createMultipartUpload(call: S3Call): Promise<Response> {
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
    headers: storedHeaders(request.headers, call.caller.repeated),
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

/** AbortMultipartUpload: discards the parts that arrived. */
export async function abortMultipartUpload(call: S3Call): Promise<Response> {
  const { bucket, key, upload } = namedUpload(call);
  await call.store.writer.change("abortUpload", { bucket, key, upload, atMs: call.store.now() });
  return new Response(null, { status: 204 });
}

/** ListParts */
export function listParts(call: S3Call): Response {
  const { store, request, key } = call;
  const { in: bucket, upload } = presentUpload(call);
  const limit = pageSize(request, "max-parts");
  const after = wholeNumber(request, "part-number-marker", 2 ** 31 - 1) ?? 0;
  const found = store.uploads.parts(upload.id, after, limit + 1);
  const parts = found.slice(0, limit);
  const isTruncated = limit > 0 && found.length > limit;
  const content = [
    element("Bucket", bucket.name),
    element("Key", key),
    element("UploadId", upload.id),
    ownerElement(store.accounts, "Initiator", upload.owner),
    ownerElement(store.accounts, "Owner", upload.owner),
    element("StorageClass", upload.storageClass ?? "STANDARD"),
    element("PartNumberMarker", after),
    isTruncated ? element("NextPartNumberMarker", parts[parts.length - 1].number) : "",
    element("MaxParts", limit),
    element("IsTruncated", isTruncated),
    checksumKind(upload.checksumAlgorithm, upload.checksumType),
    ...parts.map(partElement),
  ];
  return xmlResponse("ListPartsResult", content.join(""));
}

function partElement(part: UploadedPart): string {
  return `<Part>${element("PartNumber", part.number)}${element("LastModified", xmlTime(part.modifiedMs))}` +
    `${element("ETag", `"${part.etag}"`)}${element("Size", part.size)}${checksumElements(part.checksums)}</Part>`;
}
