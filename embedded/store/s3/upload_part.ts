import type { ReceivedBody } from "@/embedded/store/bodies.ts";
import type { UploadName, VersionId } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import type { ByteRange } from "@/lib/std/header_encoding.ts";
import { type ChecksumAlgorithm, checksumHeaders } from "./checksums.ts";
import { findCopySource, parseCopySource, receiveCopy } from "./copy_source.ts";
import { receiveObjectBody, storeBody } from "./object_body.ts";
import { bucketAccess } from "./permitted.ts";
import { MAX_PUT_BYTES } from "./put_object.ts";
import { requireRoomForPart } from "./quota_room.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { statedDigests } from "./stated_digests.ts";
import { checksumElements, partChecksums } from "./upload_checksums.ts";
import { partNumber, presentUpload } from "./upload_parameters.ts";
import { element, xmlResponse, xmlTime } from "./xml.ts";

/** UploadPart: replaces an earlier part of its number. */
export async function uploadPart(call: S3Call): Promise<Response> {
  const { store, caller, request } = call;
  const number = partNumber(request);
  const { name, in: bucket, upload } = presentUpload(call);
  const requested = upload.checksumAlgorithm as ChecksumAlgorithm | null;
  const stated = statedDigests(request.headers, caller).checksum;
  if (requested && stated && stated !== requested) {
    throw new S3Error("InvalidRequest", `The upload was created with ${requested}; a part of it cannot have ${stated}`);
  }
  const { received } = await receiveObjectBody(
    store,
    request,
    caller,
    MAX_PUT_BYTES,
    [requested ?? DEFAULT_CHECKSUM],
    (size) => requireRoomForPart(store, bucket, upload.id, number, size),
  );
  // The SHA-256 of the signature was computed too, and is not a requested checksum.
  for (const name of [...received.digests.keys()]) {
    const isStored = name === (requested ?? DEFAULT_CHECKSUM) || (!requested && name === stated);
    if (name !== "md5" && !isStored) received.digests.delete(name);
  }
  const { etag, checksums } = await storePart(store, name, number, received);
  return new Response(null, { headers: { etag: `"${etag}"`, ...checksumHeaders(checksums) } });
}

/**
 * Stores a received body as a part, with its checksums.
 *
 * @throws {StoreError}
 */
function storePart(
  store: StoreContext,
  name: UploadName,
  number: number,
  received: ReceivedBody,
): Promise<{ etag: string; checksums: Record<string, string>; atMs: number }> {
  return storeBody(received, async () => {
    const etag = received.digests.get("md5") ?? "";
    const checksums = partChecksums(received.digests);
    const atMs = store.now();
    await store.writer.change("putPart", {
      ...name,
      number,
      body: received.body,
      size: received.size,
      etag,
      checksums,
      atMs,
    });
    return { etag, checksums: checksums === null ? {} : JSON.parse(checksums), atMs };
  });
}

/** Most bytes that one part may copy: 5 GiB (S3 API, UploadPartCopy). */
const MAX_COPY_BYTES = 5 * 1024 ** 3;

/** UploadPartCopy: a part out of an object, or out of a range of it. */
export async function uploadPartCopy(call: S3Call): Promise<Response> {
  const { store, request } = call;
  const number = partNumber(request);
  const { name, in: bucket, upload } = presentUpload(call);
  const source = parseCopySource(request.headers.get("x-amz-copy-source") ?? "");
  const find = findCopySource(call, source, bucketAccess(call, source.bucket));
  let length = 0;
  let version: VersionId = null;
  const { body } = await store.objects.open(find, (object) => {
    const { first, last } = sourceRange(request.headers.get("x-amz-copy-source-range"), object.size);
    length = last - first + 1;
    if (length > MAX_COPY_BYTES) throw new S3Error("InvalidRequest", "A part is limited to 5 GiB");
    requireRoomForPart(store, bucket, upload.id, number, length);
    version = object.version;
    return object.read(first, last);
  });
  const algorithms = [(upload.checksumAlgorithm ?? DEFAULT_CHECKSUM) as DigestAlgorithm];
  const received = await receiveCopy(store, body, length, algorithms);
  const { etag, checksums, atMs } = await storePart(store, name, number, received);
  return xmlResponse(
    "CopyPartResult",
    element("ETag", `"${etag}"`) + element("LastModified", xmlTime(atMs)) + checksumElements(checksums),
    version === null ? {} : { "x-amz-copy-source-version-id": version },
  );
}

/** The bytes that a copy takes; the whole where there is no range. Unlike a read's, a range must lie inside. */
function sourceRange(header: string | null, size: number): ByteRange {
  if (header === null) return { first: 0, last: size - 1 };
  const match = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header);
  const range = match && { first: Number(match[1]), last: Number(match[2]) };
  if (!range || range.first > range.last) {
    throw new S3Error("InvalidArgument", "x-amz-copy-source-range must be bytes=first-last");
  }
  if (range.last >= size) throw new S3Error("InvalidRange", `The source of the copy has ${size} bytes`);
  return range;
}
