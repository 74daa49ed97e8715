import type { StoredObject } from "@/embedded/store/objects.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import { algorithmOf, type ChecksumAlgorithm, checksumAlgorithmOf, type Checksums } from "./checksums.ts";
import { writeCondition } from "./conditions.ts";
import { findCopySource, parseCopySource, receiveCopy } from "./copy_source.ts";
import { DEFAULT_CONTENT_TYPE, storedHeaders, withStorageClass } from "./stored_headers.ts";
import { storeBody, wholeChecksum } from "./object_body.ts";
import { writtenVersionHeader } from "./object_version.ts";
import { bucketAccess, bucketByDataAccess, permittedBucket, signedUser } from "./permitted.ts";
import { requireRoom } from "./quota_room.ts";
import { rejectHeaders } from "./unsupported_headers.ts";
import { requestedAcl } from "./requested_acl.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { requestedTags } from "./tags.ts";
import { checksumElements } from "./upload_checksums.ts";
import { element, xmlResponse, xmlTime } from "./xml.ts";

/** Largest object that one copy takes: 5 GiB (S3 API, CopyObject). */
const MAX_COPY_BYTES = 5 * 1024 ** 3;

/** A copy takes the whole of its source; parts may be copied from ranges. */
const UNSUPPORTED = /^x-amz-copy-source-range/;

/** CopyObject: within a bucket and across those of the tenant. */
export async function copyObject(call: S3Call): Promise<Response> {
  const { store, caller, request, key } = call;
  const { id: owner } = signedUser(caller);
  const target = permittedBucket(call, call.bucket, "WRITE");
  rejectHeaders(request.headers, UNSUPPORTED);
  const source = parseCopySource(request.headers.get("x-amz-copy-source") ?? "");
  const from = bucketAccess(call, source.bucket);
  const requested = copiedChecksum(request.headers.get("x-amz-checksum-algorithm"));
  const replaces = {
    metadata: isReplace(request.headers, "x-amz-metadata-directive"),
    tags: isReplace(request.headers, "x-amz-tagging-directive"),
  };
  if (
    from.bucket.id === target.id && source.key === key && source.version === null && !replaces.metadata &&
    !replaces.tags && !requested && !request.headers.has("x-amz-storage-class")
  ) {
    throw new S3Error("InvalidRequest", "A copy onto itself must change the metadata, the tags or the storage class");
  }
  const condition = writeCondition(request.headers);
  const tags = requestedTags(call);
  const acl = requestedAcl(call, target.record, { owner, bucketOwner: target.owner });
  const find = findCopySource(call, source, from);
  const findPermitted = () => {
    const found = find();
    if (!replaces.tags && found.tags !== null) {
      // No access list allows reading or setting tags.
      bucketByDataAccess(call, source.bucket, "READ");
      bucketByDataAccess(call, call.bucket, "WRITE");
    }
    if (found.size > MAX_COPY_BYTES) throw new S3Error("InvalidRequest", "A single copy is limited to 5 GiB");
    requireRoom(store, target, key, found.size);
    return found;
  };
  const { found: object, body } = await store.objects.open(
    findPermitted,
    ({ size, read }) => size === 0 ? Promise.resolve(new Uint8Array()) : read(0, size - 1),
  );
  if (!object || "marker" in object) throw new S3Error("NoSuchKey");
  const copied = requested ? null : wholeChecksums(object.checksums);
  const algorithm = requested ?? (checksumAlgorithmOf(object) as ChecksumAlgorithm | null) ?? DEFAULT_CHECKSUM;
  const received = await receiveCopy(store, body, object.size, copied ? [] : [algorithm]);
  return await storeBody(received, async () => {
    const etag = received.digests.get("md5") ?? "";
    const checksums = copied ?? wholeChecksum(received, algorithm);
    const atMs = store.now();
    const { version } = await store.writer.change("putObject", {
      bucket: target.id,
      key: new TextEncoder().encode(key),
      body: received.body,
      size: received.size,
      etag,
      contentType: replaces.metadata ? request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE : object.contentType,
      headers: replaces.metadata
        ? storedHeaders(request.headers, caller.repeated)
        : withStorageClass(object.headers, request.headers),
      checksums: checksums && JSON.stringify(checksums),
      tags: replaces.tags ? tags : object.tags,
      acl,
      owner,
      condition,
      atMs,
    });
    const headers = {
      ...writtenVersionHeader(version),
      ...(object.version === null ? {} : { "x-amz-copy-source-version-id": object.version }),
    };
    return xmlResponse(
      "CopyObjectResult",
      element("LastModified", xmlTime(atMs)) + element("ETag", `"${etag}"`) + checksumElements(checksums ?? {}),
      headers,
    );
  });
}

/** The checksum that the copy is to have instead of its source's. */
function copiedChecksum(name: string | null): ChecksumAlgorithm | null {
  const algorithm = name && algorithmOf(name);
  if (name !== null && !algorithm) {
    throw new S3Error("InvalidRequest", "x-amz-checksum-algorithm is not one that is provided");
  }
  return algorithm || null;
}

function isReplace(headers: Headers, name: string): boolean {
  const directive = headers.get(name) ?? "COPY";
  if (directive !== "COPY" && directive !== "REPLACE") {
    throw new S3Error("InvalidArgument", `${name} must be COPY or REPLACE`);
  }
  return directive === "REPLACE";
}

/**
 * Digests of the whole object hold for its copy; those computed from the digests of parts do not, since a copy has no
 * parts.
 */
function wholeChecksums(checksums: StoredObject["checksums"]): Checksums | null {
  return checksums?.type === "COMPOSITE" ? null : checksums;
}
