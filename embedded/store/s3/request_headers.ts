import type { WriteCondition } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Tenant } from "@/embedded/store/stored_accounts.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { asciiDisposition, decodeWords, encodeWords, utf8Text, utf8Value } from "@/lib/std/header_encoding.ts";
import { CHECKSUM_BYTES, checksumAlgorithm, digestFromBase64 } from "./checksums.ts";
import type { S3Request } from "./s3_request.ts";
import { hasSignatureV2InQuery, isHeaderInQueryV2, isOfSignatureV2 } from "./sigv2.ts";

const METADATA = "x-amz-meta-";
const STORAGE_CLASS = "x-amz-storage-class";

/** The storage classes that are stored as labels: all objects are stored alike. */
const STORAGE_CLASSES = [
  "STANDARD",
  "STANDARD_IA",
  "ONEZONE_IA",
  "INTELLIGENT_TIERING",
  "GLACIER_IR",
  "REDUCED_REDUNDANCY",
];

/** System headers that are stored with an object and returned with it. */
export const STORED_HEADERS = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "expires",
];

/** The content type of an object whose writer named none. */
export const DEFAULT_CONTENT_TYPE = "binary/octet-stream";

/** Most user metadata of an object: names and values together, in bytes (S3 API, working with object metadata). */
const MAX_METADATA_BYTES = 2048;

/**
 * The headers of a write that are stored with the object as a response shows them, as JSON for the index; null where
 * there are none.
 *
 * @param repeated headers that were sent on several lines, which S3 joins by a comma alone
 * @throws {StoreError} MetadataTooLarge
 */
export function storedHeaders(headers: Headers, repeated: readonly string[]): string | null {
  const stored: Record<string, string> = {};
  let metadataBytes = 0;
  for (const [name, value] of headers) {
    if (name.startsWith(METADATA)) {
      const text = decodeWords(utf8Text(repeated.includes(name) ? value.replaceAll(", ", ",") : value));
      metadataBytes += name.length - METADATA.length + new TextEncoder().encode(text).length;
      stored[name] = encodeWords(text);
    } else if (STORED_HEADERS.includes(name)) stored[name] = sentHeader(name, value);
  }
  if (metadataBytes > MAX_METADATA_BYTES) throw new StoreError("MetadataTooLarge");
  const encoding = stored["content-encoding"] && withoutChunking(stored["content-encoding"]);
  if (encoding) stored["content-encoding"] = encoding;
  else delete stored["content-encoding"];
  return withStorageClass(stored, headers);
}

/**
 * Stored headers, as JSON for the index, with the storage class that a request states instead of their own.
 *
 * @throws {StoreError} InvalidStorageClass
 */
export function withStorageClass(stored: Readonly<Record<string, string>>, request: Headers): string | null {
  const { [STORAGE_CLASS]: _, ...all }: Record<string, string> = stored;
  const stated = statedStorageClass(request);
  if (stated !== "STANDARD") all[STORAGE_CLASS] = stated;
  return Object.keys(all).length === 0 ? null : JSON.stringify(all);
}

/**
 * The storage class that a request states.
 *
 * @throws {StoreError} InvalidStorageClass
 */
function statedStorageClass(request: Headers): string {
  const stated = request.get(STORAGE_CLASS) ?? "STANDARD";
  if (!STORAGE_CLASSES.includes(stated)) throw new StoreError("InvalidStorageClass");
  return stated;
}

/** The storage class among the stored headers of an object. */
export function storageClassOf(headers: Readonly<Record<string, string>>): string {
  return headers[STORAGE_CLASS] ?? "STANDARD";
}

/**
 * A header of an object as a response shows it: metadata beyond ASCII in encoded words (RFC 2047), a file name in
 * `filename*` (RFC 6266). Objects that older versions stored have it as it was sent.
 */
export function sentHeader(name: string, value: string): string {
  if (/^[\t\x20-\x7e]*$/.test(value)) return value;
  if (name.startsWith(METADATA)) return encodeWords(decodeWords(utf8Text(value)));
  return name === "content-disposition" ? asciiDisposition(value) : value;
}

