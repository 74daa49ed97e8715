import type { ReceivedBody } from "@/embedded/store/bodies.ts";
import type { Deleted, Deletion } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { isNoSpace, StoreError } from "@/embedded/store/store_error.ts";
import { type Bucket, roomIn } from "@/embedded/store/stored_buckets.ts";
import type { Input } from "@/embedded/store/writer/reported_changes.ts";
import { MAX_DELETIONS } from "@/embedded/store/writer/writer_client.ts";
import { utf8Text } from "@/lib/std/header_encoding.ts";
import { requestedAcl } from "./access_lists.ts";
import { bucketByDataAccess, permittedBucket, type S3Call } from "./caller.ts";
import { type ChecksumAlgorithm, checksumAlgorithm, checksumHeaders, type Checksums } from "./checksums.ts";
import { findObject, versionHeader, versionParameter, writtenVersionHeader } from "./read_object.ts";
import { checksumOf, receiveObjectBody, storeBody, xmlBody } from "./received_body.ts";
import { DEFAULT_CONTENT_TYPE, rejectHeaders, storedHeaders, unquotedEtag, writeCondition } from "./request_headers.ts";
import { keyBytes, MAX_KEY_BYTES, parseQuery } from "./s3_request.ts";
import { childText, childWord, element, toStoreError, type XmlElement, xmlResponse } from "./xml.ts";

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
  const room = roomIn(store.index, bucket.id);
  if (size <= room) return;
  const growth = size - replaced();
  if (growth > 0 && growth > room) throw new StoreError("QuotaExceeded");
}

/** A tag of an object. */
type Tag = readonly [key: string, value: string];

/** Most tags of one object, and their longest keys and values in characters (S3 API, object tagging). */
const MAX_TAGS = 10;
const MAX_KEY_CHARACTERS = 128;
const MAX_VALUE_CHARACTERS = 256;

/** Characters that S3 allows in tags: letters, digits and spaces of any script, and a few signs. */
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/**
 * Tags as the index stores them, null where there are none.
 *
 * @throws {StoreError} InvalidTag for what S3 forbids
 */
function serializeTags(tags: readonly Tag[]): string | null {
  if (tags.length > MAX_TAGS) throw new StoreError("InvalidTag", `An object may have ${MAX_TAGS} tags at most`);
  if (new Set(tags.map(([key]) => key)).size < tags.length) {
    throw new StoreError("InvalidTag", "The keys of the tags must differ");
  }
  for (const [key, value] of tags) {
    if (key === "" || [...key].length > MAX_KEY_CHARACTERS || !ALLOWED.test(key) || /^aws:/i.test(key)) {
      throw new StoreError("InvalidTag", "The key of a tag is not valid");
    }
    if ([...value].length > MAX_VALUE_CHARACTERS || !ALLOWED.test(value)) {
      throw new StoreError("InvalidTag", "The value of a tag is not valid");
    }
  }
  return tags.length === 0 ? null : JSON.stringify(tags);
}

/**
 * Tags of the header x-amz-tagging, which has the form of a query, as the index stores them; empty pairs are ignored.
 *
 * @throws {StoreError} InvalidArgument or InvalidTag
 */
function statedTags(header: string | null): string | null {
  if (header === null || header === "") return null;
  return serializeTags(parseQuery(utf8Text(header)));
}

/**
 * The tags of a write, from x-amz-tagging, as the index stores them; null where it has none. As in S3, an access list
 * that allows writing does not allow setting tags.
 *
 * @throws {StoreError} AccessDenied, InvalidArgument or InvalidTag
 */
export function requestedTags(call: S3Call): string | null {
  const tags = statedTags(call.request.headers.get("x-amz-tagging"));
  if (tags !== null) bucketByDataAccess(call, call.bucket, "WRITE");
  return tags;
}

