import type { Permission } from "@/embedded/store/access.ts";
import type { VersionId } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { VERSION_ID } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import type { ObjectPart, StoredObject } from "@/embedded/store/stored_objects.ts";
import { type ByteRange, parseByteRange } from "@/lib/std/header_encoding.ts";
import { type BucketAccess, bucketAccess, permittedObject, type S3Call } from "./caller.ts";
import { checksumAlgorithmOf, checksumElements, checksumHeaders, type Checksums } from "./checksums.ts";
import { checkReadConditions, rangeHolds, sentHeader, storageClassOf, STORED_HEADERS } from "./request_headers.ts";
import { keyBytes, partNumber, type S3Request } from "./s3_request.ts";
import { element, xmlResponse } from "./xml.ts";

/** Response headers that a signed request may set for its own response. */
const OVERRIDABLE = ["content-type", ...STORED_HEADERS];

/** The query parameters of a read. */
export const READ_PARAMETERS = ["versionId", "partNumber", ...OVERRIDABLE.map((name) => `response-${name}`)];

/** GetObject and HeadObject */
export async function getObject(call: S3Call): Promise<Response> {
  const { store, request, bucket: name } = call;
  const access = bucketAccess(call, name);
  const find = () => permittedVersion(call, "READ", access);
  const response = { status: 200, headers: new Headers() };
  const { body } = await store.objects.open(find, (object) => {
    response.headers = objectHeaders(object, request);
    checkReadConditions(request.headers, object, Object.fromEntries(response.headers));
    const numbered = numberedPart(request, object);
    const range = numbered?.range ?? statedRange(request, object);
    response.status = range ? 206 : 200;
    const part = range ?? { first: 0, last: object.size - 1 };
    // A part without bytes has no range that could be named.
    if (range && range.last >= range.first) {
      response.headers.set("content-range", `bytes ${range.first}-${range.last}/${object.size}`);
    }
    if (numbered) setChecksums(response.headers, numbered.checksums, request);
    else if (!range) setChecksums(response.headers, object.checksums, request);
    if (numbered && numbered.count !== null) response.headers.set("x-amz-mp-parts-count", String(numbered.count));
    response.headers.set("content-length", String(part.last - part.first + 1));
    return request.method === "HEAD" ? Promise.resolve(new Uint8Array()) : object.read(part.first, part.last);
  });
  if (request.method === "GET") {
    store.reads.count(access.bucket.id, Number(response.headers.get("content-length") ?? 0));
  }
  return new Response(request.method === "HEAD" ? null : body, response);
}

function statedRange(request: S3Request, object: StoredObject): ByteRange | null {
  if (!rangeHolds(request.headers.get("if-range"), object)) return null;
  const range = parseByteRange(request.headers.get("range"), object.size);
  if (range !== "unsatisfiable") return range;
  throw new StoreError("InvalidRange", undefined, { "content-range": `bytes */${object.size}` });
}

function objectHeaders(object: StoredObject, request: S3Request): Headers {
  const headers = new Headers({
    "content-type": object.contentType,
    etag: `"${object.etag}"`,
    "last-modified": new Date(object.modifiedMs).toUTCString(),
    "accept-ranges": "bytes",
    ...versionHeader(object.version),
  });
  for (const [name, value] of Object.entries(object.headers)) headers.set(name, sentHeader(name, value));
  const tags = JSON.parse(object.tags ?? "[]").length;
  if (tags > 0) headers.set("x-amz-tagging-count", String(tags));
  for (const name of OVERRIDABLE) {
    const override = request.parameter(`response-${name}`);
    if (override === null) continue;
    const value = sentHeader(name, override);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new StoreError("InvalidArgument", `response-${name} is not valid`);
    headers.set(name, value);
  }
  return headers;
}

/** Checksums are sent on request, of the whole object or of a numbered part; a range of bytes has none. */
function setChecksums(headers: Headers, checksums: Checksums | null, request: S3Request): void {
  const mode = request.headers.get("x-amz-checksum-mode");
  if (mode === null) return;
  if (mode.toUpperCase() !== "ENABLED") throw new StoreError("InvalidArgument", "x-amz-checksum-mode is not valid");
  for (const [name, value] of Object.entries(checksumHeaders(checksums))) headers.set(name, value);
}

/**
 * The part that a read selects by its number: the parts of an object count from 1 in their order, whatever the numbers
 * were that they were uploaded by, and an object that was not uploaded in parts is its own part 1 (S3 API, GetObject).
 * Null where the read selects none.
 *
 * @returns its range, whose `last` is before `first` where the part is empty, its checksum, and the number of parts, null
 *   for an object that was not uploaded in parts
 * @throws {StoreError} InvalidArgument, InvalidRequest beside a Range, or InvalidPartNumber
 */
function numberedPart(request: S3Request, object: StoredObject) {
  if (request.parameter("partNumber") === null) return null;
  const number = partNumber(request);
  if (request.headers.has("range")) throw new StoreError("InvalidRequest", "partNumber and Range do not go together");
  const parts = object.parts();
  const sizes = parts?.map(({ size }) => size) ?? [object.size];
  if (number > sizes.length) throw new StoreError("InvalidPartNumber");
  const first = sizes.slice(0, number - 1).reduce((sum, size) => sum + size, 0);
  const range = { first, last: first + sizes[number - 1] - 1 };
  if (!parts) return { range, count: null, checksums: object.checksums };
  return { range, count: parts.length, checksums: partChecksums(object, parts[number - 1]) };
}

/** A part's own checksum with the type of the object's, as S3 shows it. */
function partChecksums(object: StoredObject, { checksum }: ObjectPart): Checksums | null {
  const algorithm = checksumAlgorithmOf(object);
  if (algorithm === null || checksum === undefined) return null;
  return { [algorithm]: checksum, ...(object.checksums?.type ? { type: object.checksums.type } : {}) };
}

