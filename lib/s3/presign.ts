import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest, unprocessable } from "@/lib/http/errors.ts";
import { hasDotSegment } from "@/lib/http/request_context.ts";
import {
  type HeaderRecord,
  hostOf,
  locate,
  presignQuery,
  type QueryPairs,
  type S3,
  s3Address,
  s3Path,
} from "./s3_client.ts";

/** Longest validity of a presigned URL, seconds: 7 days (spec, Limits). */
export const MAX_PRESIGN_SECONDS = 604_800;
export const DEFAULT_PRESIGN_SECONDS = 3600;

/** The uses of a presigned URL. */
export const PRESIGN_METHODS = ["get_object", "put_object"] as const;
type PresignMethod = typeof PRESIGN_METHODS[number];
const METHODS = { get_object: "GET", put_object: "PUT" } as const;

/** @throws HttpError 422 for any other word */
export function presignMethod(word: string): PresignMethod {
  const method = PRESIGN_METHODS.find((known) => known === word);
  if (!method) throw unprocessable(`method must be one of: ${PRESIGN_METHODS.join(", ")}`);
  return method;
}

/** Properties of the body that a presigned URL is for. */
interface ExpectedBody {
  /** Its SHA-256 in base64. */
  readonly sha256?: string | null;
  readonly contentType?: string | null;
}

/**
 * The headers that hold the sender of a presigned request to a body: they are signed, so the store rejects a request
 * without them. Undefined where nothing is known.
 */
export function requiredHeaders({ sha256, contentType }: ExpectedBody): HeaderRecord | undefined {
  const headers: Record<string, string> = {};
  if (contentType) headers["content-type"] = contentType;
  if (sha256) headers["x-amz-checksum-sha256"] = sha256;
  return Object.keys(headers).length > 0 ? headers : undefined;
}

/** Which URLs are computed. */
interface Presigning {
  readonly bucket: string;
  readonly method: PresignMethod;
  /** How long they are good. */
  readonly expiresSeconds: number;
}

/** The request that a URL allows. */
interface PresignedRequest {
  readonly key: string;
  /** Such as the part of an upload. */
  readonly query?: QueryPairs;
  /** They are signed: requests must have them. */
  readonly headers?: HeaderRecord;
}

/**
 * Computes URLs at the public address that read or write an object without further credentials. They share their time, and
 * need no request to the store.
 *
 * @returns computes one; throws HttpError 400 for a key that {@link fitsUrl} denies
 * @throws HttpError 400 for an invalid bucket name, 403 when the caller has no S3 endpoint
 */
export async function presigner(
  s3: Pick<S3, "addresses" | "region" | "now">,
  caller: Caller,
  { bucket, method, expiresSeconds }: Presigning,
): Promise<(request: PresignedRequest) => string> {
  const { publicEndpoint, virtualHosts } = await s3Address(s3, caller);
  locate(publicEndpoint, virtualHosts, bucket);
  const signing = { keys: caller.s3, region: s3.region, now: s3.now() };
  return function presign({ key, query = [], headers }) {
    const { origin, path } = locate(publicEndpoint, virtualHosts, bucket, key);
    if (hasDotSegment(path)) throw badRequest("key: a URL cannot contain a '.' or '..' segment");
    const request = { method: METHODS[method], host: hostOf(origin), path, query };
    return `${origin}${path}?${presignQuery(request, signing, expiresSeconds, headers)}`;
  };
}

/** Whether a URL can contain a key: HTTP clients remove `.` and `..` segments, and UTF-8 has no lone surrogates. */
export function fitsUrl(key: string): boolean {
  return key.isWellFormed() && !hasDotSegment(s3Path("", key));
}
