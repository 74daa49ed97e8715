import { headerText } from "@/lib/http/header_values.ts";
import { asciiDisposition, decodeWords, encodeWords, utf8Text, utf8Value } from "@/lib/std/header_encoding.ts";
import { SANDBOX_POLICY } from "@/lib/http/request_context.ts";
import { badRequest } from "@/lib/http/errors.ts";
import type { HeaderRecord } from "./s3_client.ts";

/** The headers that describe an object, which a write sets and a read returns. */
export const CONTENT_HEADERS = [
  "content-type",
  "content-encoding",
  "content-disposition",
  "content-language",
  "cache-control",
  "expires",
];
const UPLOAD_HEADERS = [...CONTENT_HEADERS, "content-md5", "x-amz-tagging"];
const READ_HEADERS = [
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "x-amz-checksum-mode",
];
const ANSWER_HEADERS = [
  ...CONTENT_HEADERS,
  "content-length",
  "content-range",
  "accept-ranges",
  "etag",
  "last-modified",
  "x-amz-version-id",
  "x-amz-delete-marker",
  "x-amz-missing-meta",
  "x-amz-mp-parts-count",
  "x-amz-storage-class",
  "x-amz-tagging-count",
];
/** Digests of a body, which a writer may send and a reader may request. */
const CHECKSUMS = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"].map((name) => `x-amz-checksum-${name}`);
const CHECKSUM_ANSWERS = [...CHECKSUMS, "x-amz-checksum-type"];
const WRITE_ANSWERS = ["etag", "x-amz-version-id", "x-amz-delete-marker", ...CHECKSUM_ANSWERS];
const OBJECT_HEADERS: ReadonlySet<string> = new Set([...ANSWER_HEADERS, ...CHECKSUM_ANSWERS]);
/** Prefix of the names of user metadata. */
export const METADATA = "x-amz-meta-";
const DEFAULT_CACHING = "private, no-cache";

/**
 * The headers of a write that go to the store: content headers, digests, tags, user metadata. Metadata and file names
 * may be UTF-8, and go to the store in ASCII as {@link storableHeader} says.
 *
 * @throws HttpError 400 naming another header that is not printable ASCII, which no signature covers reliably
 */
export function uploadHeaders(request: Headers): HeaderRecord {
  return printable(picked(request, [...UPLOAD_HEADERS, ...CHECKSUMS]));
}

/**
 * The same for a form. Its own content headers and digests describe the form; the type of the file is in its part.
 *
 * @throws HttpError 400 as {@link uploadHeaders}
 */
export function formUploadHeaders(request: Headers, contentType: string | null): HeaderRecord {
  const headers = { ...uploadHeaders(request) };
  for (const name of ["content-type", "content-md5", "content-encoding", ...CHECKSUMS]) delete headers[name];
  if (contentType === null) return headers;
  mustBePrintable("file: content-type", contentType);
  return { ...headers, "content-type": contentType };
}

/** The digests of a body among the headers of a request. @throws HttpError 400 as {@link uploadHeaders} */
export function digestHeaders(request: Headers): HeaderRecord {
  return printable(picked(request, ["content-md5", ...CHECKSUMS], false));
}

function printable(headers: HeaderRecord): HeaderRecord {
  for (const name in headers) mustBePrintable(name, headers[name]);
  return headers;
}

function mustBePrintable(name: string, value: string): void {
  if (PRINTABLE.test(value)) return;
  throw badRequest(`${name}: only ${mayBeUtf8(name) ? "UTF-8" : "printable ASCII"} is allowed`);
}

const PRINTABLE = /^[\x20-\x7e]*$/;

function mayBeUtf8(name: string): boolean {
  return name.startsWith(METADATA) || name === "content-disposition";
}

/**
 * A header of an object as any store can take it: metadata in UTF-8 as encoded words (RFC 2047), a file name in UTF-8 as
 * `filename*` (RFC 6266). Anything else stays as it is.
 */
export function storableHeader(name: string, value: string): string {
  const text = mayBeUtf8(name) ? utf8Text(value) : value;
  if (text === value) return value;
  return name.startsWith(METADATA) ? encodeWords(text) : asciiDisposition(text);
}

/** A header of an object for clients: metadata in UTF-8, however the store encodes it; a file name in ASCII. */
function readableHeader(name: string, value: string): string {
  if (name === "content-disposition") return asciiDisposition(value);
  if (!name.startsWith(METADATA)) return value;
  const text = decodeWords(value);
  // A header cannot carry decoded control characters.
  return text === value || /\p{Cc}/u.test(text) ? value : utf8Value(text);
}

/** The headers of a read that go to the store: range and conditions. */
export function readHeaders(request: Headers): HeaderRecord {
  const headers: Record<string, string> = {};
  for (const name of READ_HEADERS) {
    const value = request.get(name);
    if (value !== null) headers[name] = sendable(value);
  }
  return headers;
}

/**
 * The headers of an object as clients get them. Objects may be anything, so a browser must neither guess their type
 * nor run what is in them, and caches ask again each time unless the store says otherwise.
 */
export function objectHeaders(store: Headers): Record<string, string> {
  const headers: Record<string, string> = { "cache-control": DEFAULT_CACHING };
  // Going through what is there costs less than asking for each that might be, and an iterator more than both.
  store.forEach((value, name) => {
    if (OBJECT_HEADERS.has(name) || name.startsWith(METADATA)) headers[name] = sendable(readableHeader(name, value));
  });
  headers["content-security-policy"] = SANDBOX_POLICY;
  headers["x-content-type-options"] = "nosniff";
  return headers;
}

/** The headers of a store's response to a write that go to the client, all safe to send. */
export function writeHeaders(store: Headers): Record<string, string> {
  return picked(store, WRITE_ANSWERS, false);
}

function picked(from: Headers, names: readonly string[], metadata = true): Record<string, string> {
  const headers: Record<string, string> = {};
  const take = (name: string, value: string) => headers[name] = sendable(storableHeader(name, value));
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) take(name, value);
  }
  if (metadata) { for (const [name, value] of from) if (name.startsWith(METADATA)) take(name, value); }
  return headers;
}

function sendable(value: string): string {
  return /^[\x20-\xff]*$/.test(value) ? value : headerText(value);
}
