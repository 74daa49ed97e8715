import { asciiDisposition, decodeWords, encodeWords, utf8Text } from "@/lib/std/header_encoding.ts";
import { S3Error } from "./s3_error.ts";

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
 * @throws {S3Error} MetadataTooLarge
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
  if (metadataBytes > MAX_METADATA_BYTES) throw new S3Error("MetadataTooLarge");
  const encoding = stored["content-encoding"] && withoutChunking(stored["content-encoding"]);
  if (encoding) stored["content-encoding"] = encoding;
  else delete stored["content-encoding"];
  return withStorageClass(stored, headers);
}

/**
 * Stored headers, as JSON for the index, with the storage class that a request states instead of their own.
 *
 * @throws {S3Error} InvalidStorageClass
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
 * @throws {S3Error} InvalidStorageClass
 */
export function statedStorageClass(request: Headers): string {
  const stated = request.get(STORAGE_CLASS) ?? "STANDARD";
  if (!STORAGE_CLASSES.includes(stated)) throw new S3Error("InvalidStorageClass");
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

/** A list of content codings without `aws-chunked`, which is of the way to the store and not of the object. */
function withoutChunking(encoding: string): string {
  const codings = encoding.split(",").map((coding) => coding.trim());
  if (!codings.some((coding) => coding.toLowerCase() === "aws-chunked")) return encoding;
  return codings.filter((coding) => coding.toLowerCase() !== "aws-chunked").join(",");
}
