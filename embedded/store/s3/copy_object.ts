import { type BodyFolder, BrokenBody, type Bytes, receiveBody, type ReceivedBody } from "@/embedded/store/bodies.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { StoredObject } from "@/embedded/store/stored_objects.ts";
import { streamReader } from "@/lib/std/body_reader.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { utf8Text } from "@/lib/std/header_encoding.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { requestedAcl } from "./access_lists.ts";
import {
  type BucketAccess,
  bucketAccess,
  bucketByDataAccess,
  permittedBucket,
  permittedObject,
  type S3Call,
  signedUser,
} from "./caller.ts";
import { type ChecksumAlgorithm, checksumAlgorithmOf, checksumElements, namedAlgorithm } from "./checksums.ts";
import { versionText } from "./read_object.ts";
import {
  checkReadConditions,
  DEFAULT_CONTENT_TYPE,
  rejectHeaders,
  requireOwner,
  storedHeaders,
  withStorageClass,
  writeCondition,
} from "./request_headers.ts";
import { keyBytes, MAX_WRITE_BYTES } from "./s3_request.ts";
import { requestedTags, requireRoom, storeObject, wholeChecksum } from "./write_object.ts";
import { element, xmlResponse, xmlTime } from "./xml.ts";

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
  const requested = namedAlgorithm(request.headers);
  const replaces = {
    metadata: isReplace(request.headers, "x-amz-metadata-directive"),
    tags: isReplace(request.headers, "x-amz-tagging-directive"),
  };
  if (
    from.bucket.id === target.id && source.key === key && source.version === null && !replaces.metadata &&
    !replaces.tags && !requested && !request.headers.has("x-amz-storage-class")
  ) {
    throw new StoreError(
      "InvalidRequest",
      "A copy onto itself must change the metadata, the tags or the storage class",
    );
  }
  const condition = writeCondition(request.headers);
  const contentType = request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE;
  const headers = replaces.metadata ? storedHeaders(request.headers, caller.repeated) : null;
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
    if (found.size > MAX_WRITE_BYTES) throw new StoreError("InvalidRequest", "A single copy is limited to 5 GiB");
    requireRoom(store, target, key, found.size);
    return found;
  };
  const { found: object, body } = await store.objects.open(
    findPermitted,
    ({ size, read }) => size === 0 ? Promise.resolve(new Uint8Array()) : read(0, size - 1),
  );
  // Digests of the whole object hold for its copy; those computed from the digests of parts do not.
  const copied = requested || object.checksums?.type === "COMPOSITE" ? null : object.checksums;
  const algorithm = requested ?? (checksumAlgorithmOf(object) as ChecksumAlgorithm | null) ?? DEFAULT_CHECKSUM;
  const received = await receiveCopy(store, body, object.size, copied ? [] : [algorithm]);
  const checksums = copied ?? wholeChecksum(received, algorithm);
  const { etag, atMs, written } = await storeObject(call, target, received, {
    contentType: replaces.metadata ? contentType : object.contentType,
    headers: replaces.metadata ? headers : withStorageClass(object.headers, request.headers),
    checksums: JSON.stringify(checksums),
    tags: replaces.tags ? tags : object.tags,
    acl,
    owner,
    condition,
  });
  return xmlResponse(
    "CopyObjectResult",
    element("LastModified", xmlTime(atMs)) + element("ETag", `"${etag}"`) + checksumElements(checksums),
    { ...written, ...(object.version === null ? {} : { "x-amz-copy-source-version-id": object.version }) },
  );
}

function isReplace(headers: Headers, name: string): boolean {
  const directive = headers.get(name) ?? "COPY";
  if (directive !== "COPY" && directive !== "REPLACE") {
    throw new StoreError("InvalidArgument", `${name} must be COPY or REPLACE`);
  }
  return directive === "REPLACE";
}

/**
 * Reads the header x-amz-copy-source: a percent-encoded bucket and key, with or without a slash before them, and
 * perhaps a version. As in S3, a plus is a blank, and the slash after the bucket may be encoded.
 *
 * @throws {StoreError} InvalidArgument
 */
export function parseCopySource(header: string) {
  const [, path = "", version] = /^([^]*?)(?:\?versionId=([^&?]*))?$/.exec(utf8Text(header)) ?? [];
  const [, bucket, key] = /^\/?([^/?]+)\/([^]+)$/.exec(decoded(path)) ?? invalid();
  if (version === "") invalid();
  return { bucket, key, version: version === undefined ? null : versionText(decoded(version)) };
}

/**
 * Looks up the source of a copy. The caller must be allowed to read it, and the copy's own conditions must hold.
 *
 * @returns a look-up that may be repeated
 * @throws {StoreError}
 */
export function findCopySource(
  { store, caller, request }: S3Call,
  source: ReturnType<typeof parseCopySource>,
  access: BucketAccess,
): () => StoredObject {
  const owner = request.headers.get("x-amz-source-expected-bucket-owner");
  if (owner !== null) requireOwner(store, { id: caller.tenant }, source.bucket, owner);
  const key = keyBytes(source.key);
  const { bucket } = access;
  const look = () => {
    const found = store.objects.find(bucket.id, bucket.versioning, key, source.version);
    if (!found) throw new StoreError(source.version === null ? "NoSuchKey" : "NoSuchVersion");
    if ("marker" in found) {
      if (source.version === null) throw new StoreError("NoSuchKey");
      throw new StoreError("InvalidRequest", "The source of the copy is a delete marker");
    }
    return found;
  };
  return () => {
    const found = permittedObject(access, "READ", look);
    checkCopyConditions(request.headers, found);
    return found;
  };
}

/**
 * Receives the bytes of a source, `size` of them, as a new body with these digests. On an error nothing remains.
 *
 * @throws what reading the source threw
 */
export async function receiveCopy(
  folder: BodyFolder,
  bytes: ReadableStream<Bytes> | Bytes,
  size: number,
  algorithms: readonly DigestAlgorithm[],
): Promise<ReceivedBody> {
  const source = bytes instanceof Uint8Array ? new Response(bytes).body : bytes;
  const reader = source && streamReader(source);
  const received = await receiveBody(folder, reader, algorithms).catch(async (error) => {
    // An error such as a full disk does not end the source by itself, whose files would stay open.
    await source?.cancel(error).catch(() => {});
    throw error instanceof BrokenBody ? error.cause : error;
  });
  if (received.size === size) return received;
  received.discard();
  throw new StoreError("InternalError", "The source of the copy could not be read whole");
}

/** The conditions of a copy are those of a read, with one error for all that fail. */
function checkCopyConditions(headers: Headers, object: StoredObject): void {
  const conditions = new Headers();
  for (const name of ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]) {
    const value = headers.get(`x-amz-copy-source-${name}`);
    if (value !== null) conditions.set(name, value);
  }
  try {
    checkReadConditions(conditions, object, {});
  } catch (error) {
    if (error instanceof StoreError && error.code === "NotModified") throw new StoreError("PreconditionFailed");
    throw error;
  }
}

function decoded(text: string): string {
  return percentDecoded(text.replaceAll("+", " ")) ?? invalid();
}

function invalid(): never {
  throw new StoreError("InvalidArgument", "The header x-amz-copy-source must be a bucket, a slash and an encoded key");
}
