import { StoreError } from "@/embedded/store/store_error.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { utf8Text, utf8Value } from "@/lib/std/header_encoding.ts";
import { CHECKSUM_BYTES, checksumAlgorithm, digestFromBase64 } from "./checksums.ts";
import type { S3Request } from "./s3_request.ts";
import { hasSignatureV2InQuery, isHeaderInQueryV2, isOfSignatureV2 } from "./sigv2.ts";

/** Most headers in a query: far more than metadata of 2 KiB needs, and each is compared with those before it. */
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