/** PutObjectTagging: the tags of the body replace all others. */
export async function putObjectTagging(call: S3Call): Promise<Response> {
  bucketByDataAccess(call, call.bucket, "WRITE");
  const document = await xmlBody(call.request, call.caller, "Tagging");
  return await changeTags(call, serializeTags(tagsOf(document)), 200);
}

/** DeleteObjectTagging */
export function deleteObjectTagging(call: S3Call): Promise<Response> {
  return changeTags(call, null, 204);
}

/** GetObjectTagging */
export function getObjectTagging(call: S3Call): Response {
  const { store, request, bucket: name, key } = call;
  const bucket = bucketByDataAccess(call, name, "READ");
  const object = findObject(store, bucket, key, versionParameter(request));
  const stored: Tag[] = JSON.parse(object.tags ?? "[]");
  const tags = stored.map(([name, value]) => `<Tag>${element("Key", name)}${element("Value", value)}</Tag>`);
  return xmlResponse("Tagging", `<TagSet>${tags.join("")}</TagSet>`, versionHeader(object.version));
}

async function changeTags(call: S3Call, tags: string | null, status: number): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const bucket = bucketByDataAccess(call, name, "WRITE");
  const { version } = await store.writer.change("setTags", {
    bucket: bucket.id,
    key: keyBytes(key),
    version: versionParameter(request),
    tags,
  });
  return new Response(null, { status, headers: bucket.versioning === "off" ? {} : versionHeader(version) });
}

function tagsOf(document: XmlElement): Tag[] {
  const [set, ...more] = document.children;
  if (set?.name !== "TagSet" || more.length > 0) throw new StoreError("MalformedXML", "Tagging must hold one TagSet");
  return set.children.map((tag) => {
    const key = childText(tag, "Key");
    const value = childText(tag, "Value");
    if (tag.name !== "Tag" || key === null || value === null) {
      throw new StoreError("MalformedXML", "A TagSet must hold Tag elements with Key and Value");
    }
    return [key, value];
  });
}

/** Conditions that S3 does not have for deletions: ignoring them would be worse than an error. */
const UNSUPPORTED_CONDITIONS = /^if-(?:none-match|modified-since|unmodified-since)$/;

/** DeleteObject: an absent key is no error, unless a condition names its ETag. */
export async function deleteObject(call: S3Call): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const wanted = versionParameter(request);
  const bucket = (wanted === null ? permittedBucket : bucketByDataAccess)(call, name, "DELETE");
  rejectHeaders(request.headers, UNSUPPORTED_CONDITIONS);
  const ifMatch = request.headers.get("if-match");
  const deletion = { key: keyBytes(key), version: wanted, ifMatch: ifMatch === null ? null : unquotedEtag(ifMatch) };
  const [outcome] = await deleteAll(store, bucket.id, [deletion]);
  if (outcome instanceof StoreError) throw outcome;
  const { version, isMarker } = outcome;
  const headers = { ...versionHeader(version), ...(isMarker ? { "x-amz-delete-marker": "true" } : {}) };
  return new Response(null, { status: 204, headers });
}

/** Most keys of one request (S3 API, DeleteObjects). */
const MAX_OBJECTS = 1000;

interface Wanted {
  key: string;
  version: string | null;
  etag: string | null;
  rejected: StoreError | null;
}