/** A list of content codings without `aws-chunked`, which describes the transfer and not the object. */
function withoutChunking(encoding: string): string {
  const codings = encoding.split(",").map((coding) => coding.trim());
  if (!codings.some((coding) => coding.toLowerCase() === "aws-chunked")) return encoding;
  return codings.filter((coding) => coding.toLowerCase() !== "aws-chunked").join(",");
}

/** Conditions that S3 has for reads alone: ignoring them on a write would be worse than an error. */
const READ_CONDITIONS = /^if-(?:modified|unmodified)-since$/;

/**
 * Checks the conditions of a read in the order of RFC 9110, section 13.2.2.
 *
 * @throws {StoreError} PreconditionFailed or NotModified; the latter with `notModifiedHeaders`, as HTTP requires
 */
export function checkReadConditions(
  request: Headers,
  object: { etag: string; modifiedMs: number },
  notModifiedHeaders: Record<string, string>,
): void {
  const modified = Math.floor(object.modifiedMs / 1000) * 1000;
  const ifMatch = request.get("if-match");
  const unmodifiedSince = httpDate(request.get("if-unmodified-since"));
  const holds = ifMatch === null
    ? unmodifiedSince === null || modified <= unmodifiedSince
    : etagListed(ifMatch, object.etag);
  if (!holds) throw new StoreError("PreconditionFailed");
  const ifNoneMatch = request.get("if-none-match");
  const modifiedSince = httpDate(request.get("if-modified-since"));
  const isKnown = ifNoneMatch === null
    ? modifiedSince !== null && modified <= modifiedSince
    : etagListed(ifNoneMatch, object.etag);
  if (isKnown) throw new StoreError("NotModified", undefined, notModifiedHeaders);
}

/** Whether If-Range (RFC 9110, section 13.1.5) allows the Range header; true where it is absent. */
export function rangeHolds(ifRange: string | null, object: { etag: string; modifiedMs: number }): boolean {
  if (ifRange === null) return true;
  if (ifRange.includes('"')) return ifRange.trim() === `"${object.etag}"`;
  return httpDate(ifRange) === Math.floor(object.modifiedMs / 1000) * 1000;
}

/** Whether an entity tag (without quotes) is in an If-Match or If-None-Match list; clients send tags without quotes, too. */
function etagListed(list: string, etag: string): boolean {
  return list.split(",").map((tag) => tag.trim()).some((tag) =>
    tag === "*" || tag.replace(/^W\//, "").replace(/^"(.*)"$/, "$1") === etag
  );
}

function httpDate(text: string | null): number | null {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** An ETag as the index stores it: headers and XML bodies have it with or without quotes. */
export function unquotedEtag(text: string): string {
  return text.trim().replace(/^"(.*)"$/, "$1");
}

/**
 * The condition that the headers of a write state about the present object.
 *
 * @throws {StoreError}
 */
export function writeCondition(headers: Headers): WriteCondition | null {
  rejectHeaders(headers, READ_CONDITIONS);
  const ifNoneMatch = headers.get("if-none-match");
  const ifMatch = headers.get("if-match");
  if (ifNoneMatch !== null && ifMatch !== null) {
    throw new StoreError("NotImplemented", "A request may have only one condition");
  }
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.includes(",")) {
      throw new StoreError("NotImplemented", "If-None-Match on a write must be one ETag or *");
    }
    return ifNoneMatch.trim() === "*" ? { absent: true } : { otherThan: unquotedEtag(ifNoneMatch) };
  }
  return ifMatch === null ? null : { etag: unquotedEtag(ifMatch) };
}

/**
 * Rejects headers that no operation supports, and checks the expected owner of the bucket: a header that changes the
 * meaning of a request is never ignored.
 *
 * @throws {StoreError}
 */
export function checkHeaders(store: StoreContext, tenant: Tenant, { headers, bucket }: S3Request): void {
  rejectHeaders(headers, UNSUPPORTED);
  statedStorageClass(headers);
  const expected = headers.get("x-amz-expected-bucket-owner");
  if (expected !== null && bucket !== null) requireOwner(store, tenant, bucket, expected);
}

