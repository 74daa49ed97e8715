import { randomBytes } from "node:crypto";
import type { ReceivedBody } from "@/embedded/store/bodies.ts";
import type { CompletedPart, UploadName, VersionId } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { Upload, UploadedPart } from "@/embedded/store/entry_pages.ts";
import { DEFAULT_CHECKSUM } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import type { ByteRange } from "@/lib/std/header_encoding.ts";
import { requestedAcl } from "./access_lists.ts";
import { bucketAccess, type Caller, permittedBucket, type S3Call, signedUser } from "./caller.ts";
import {
  type ChecksumAlgorithm,
  checksumElements,
  checksumHeaders,
  checksumKind,
  checksumsIn,
  checksumsOf,
  statedDigests,
  uploadChecksum,
} from "./checksums.ts";
import { findCopySource, parseCopySource, receiveCopy } from "./copy_object.ts";
import { keyText, listingResponse, ownerElement, pageParameters } from "./listings.ts";
import { writtenVersionHeader } from "./read_object.ts";
import { checksumOf, receiveObjectBody, storeBody, xmlBody } from "./received_body.ts";
import { DEFAULT_CONTENT_TYPE, storedHeaders, writeCondition } from "./request_headers.ts";
import {
  keyBytes,
  MAX_PARTS,
  MAX_WRITE_BYTES,
  pageSize,
  partNumber,
  type S3Request,
  wholeNumber,
} from "./s3_request.ts";
import { requestedTags, requireRoomForPart } from "./write_object.ts";
import { childWord, element, type XmlElement, xmlResponse, xmlTime } from "./xml.ts";

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
    key: keyBytes(key),
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

/** Starts with the time, so that uploads of one key sort by their start; the rest cannot be guessed. */
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

/** UploadPart: replaces an earlier part of its number. */
export async function uploadPart(call: S3Call): Promise<Response> {
  const { store, caller, request } = call;
  const number = partNumber(request);
  const { name, in: bucket, upload } = presentUpload(call);
  const requested = upload.checksumAlgorithm as ChecksumAlgorithm | null;
  const stated = statedDigests(request.headers, caller).checksum;
  if (requested && stated && stated !== requested) {
    throw new StoreError(
      "InvalidRequest",
      `The upload was created with ${requested}; a part of it cannot have ${stated}`,
    );
  }
  const admit = (size: number) => requireRoomForPart(store, bucket, { upload: upload.id, number }, size);
  const { received } = await receiveObjectBody(call, admit, [requested ?? DEFAULT_CHECKSUM]);
  const stored: DigestAlgorithm[] = requested ? [requested] : [DEFAULT_CHECKSUM, ...(stated ? [stated] : [])];
  const { etag, checksums } = await storePart(store, { ...name, number }, received, stored);
  return new Response(null, { headers: { etag: `"${etag}"`, ...checksumHeaders(checksums) } });
}

/**
 * Stores a received body as a part, with its checksums.
 *
 * @throws {StoreError}
 */
async function storePart(
  store: StoreContext,
  name: UploadName & { readonly number: number },
  received: ReceivedBody,
  algorithms: readonly DigestAlgorithm[],
): Promise<{ etag: string; checksums: Record<string, string>; atMs: number }> {
  const { body, size, digests } = received;
  const etag = digests.get("md5") ?? "";
  const checksums = Object.fromEntries(algorithms.map((algorithm) => [algorithm, checksumOf(received, algorithm)]));
  const atMs = store.now();
  const part = { ...name, body, size, etag, checksums: JSON.stringify(checksums), atMs };
  await storeBody(received, () => store.writer.change("putPart", part));
  return { etag, checksums, atMs };
}

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
    if (length > MAX_WRITE_BYTES) throw new StoreError("InvalidRequest", "A part is limited to 5 GiB");
    requireRoomForPart(store, bucket, { upload: upload.id, number }, length);
    version = object.version;
    return object.read(first, last);
  });
  const algorithms = [(upload.checksumAlgorithm ?? DEFAULT_CHECKSUM) as DigestAlgorithm];
  const received = await receiveCopy(store, body, length, algorithms);
  const { etag, checksums, atMs } = await storePart(store, { ...name, number }, received, algorithms);
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
    throw new StoreError("InvalidArgument", "x-amz-copy-source-range must be bytes=first-last");
  }
  if (range.last >= size) throw new StoreError("InvalidRange", `The source of the copy has ${size} bytes`);
  return range;
}

/** CompleteMultipartUpload: the object appears whole, or not at all. */
export async function completeMultipartUpload(call: S3Call): Promise<Response> {
  const { store, caller, request, key } = call;
  const { in: bucket, ...name } = namedUpload(call);
  const condition = writeCondition(request.headers);
  const size = statedSize(request.headers.get("x-amz-mp-object-size"));
  const xml = await receiveXml(request, caller);
  const parts = judgedParts(xml, () => store.uploads.find(name.bucket, name.key, name.upload) !== null);
  const { version, etag, checksums } = await store.writer.change("completeUpload", {
    ...name,
    parts,
    checksums: checksumsOf(request.headers),
    size,
    condition,
    atMs: store.now(),
  });
  const path = [bucket.name, ...key.split("/")].map(encodeURIComponent).join("/");
  return xmlResponse(
    "CompleteMultipartUploadResult",
    element("Location", `http://${request.headers.get("host") ?? ""}/${path}`) +
      element("Bucket", bucket.name) + element("Key", key) +
      element("ETag", `"${etag}"`) + checksumElements(checksums ?? {}),
    writtenVersionHeader(version),
  );
}

/**
 * The parts that CompleteMultipartUpload names. An unknown upload is reported before errors in them.
 *
 * @throws {StoreError}
 */
