import type { ObjectPart, StoredObject } from "@/embedded/store/objects.ts";
import { type ByteRange, parseByteRange } from "@/lib/std/header_encoding.ts";
import { checksumAlgorithmOf, checksumHeaders, type Checksums } from "./checksums.ts";
import { checkReadConditions, rangeHolds } from "./conditions.ts";
import { sentHeader, STORED_HEADERS } from "./stored_headers.ts";
import { findObject, versionHeader, versionParameter } from "./object_version.ts";
import { bucketAccess, permittedObject } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import type { S3Request } from "./s3_request.ts";
import { parseTags } from "./tags.ts";
import { partNumber } from "./upload_parameters.ts";

/** Response headers that a signed request may set for its own response. */
const OVERRIDABLE = ["content-type", ...STORED_HEADERS];

/** The query parameters of a read. */
export const READ_PARAMETERS = ["versionId", "partNumber", ...OVERRIDABLE.map((name) => `response-${name}`)];

/** GetObject and HeadObject */
export async function getObject(call: S3Call): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const access = bucketAccess(call, name);
  const version = versionParameter(request);
  const find = () => permittedObject(access, "READ", () => findObject(store, access.bucket, key, version));
  const response = { status: 200, headers: new Headers() };
  const { body } = await store.objects.open(find, (object) => {
    response.headers = objectHeaders(object, request);
    checkReadConditions(request.headers, object, Object.fromEntries(response.headers));
    const numbered = numberedPart(request, object);
    const range = numbered?.range ?? statedRange(request, object);
    response.status = range ? 206 : 200;
    const part = range ?? { first: 0, last: object.size - 1 };
    // A part without bytes has no range that could be named.
    if (range && range.last >= range.first) response.headers.set("content-range", contentRange(range, object.size));
    if (numbered) setChecksums(response.headers, numbered.checksums, request);
    else if (!range) setChecksums(response.headers, object.checksums, request);
    if (numbered && numbered.count !== null) response.headers.set("x-amz-mp-parts-count", String(numbered.count));
    response.headers.set("content-length", String(part.last - part.first + 1));
    return request.method === "HEAD" ? Promise.resolve(new Uint8Array()) : object.read(part.first, part.last);
  });
  if (request.method === "GET") {
    store.reads.count(access.bucket.id, Number(response.headers.get("content-length") ?? 0));
  }
  const whole = request.method === "HEAD" || body === null ? null : body;
  return new Response(whole instanceof Uint8Array ? new Uint8Array(whole) : whole, response);
}

function statedRange(request: S3Request, object: StoredObject): ByteRange | null {
  if (!rangeHolds(request.headers.get("if-range"), object)) return null;
  const range = parseByteRange(request.headers.get("range"), object.size);
  if (range !== "unsatisfiable") return range;
  throw new S3Error("InvalidRange", undefined, { "content-range": `bytes */${object.size}` });
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
  const tags = parseTags(object.tags).length;
  if (tags > 0) headers.set("x-amz-tagging-count", String(tags));
  for (const name of OVERRIDABLE) {
    const override = request.parameter(`response-${name}`);
    if (override === null) continue;
    const value = sentHeader(name, override);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new S3Error("InvalidArgument", `response-${name} is not valid`);
    headers.set(name, value);
  }
  return headers;
}

/** Checksums are sent on request, of the whole object or of a numbered part; a range of bytes has none. */
function setChecksums(headers: Headers, checksums: Checksums | null, request: S3Request): void {
  const mode = request.headers.get("x-amz-checksum-mode");
  if (mode === null) return;
  if (mode.toUpperCase() !== "ENABLED") throw new S3Error("InvalidArgument", "x-amz-checksum-mode is not valid");
  for (const [name, value] of Object.entries(checksumHeaders(checksums))) headers.set(name, value);
}

function contentRange({ first, last }: ByteRange, size: number): string {
  return `bytes ${first}-${last}/${size}`;
}

/** One part of an object, and how many it has; null for an object that was not uploaded in parts. */
interface NumberedPart {
  /** Of an empty part, `last` is before `first`. */
  range: ByteRange;
  count: number | null;
  /** The checksum of the part; null where the upload had no algorithm. */
  checksums: Checksums | null;
}

/**
 * The part that a read selects by its number: the parts of an object count from 1 in their order, whatever the numbers
 * were that they were uploaded by, and an object that was not uploaded in parts is its own part 1 (S3 API, GetObject).
 * Null where the read selects none.
 *
 * @throws {S3Error} InvalidArgument, InvalidRequest beside a Range, or InvalidPartNumber
 */
function numberedPart(request: S3Request, object: StoredObject): NumberedPart | null {
  if (request.parameter("partNumber") === null) return null;
  const number = partNumber(request);
  if (request.headers.has("range")) throw new S3Error("InvalidRequest", "partNumber and Range do not go together");
  const parts = object.parts();
  const sizes = parts?.map(({ size }) => size) ?? [object.size];
  if (number > sizes.length) throw new S3Error("InvalidPartNumber");
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
