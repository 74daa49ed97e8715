import { StoreError } from "@/embedded/store/store_error.ts";
import { announcedLength, type BodyReader, type TakeReader } from "@/lib/std/body_reader.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { bucketAndKey } from "./xml.ts";

/** Longest key, in bytes of UTF-8 (S3 API, object keys). */
export const MAX_KEY_BYTES = 1024;

/** Most bytes of one PUT, one copy and one copied part: 5 GiB (S3 API, PutObject, CopyObject, UploadPartCopy). */
export const MAX_WRITE_BYTES = 5 * 1024 ** 3;

/** The bytes of a key, prefix or delimiter. */
export function keyBytes(text: string): Uint8Array {
  return ENCODER.encode(text);
}

const ENCODER = new TextEncoder();

/** A parsed S3 request: path style, decoded exactly once. */
export interface S3Request {
  readonly method: string;
  readonly headers: Headers;
  /** Takes the reader of the body; null where there is none. */
  readonly takeBody: (() => BodyReader) | null;
  /** The path as it was sent, for the signature. */
  readonly rawPath: string;
  /** Names and values of the query in the order they were sent, decoded. */
  readonly query: readonly (readonly [string, string])[];
  readonly bucket: string | null;
  readonly key: string | null;
  /** The value of a query parameter, `""` when it has none, null when it is absent. */
  parameter(name: string): string | null;
}

/**
 * Parses a request.
 *
 * @throws {StoreError} InvalidURI, InvalidArgument or KeyTooLongError
 */
export function parseS3Request(request: Request, takeReader: TakeReader): S3Request {
  // The URL's own parser folds dot segments, which are ordinary parts of a key: the raw text is read instead.
  const afterOrigin = request.url.slice(request.url.indexOf("/", request.url.indexOf("://") + 3));
  const mark = afterOrigin.indexOf("?");
  const rawPath = mark < 0 ? afterOrigin : afterOrigin.slice(0, mark);
  const query = parseQuery(mark < 0 ? "" : afterOrigin.slice(mark + 1).replace(/#.*$/, ""));
  const path = decode(rawPath.slice(1), "InvalidURI");
  const [bucket, key] = bucketAndKey(path);
  if (keyBytes(key).length > MAX_KEY_BYTES) throw new StoreError("KeyTooLongError");
  if (bucket === "" && key !== "") throw new StoreError("InvalidBucketName");
  // A map, because each of thousands of parameters may be looked up. The first of repeated ones counts.
  const parameters = new Map(query.toReversed());
  const { body } = request;
  return {
    method: request.method,
    headers: request.headers,
    takeBody: body && (() => takeReader(body, announcedLength(request))),
    rawPath,
    query,
    bucket: bucket || null,
    key: key || null,
    parameter: (name) => parameters.get(name) ?? null,
  };
}

/**
 * The names and values of a query, decoded.
 *
 * @throws {StoreError} InvalidArgument
 */
export function parseQuery(text: string): [string, string][] {
  return text.split("&").filter((part) => part !== "").map((part) => {
    const equals = part.indexOf("=");
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? "" : part.slice(equals + 1);
    return [decodeQuery(name), decodeQuery(value)];
  });
}

function decodeQuery(text: string): string {
  return decode(text.replaceAll("+", " "), "InvalidArgument");
}

function decode(text: string, code: "InvalidURI" | "InvalidArgument"): string {
  const decoded = percentDecoded(text);
  if (decoded === null) throw new StoreError(code, "The percent-encoding is not valid UTF-8");
  return decoded;
}

/** Highest number of a part (S3 API, multipart upload limits). */
export const MAX_PARTS = 10_000;

/** Most entries of a page of parts or uploads. */
const MAX_PAGE = 1000;

/**
 * The number of the part that a request names, 1 to 10,000.
 *
 * @throws {StoreError}
 */
export function partNumber(request: S3Request): number {
  const number = wholeNumber(request, "partNumber", MAX_PARTS);
  if (number === null || number === 0) {
    throw new StoreError("InvalidArgument", `partNumber must be a whole number from 1 to ${MAX_PARTS}`);
  }
  return number;
}

/**
 * The requested page size, 0 to 1000; 1000 where it is absent or larger.
 *
 * @throws {StoreError}
 */
export function pageSize(request: S3Request, name: string): number {
  return Math.min(wholeNumber(request, name, 2 ** 31 - 1) ?? MAX_PAGE, MAX_PAGE);
}

/**
 * A parameter that is a whole number from 0; null where it is absent or empty.
 *
 * @throws {StoreError}
 */
export function wholeNumber(request: S3Request, name: string, largest: number): number | null {
  const text = request.parameter(name);
  if (text === null || text === "") return null;
  if (!/^[0-9]{1,10}$/.test(text) || Number(text) > largest) {
    throw new StoreError("InvalidArgument", `${name} must be a whole number from 0 to ${largest}`);
  }
  return Number(text);
}