/** @throws {StoreError} NotImplemented for a header of these names, unless it has no effect */
export function rejectHeaders(headers: Headers, rejected: RegExp): void {
  for (const [name, value] of headers) {
    if (rejected.test(name) && !isWithoutEffect(name, value)) {
      throw new StoreError("NotImplemented", `The header ${name} is not provided`);
    }
  }
}

/** @throws {StoreError} AccessDenied where a bucket belongs to another user than the one of this id */
export function requireOwner(store: StoreContext, tenant: Pick<Tenant, "id">, bucket: string, guid: string): void {
  const found = store.buckets.bucket(tenant.id, bucket);
  if (!found) throw new StoreError("NoSuchBucket");
  const owner = found.owner === null ? null : store.accounts.userById(found.owner);
  if (owner?.guid !== guid) throw new StoreError("AccessDenied", "The bucket has another owner");
}

/** Encryption with keys of S3's or the sender's, locks, redirects, appending and conditions of deletes. */
const UNSUPPORTED =
  /^x-amz-(?:(?:copy-source-)?server-side-|object-lock-|bucket-object-lock-|object-ownership$|website-|write-offset|if-match-|rename-source)/;

/** Headers of a new bucket that are accepted with the value false. */
const BUCKET_SWITCH = /^x-amz-bucket-(?:object-lock-enabled|namespace)$/;

function isWithoutEffect(name: string, value: string): boolean {
  // The writer of an object always owns it here.
  if (name === "x-amz-object-ownership") return value === "ObjectWriter";
  return BUCKET_SWITCH.test(name) && value.toLowerCase() === "false";
}

/** Most headers in a query: far more than 2 KiB of metadata need. */
const MAX_MOVED = 200;

/** Whether a parameter of a presigned request is the signature's, or a header that its signer moved into the query. */
export function isHeaderInQuery(request: S3Request, name: string): boolean {
  if (hasSignatureV2InQuery(request)) return isHeaderInQueryV2(name) || isOfSignatureV2(name);
  return request.parameter("X-Amz-Algorithm") !== null && /^x-amz-/i.test(name);
}

/**
 * A presigned request with the headers that its signer moved into the query, as SDKs do with S3's own ones (Signature
 * Version 4, query parameters; botocore does so with Version 2, too). They are under the signature there, so what the
 * caller sends beside them may not differ.
 *
 * @throws {StoreError} InvalidArgument
 */
export function withHeadersOfQuery(request: S3Request): S3Request {
  const moved = request.query.filter(([name, value]) =>
    isHeaderInQuery(request, name) && !OF_THE_SIGNATURE.test(name) && !isOfSignatureV2(name) &&
    !isOfNoBody(name.toLowerCase(), value)
  );
  if (moved.length === 0) return request;
  if (moved.length > MAX_MOVED) {
    throw new StoreError("InvalidArgument", `More than ${MAX_MOVED} headers are in the query`);
  }
  const headers = new Headers(request.headers);
  const seen = new Set<string>();
  for (const [name, value] of moved) {
    const header = name.toLowerCase();
    if (
      seen.has(header) || !isHeader(header, value) ||
      utf8Text(request.headers.get(header) ?? value.trim()) !== value.trim()
    ) {
      throw new StoreError("InvalidArgument", `The parameter ${name} is not valid`);
    }
    seen.add(header);
    headers.set(header, utf8Value(value));
  }
  return { ...request, headers };
}

const OF_THE_SIGNATURE = /^x-amz-(?:algorithm|credential|date|expires|signedheaders|signature|content-sha256)$/i;

/**
 * Whether SDKs put a header into the URL of an upload because they have no body yet: the algorithm, and its checksum of
 * an empty body, which would fail every upload. A checksum of a body is enforced.
 */
function isOfNoBody(header: string, value: string): boolean {
  if (header === "x-amz-sdk-checksum-algorithm") return true;
  const algorithm = checksumAlgorithm(header);
  return algorithm !== null && digestFromBase64(value, CHECKSUM_BYTES[algorithm]) === startDigest(algorithm).hex();
}

function isHeader(name: string, value: string): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u.test(value);
}