/** The attributes that may be requested, in the order of the response. */
const ATTRIBUTES: Readonly<Record<string, (object: StoredObject, request: S3Request) => string>> = {
  ETag: ({ etag }) => element("ETag", etag),
  Checksum: ({ checksums }) => checksums ? `<Checksum>${checksumElements(withoutPartCount(checksums))}</Checksum>` : "",
  ObjectParts: partsElement,
  StorageClass: ({ headers }) => element("StorageClass", storageClassOf(headers)),
  ObjectSize: ({ size }) => element("ObjectSize", size),
};

/** Most parts of one page. */
const MAX_PAGE = 1000;

/** GetObjectAttributes: only the requested attributes, and of them only those that the object has. */
export function getObjectAttributes(call: S3Call): Response {
  const { request } = call;
  const access = bucketAccess(call, call.bucket);
  const requested = (request.headers.get("x-amz-object-attributes") ?? "").split(",").map((attribute) =>
    attribute.trim()
  );
  if (!requested.every((attribute) => Object.hasOwn(ATTRIBUTES, attribute))) {
    throw new StoreError(
      "InvalidArgument",
      `x-amz-object-attributes must name some of ${Object.keys(ATTRIBUTES).join(", ")}`,
    );
  }
  const object = permittedVersion(call, "READ", access);
  const content = Object.entries(ATTRIBUTES).map(([attribute, show]) =>
    requested.includes(attribute) ? show(object, request) : ""
  );
  return xmlResponse("GetObjectAttributesResponse", content.join(""), {
    "last-modified": new Date(object.modifiedMs).toUTCString(),
    ...versionHeader(object.version),
  });
}

/** A composite checksum without the number of its parts, as S3 shows it here; ObjectParts has that number. */
function withoutPartCount(checksums: Checksums): Checksums {
  return Object.fromEntries(Object.entries(checksums).map(([name, value]) => [name, value.replace(/-[0-9]+$/, "")]));
}

/** The parts of an object, a page at a time, each with its size, and its checksum where the upload had an algorithm. */
function partsElement(object: StoredObject, { headers }: S3Request): string {
  const parts = object.parts();
  if (!parts) return "";
  const algorithm = checksumAlgorithmOf(object);
  const marker = headers.get("x-amz-part-number-marker");
  const after = wholeNumber(marker ?? "0");
  if (after === null) throw new StoreError("InvalidArgument", "x-amz-part-number-marker must be a whole number from 0");
  // An invalid size counts as absent, like in S3.
  const limit = Math.min(wholeNumber(headers.get("x-amz-max-parts") ?? "") ?? MAX_PAGE, MAX_PAGE);
  const page = parts.slice(after, after + limit);
  const content = [
    element("IsTruncated", limit > 0 && after + limit < parts.length),
    element("MaxParts", limit),
    element("NextPartNumberMarker", after + page.length),
    element("PartNumberMarker", after),
    ...page.map((part, i) => partElement(part, after + i + 1, algorithm)),
    element("PartsCount", parts.length),
  ];
  return `<ObjectParts>${content.join("")}</ObjectParts>`;
}

function partElement({ size, checksum }: ObjectPart, number: number, algorithm: string | null): string {
  const checksums = algorithm === null || checksum === undefined ? {} : { [algorithm]: checksum };
  return `<Part>${checksumElements(checksums)}${element("PartNumber", number)}${element("Size", size)}</Part>`;
}

function wholeNumber(text: string): number | null {
  return /^[0-9]{1,10}$/.test(text) ? Number(text) : null;
}

/**
 * The version that a request names, null for the current one.
 *
 * @throws {StoreError} for an invalid version id
 */
export function versionParameter(request: S3Request): string | null {
  const version = request.parameter("versionId");
  return version === null ? null : versionText(version);
}

const FORM = new RegExp(VERSION_ID);

/**
 * A text that has the characters of version ids, of which there may be none.
 *
 * @throws {StoreError} InvalidArgument
 */
export function versionText(text: string): string {
  if (FORM.test(text)) return text;
  throw new StoreError("InvalidArgument", text === "" ? "versionId must not be empty" : "Invalid version id specified");
}

/** The header that names a version that was written; the null version is not named (S3 API, PutObject). */
export function writtenVersionHeader(version: VersionId): Record<string, string> {
  return version === "null" ? {} : versionHeader(version);
}

/** The header that names a version; none while the bucket never had versioning. */
export function versionHeader(version: VersionId): Record<string, string> {
  return version === null ? {} : { "x-amz-version-id": version };
}

/** The object and the version that a call names, for callers with a permission on it. */
export function permittedVersion(call: S3Call, permission: Permission, access: BucketAccess): StoredObject {
  const version = versionParameter(call.request);
  return permittedObject(access, permission, () => findObject(call.store, access.bucket, call.key, version));
}

/**
 * The object that a read names, in its current version or a named one.
 *
 * @throws {StoreError} NoSuchKey, NoSuchVersion, or MethodNotAllowed for a version that is a delete marker
 */
export function findObject(store: StoreContext, bucket: Bucket, key: string, version: string | null): StoredObject {
  const found = store.objects.find(bucket.id, bucket.versioning, keyBytes(key), version);
  if (!found) throw new StoreError(version === null ? "NoSuchKey" : "NoSuchVersion");
  if (!("marker" in found)) return found;
  const headers = { "x-amz-delete-marker": "true", ...versionHeader(found.marker) };
  throw new StoreError(version === null ? "NoSuchKey" : "MethodNotAllowed", undefined, headers);
}
