import type { Bucket } from "@/embedded/store/buckets.ts";
import type { UploadName } from "@/embedded/store/changes.ts";
import type { Upload } from "@/embedded/store/uploads.ts";
import { permittedBucket, signedUser } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import type { S3Request } from "./s3_request.ts";

/** Highest number of a part (S3 API, multipart upload limits). */
export const MAX_PARTS = 10_000;

/** Most entries of a page of parts or uploads. */
const MAX_PAGE = 1000;

/**
 * What a request about an upload names. Writing is what uploads need.
 *
 * @throws {S3Error}
 */
export function namedUpload(call: S3Call): UploadName & { in: Bucket; by: number } {
  const { request, bucket: name, key } = call;
  // As in S3, uploads need a signed request: those of anonymous users would be open to every anonymous client.
  const { id: by } = signedUser(call.caller);
  const bucket = permittedBucket(call, name, "WRITE");
  const upload = request.parameter("uploadId") ?? "";
  return { bucket: bucket.id, key: new TextEncoder().encode(key), upload, in: bucket, by };
}

/**
 * The upload that a request names, under way.
 *
 * @throws {S3Error} NoSuchUpload, or as namedUpload does
 */
export function presentUpload(call: S3Call): { name: UploadName; in: Bucket; upload: Upload } {
  const { in: bucket, by: _by, ...name } = namedUpload(call);
  const upload = call.store.uploads.find(name.bucket, name.key, name.upload);
  if (!upload) throw new S3Error("NoSuchUpload");
  return { name, in: bucket, upload };
}

/**
 * The number of the part that a request names, 1 to 10,000.
 *
 * @throws {S3Error}
 */
export function partNumber(request: S3Request): number {
  const number = wholeNumber(request, "partNumber", MAX_PARTS);
  if (number === null || number === 0) {
    throw new S3Error("InvalidArgument", `partNumber must be a whole number from 1 to ${MAX_PARTS}`);
  }
  return number;
}

/**
 * How many entries a page is to have: 0 to 1000, which is what an absent or larger number means.
 *
 * @throws {S3Error}
 */
export function pageSize(request: S3Request, name: string): number {
  return Math.min(wholeNumber(request, name, 2 ** 31 - 1) ?? MAX_PAGE, MAX_PAGE);
}

/**
 * A parameter that is a whole number from 0; null where it is absent or empty.
 *
 * @throws {S3Error}
 */
export function wholeNumber(request: S3Request, name: string, largest: number): number | null {
  const text = request.parameter(name);
  if (text === null || text === "") return null;
  if (!/^[0-9]{1,10}$/.test(text) || Number(text) > largest) {
    throw new S3Error("InvalidArgument", `${name} must be a whole number from 0 to ${largest}`);
  }
  return Number(text);
}
