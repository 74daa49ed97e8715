import type { ReceivedBody } from "@/embedded/store/bodies.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import type { Input } from "@/embedded/store/writer/change_kinds.ts";
import { requestedAcl } from "./access_lists.ts";
import type { S3Call } from "./caller.ts";
import { type ChecksumAlgorithm, checksumHeaders, type Checksums } from "./checksums.ts";
import { requestedTags } from "./object_tags.ts";
import { permittedBucket } from "./permitted.ts";
import { writtenVersionHeader } from "./read_object.ts";
import { checksumOf, receiveObjectBody, storeBody } from "./received_body.ts";
import { DEFAULT_CONTENT_TYPE, rejectHeaders, storedHeaders, writeCondition } from "./request_headers.ts";
import { keyBytes } from "./s3_request.ts";

/** Headers of a copy, which have no meaning without its source. */
const UNSUPPORTED = /^x-amz-copy-source/;

/** PutObject: the body becomes the object once it arrived whole and its digests match. */
export async function putObject(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name, key } = call;
  const bucket = permittedBucket(call, name, "WRITE");
  rejectHeaders(request.headers, UNSUPPORTED);
  const condition = writeCondition(request.headers);
  const tags = requestedTags(call);
  // The object of an anonymous request belongs to the bucket's owner, who allowed everybody to write.
  const owner = caller.user?.id ?? bucket.owner;
  const acl = requestedAcl(call, bucket.record, { owner, bucketOwner: bucket.owner });
  const contentType = request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE;
  const headers = storedHeaders(request.headers, caller.repeated);
  const { received, algorithm } = await receiveObjectBody(call, (size) => requireRoom(store, bucket, key, size));
  const checksums = wholeChecksum(received, algorithm);
  const object = { contentType, headers, checksums: JSON.stringify(checksums), tags, acl, owner, condition };
  const { etag, written } = await storeObject(call, bucket, received, object);
  return new Response(null, { headers: { etag: `"${etag}"`, ...checksumHeaders(checksums), ...written } });
}

/**
 * Stores a received body as the object of a call.
 *
 * @returns also the headers that name its version
 * @throws {StoreError}
 */
export async function storeObject(
  { store, key }: S3Call,
  bucket: Bucket,
  received: ReceivedBody,
  object: Pick<Input<"putObject">, "contentType" | "headers" | "checksums" | "tags" | "acl" | "owner" | "condition">,
): Promise<{ etag: string; atMs: number; written: Record<string, string> }> {
  const { body, size, digests } = received;
  const etag = digests.get("md5") ?? "";
  const at = { bucket: bucket.id, key: keyBytes(key), atMs: store.now() };
  const put = () => store.writer.change("putObject", { ...at, body, size, etag, ...object });
  const { version } = await storeBody(received, put);
  return { etag, atMs: at.atMs, written: writtenVersionHeader(version) };
}

/** The checksum of a whole body as it is stored with an object. */
export function wholeChecksum(received: ReceivedBody, algorithm: ChecksumAlgorithm): Checksums {
  return { [algorithm]: checksumOf(received, algorithm), type: "FULL_OBJECT" };
}

/**
 * Checks the quotas before a body is received. It never rejects a write that the writer, which decides, would accept.
 *
 * @throws {StoreError} QuotaExceeded where an object of `size` bytes does not fit
 */
export function requireRoom(store: StoreContext, bucket: Bucket, key: string, size: number): void {
  requireFits(store, bucket, size, () => {
    if (bucket.versioning === "enabled") {
      const { prune, pruneDays } = store.buckets.versionSettings(bucket.id);
      return prune && pruneDays === 0 ? Infinity : 0;
    }
    const version = bucket.versioning === "off" ? null : "null";
    const found = store.objects.find(bucket.id, bucket.versioning, keyBytes(key), version);
    return found && !("marker" in found) ? found.size : 0;
  });
}

/** Like {@link requireRoom}, for a part of an upload. */
export function requireRoomForPart(
  store: StoreContext,
  bucket: Bucket,
  { upload, number }: { readonly upload: string; readonly number: number },
  size: number,
): void {
  requireFits(store, bucket, size, () => {
    const [part] = store.uploads.parts(upload, number - 1, 1);
    return part?.number === number ? part.size : 0;
  });
}

/** `replaced` returns the bytes that the write would free. */
function requireFits(store: StoreContext, bucket: Bucket, size: number, replaced: () => number): void {
  const room = store.buckets.room(bucket.id);
  if (size <= room) return;
  const growth = size - replaced();
  if (growth > 0 && growth > room) throw new StoreError("QuotaExceeded");
}
