import { percentDecoded } from "@/lib/std/text.ts";
import { S3Error } from "./s3_error.ts";

/** Longest key, in bytes of UTF-8 (S3 API, object keys). */
export const MAX_KEY_BYTES = 1024;

/** An S3 request taken apart: path style, decoded exactly once. */
export interface S3Request {
  readonly method: string;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
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
 * Takes a request apart.
 *
 * @throws {S3Error} InvalidURI, InvalidArgument or KeyTooLongError
 */
export function parseS3Request(request: Request): S3Request {
  // The URL's own parser folds dot segments, which are ordinary parts of a key: the raw text is read instead.
  const afterOrigin = request.url.slice(request.url.indexOf("/", request.url.indexOf("://") + 3));
  const mark = afterOrigin.indexOf("?");
  const rawPath = mark < 0 ? afterOrigin : afterOrigin.slice(0, mark);
  const query = parseQuery(mark < 0 ? "" : afterOrigin.slice(mark + 1).replace(/#.*$/, ""));
  const path = decode(rawPath.slice(1), "InvalidURI");
  const slash = path.indexOf("/");
  const bucket = slash < 0 ? path : path.slice(0, slash);
  const key = slash < 0 ? "" : path.slice(slash + 1);
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) throw new S3Error("KeyTooLongError");
  if (bucket === "" && key !== "") throw new S3Error("InvalidBucketName");
  // Each of thousands of parameters may be looked up; of one that is repeated the first counts.
  const parameters = new Map(query.toReversed());
  return {
    method: request.method,
    headers: request.headers,
    body: request.body,
    rawPath,
    query,
    bucket: bucket || null,
    key: key || null,
    parameter: (name) => parameters.get(name) ?? null,
  };
}

function parseQuery(text: string): [string, string][] {
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
  if (decoded === null) throw new S3Error(code, "The percent-encoding is not valid UTF-8");
  return decoded;
}
