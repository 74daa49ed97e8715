import { S3Error } from "./s3_error.ts";

const METADATA = "x-amz-meta-";

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
 * The headers of a write that are stored with the object, as JSON for the index; null where there are none.
 *
 * @throws {S3Error} MetadataTooLarge
 */
export function storedHeaders(headers: Headers): string | null {
  const stored: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (STORED_HEADERS.includes(name) || name.startsWith(METADATA)) stored[name] = value;
  }
  const metadata = Object.entries(stored).filter(([name]) => name.startsWith(METADATA));
  if (
    metadata.reduce((sum, [name, value]) => sum + name.length - METADATA.length + value.length, 0) > MAX_METADATA_BYTES
  ) {
    throw new S3Error("MetadataTooLarge");
  }
  const encoding = stored["content-encoding"] && withoutChunking(stored["content-encoding"]);
  if (encoding) stored["content-encoding"] = encoding;
  else delete stored["content-encoding"];
  return Object.keys(stored).length === 0 ? null : JSON.stringify(stored);
}

/** A list of content codings without `aws-chunked`, which is of the way to the store and not of the object. */
function withoutChunking(encoding: string): string {
  const codings = encoding.split(",").map((coding) => coding.trim());
  if (!codings.some((coding) => coding.toLowerCase() === "aws-chunked")) return encoding;
  return codings.filter((coding) => coding.toLowerCase() !== "aws-chunked").join(",");
}