/** DeleteObjects: each key has its own outcome, and an absent one is no error, unless a condition names its ETag. */
export async function deleteObjects(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name } = call;
  const bucket = permittedBucket(call, name, "DELETE");
  if (!carriesDigest(request.headers)) {
    throw new StoreError("InvalidRequest", "The header Content-MD5 or one of x-amz-checksum- is required");
  }
  const document = await xmlBody(request, caller, "Delete");
  const isQuiet = childWord(document, "Quiet") === "true";
  const wanted = document.children.filter((child) => child.name === "Object").map(wantedOf);
  if (wanted.length === 0 || wanted.length > MAX_OBJECTS) {
    throw new StoreError("MalformedXML", `The body must name 1 to ${MAX_OBJECTS} objects`);
  }
  if (wanted.some(({ version }) => version !== null)) bucketByDataAccess(call, name, "DELETE");
  const allowed = wanted.filter(({ rejected }) => !rejected)
    .map(({ key, version, etag }) => ({ key: keyBytes(key), version, ifMatch: etag }));
  const outcomes = (await deleteAll(store, bucket.id, allowed)).values();
  const entries = wanted.map((one) => {
    const outcome = one.rejected ?? outcomes.next().value;
    if (!outcome || outcome instanceof StoreError) return errorElement(one, outcome ?? new StoreError("InternalError"));
    return isQuiet ? "" : deletedElement(one, outcome);
  });
  return xmlResponse("DeleteResult", entries.join(""));
}

/** Deletes objects, some at a time, so that other changes do not wait for all of them. */
export async function deleteAll(
  store: Pick<StoreContext, "writer" | "now">,
  bucket: number,
  objects: readonly Deletion[],
): Promise<(Deleted | StoreError)[]> {
  const outcomes: (Deleted | StoreError)[] = [];
  for (let at = 0; at < objects.length; at += MAX_DELETIONS) {
    outcomes.push(...await deleteSome(store, bucket, objects.slice(at, at + MAX_DELETIONS)));
  }
  return outcomes;
}

/** Deletes objects in one change, or in two where the disk has no room for the log of all of them. */
async function deleteSome(
  store: Pick<StoreContext, "writer" | "now">,
  bucket: number,
  objects: readonly Deletion[],
): Promise<(Deleted | StoreError)[]> {
  try {
    const { outcomes } = await store.writer.change("deleteObjects", { bucket, objects, atMs: store.now() });
    return outcomes.map((one) => "error" in one ? new StoreError(one.error) : one);
  } catch (error) {
    if (isNoSpace(error) && objects.length > 1) {
      const half = Math.ceil(objects.length / 2);
      const first = await deleteSome(store, bucket, objects.slice(0, half));
      return [...first, ...await deleteSome(store, bucket, objects.slice(half))];
    }
    // One error for all, since each is logged.
    const failed = toStoreError(error);
    return objects.map(() => failed);
  }
}

function carriesDigest(headers: Headers): boolean {
  return headers.has("content-md5") || headers.has("x-amz-trailer") ||
    [...headers.keys()].some((name) => checksumAlgorithm(name) !== null);
}

function wantedOf(object: XmlElement): Wanted {
  const key = childText(object, "Key");
  if (key === null) throw new StoreError("MalformedXML", "An Object must have a Key");
  const version = childText(object, "VersionId");
  const etag = childText(object, "ETag");
  const unknown = object.children.find(({ name }) => !["Key", "VersionId", "ETag"].includes(name));
  let rejected: StoreError | null = null;
  if (key === "") rejected = new StoreError("InvalidArgument", "Key must not be empty");
  else if (keyBytes(key).length > MAX_KEY_BYTES) rejected = new StoreError("KeyTooLongError");
  else if (version === "") rejected = new StoreError("InvalidArgument", "VersionId must not be empty");
  else if (unknown) rejected = new StoreError("NotImplemented", `The condition ${unknown.name} is not provided`);
  return { key, version, etag: etag === null ? null : unquotedEtag(etag), rejected };
}

function deletedElement({ key, version }: Wanted, result: Deleted): string {
  const marker = result.isMarker && result.version !== null
    ? `<DeleteMarker>true</DeleteMarker>${element("DeleteMarkerVersionId", result.version)}`
    : "";
  return `<Deleted>${element("Key", key)}${version === null ? "" : element("VersionId", version)}${marker}</Deleted>`;
}

function errorElement({ key, version }: Wanted, error: StoreError): string {
  const named = element("Key", key) + (version ? element("VersionId", version) : "");
  return `<Error>${named}${element("Code", error.sentCode)}${element("Message", error.message)}</Error>`;
}
