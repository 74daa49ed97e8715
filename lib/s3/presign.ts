import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest } from "@/lib/http/errors.ts";
import { hasDotSegment } from "@/lib/http/raw_path.ts";
import { locate, type S3, s3Address } from "./client.ts";
import { presignQuery } from "./signer.ts";

/** Longest validity of a presigned URL, seconds: 7 days (spec, Limits). */
export const MAX_PRESIGN_SECONDS = 604_800;
export const DEFAULT_PRESIGN_SECONDS = 3600;

export type PresignMethod = "get_object" | "put_object";

/**
 * A URL that reads or writes one object without further credentials, under the address that clients know. A local
 * computation: the store is not asked.
 *
 * @throws HttpError 400 for keys with `.` or `..` segments, which HTTP clients fold away, and for impossible names
 */
export async function presignObject(
  s3: Pick<S3, "addresses" | "region" | "now">,
  caller: Caller,
  object: { readonly bucket: string; readonly key: string },
  method: PresignMethod,
  expiresSeconds: number,
): Promise<string> {
  const { publicEndpoint, virtualHosts } = await s3Address(s3, caller);
  const { origin, path } = locate(publicEndpoint, virtualHosts, object.bucket, object.key);
  if (hasDotSegment(path)) throw badRequest("key: no URL can carry a '.' or '..' segment");
  const request = {
    method: method === "get_object" ? "GET" : "PUT",
    host: new URL(origin).host,
    path,
    query: [],
  };
  return `${origin}${path}?${presignQuery(request, caller.s3, s3.region, expiresSeconds, s3.now())}`;
}