function judgedParts(xml: XmlElement, isOpen: () => boolean): CompletedPart[] {
  try {
    return completedParts(xml);
  } catch (error) {
    throw isOpen() ? error : new StoreError("NoSuchUpload");
  }
}

/**
 * The parts that CompleteMultipartUpload names, in ascending order of their numbers.
 *
 * @throws {StoreError}
 */
export function completedParts(xml: XmlElement): CompletedPart[] {
  if (xml.name !== "CompleteMultipartUpload") throw new StoreError("MalformedXML");
  const parts = xml.children.filter(({ name }) => name === "Part").map(completedPart);
  if (parts.length === 0 || parts.length > MAX_PARTS) {
    throw new StoreError("MalformedXML", `A complete must name 1 to ${MAX_PARTS} parts`);
  }
  if (parts.some(({ number }, i) => i > 0 && number <= parts[i - 1].number)) throw new StoreError("InvalidPartOrder");
  return parts;
}

function completedPart(xml: XmlElement): CompletedPart {
  const number = childWord(xml, "PartNumber");
  const etag = childWord(xml, "ETag")?.replace(/^"(.*)"$/, "$1");
  if (number === null || etag === undefined || !/^[0-9]{1,9}$/.test(number)) {
    throw new StoreError("MalformedXML", "Each Part must have a PartNumber and an ETag");
  }
  if (Number(number) < 1 || Number(number) > MAX_PARTS) {
    throw new StoreError("InvalidArgument", `PartNumber must be a whole number from 1 to ${MAX_PARTS}`);
  }
  if (!/^[0-9a-f]{32}$/.test(etag)) throw new StoreError("InvalidPart");
  return { number: Number(number), etag, checksums: checksumsIn(xml) };
}

function statedSize(text: string | null): number | null {
  if (text === null) return null;
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw new StoreError("InvalidRequest", "x-amz-mp-object-size must be a whole number");
  }
  return Number(text);
}

/**
 * Receives the XML body of CompleteMultipartUpload like {@link xmlBody}, without the checksums of its headers: those
 * belong to the object, not to the body. A checksum in the trailer belongs to the body. The root may have any name.
 *
 * @throws like xmlBody
 */
function receiveXml(request: S3Request, caller: Caller): Promise<XmlElement> {
  const headers = new Headers(request.headers);
  for (const name of request.headers.keys()) if (OF_THE_OBJECT.test(name)) headers.delete(name);
  return xmlBody({ ...request, headers }, caller, null);
}

const OF_THE_OBJECT = /^x-amz-(?:checksum-|sdk-checksum-algorithm$)/;

/** ListMultipartUploads: those under way, by their keys, those of one key in the order they were started. */
export function listMultipartUploads(call: S3Call): Response {
  const { store, request } = call;
  signedUser(call.caller);
  const { bucket, prefix, delimiter, bytes, limit, isEncoded } = pageParameters(call, "max-uploads");
  const keyMarker = request.parameter("key-marker") ?? "";
  // Without a key it has no meaning, and S3 ignores it.
  const uploadMarker = keyMarker === "" ? "" : request.parameter("upload-id-marker") ?? "";
  const page = store.uploads.list(bucket.id, { ...bytes, keyMarker: keyBytes(keyMarker), uploadMarker, limit });
  const next = limit > 0 ? page.next : null;
  return listingResponse("ListMultipartUploadsResult", isEncoded, page.prefixes, ({ encodeKey, encoding }) => [
    element("Bucket", bucket.name),
    element("KeyMarker", encodeKey(keyMarker)),
    element("UploadIdMarker", uploadMarker),
    next
      ? element("NextKeyMarker", encodeKey(keyText(next.key))) + element("NextUploadIdMarker", next.entry?.id ?? "")
      : "",
    element("Prefix", encodeKey(prefix)),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("MaxUploads", limit),
    element("IsTruncated", next !== null),
    encoding,
    ...page.entries.map((upload) => uploadElement(store, upload, encodeKey)),
  ]);
}

function uploadElement(store: StoreContext, upload: Upload, encodeKey: (key: string) => string): string {
  return `<Upload>${element("Key", encodeKey(keyText(upload.key)))}${element("UploadId", upload.id)}` +
    ownerElement(store.accounts, "Initiator", upload.owner) + ownerElement(store.accounts, "Owner", upload.owner) +
    `${element("StorageClass", upload.storageClass ?? "STANDARD")}${element("Initiated", xmlTime(upload.startedMs))}` +
    `${checksumKind(upload.checksumAlgorithm, upload.checksumType)}</Upload>`;
}

/**
 * The bucket, key and upload that a request names, for callers that may write to the bucket.
 *
 * @throws {StoreError}
 */
function namedUpload(call: S3Call): UploadName & { in: Bucket; by: number } {
  const { request, bucket: name, key } = call;
  // Uploads need a signed request, like in S3: every anonymous client could use those of another one.
  const { id: by } = signedUser(call.caller);
  const bucket = permittedBucket(call, name, "WRITE");
  const upload = request.parameter("uploadId") ?? "";
  return { bucket: bucket.id, key: keyBytes(key), upload, in: bucket, by };
}

/**
 * The upload that a request names, under way.
 *
 * @throws {StoreError} NoSuchUpload, or as namedUpload does
 */
function presentUpload(call: S3Call): { name: UploadName; in: Bucket; upload: Upload } {
  const { in: bucket, by: _by, ...name } = namedUpload(call);
  const upload = call.store.uploads.find(name.bucket, name.key, name.upload);
  if (!upload) throw new StoreError("NoSuchUpload");
  return { name, in: bucket, upload };
}
