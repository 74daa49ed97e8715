import type { Caller } from "@/lib/auth/store_credentials.ts";
import { yielding } from "@/lib/std/concurrency.ts";
import { badRequest, unprocessable } from "@/lib/http/errors.ts";
import { hasDotSegment } from "@/lib/http/raw_path.ts";
import { type HeaderRecord, locate, type S3, s3Address } from "./client.ts";
import { hostOf, presignQuery, type QueryPairs } from "./signer.ts";

/** Longest validity of a presigned URL, seconds: 7 days (spec, Limits). */
export const MAX_PRESIGN_SECONDS = 604_800;
export const DEFAULT_PRESIGN_SECONDS = 3600;

/** What a presigned URL may do. */
export const PRESIGN_METHODS = ["get_object", "put_object"] as const;
type PresignMethod = typeof PRESIGN_METHODS[number];
const METHODS = { get_object: "GET", put_object: "PUT" } as const;

/** @throws HttpError 422 for any other word */
export function presignMethod(word: string): PresignMethod {
  const method = PRESIGN_METHODS.find((known) => known === word);
  if (!method) throw unprocessable(`method must be one of: ${PRESIGN_METHODS.join(", ")}`);
  return method;
}

/** What is known of the body that a presigned URL is for. */
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

/** Where an object is at the public address of the store. */
interface ObjectAddress {
  /** Scheme, host and port, without the scheme's default port. */
  readonly origin: string;
  /** Percent-encoded. */
  readonly path: string;
}

/** An object that gets a URL, and the headers that its URL requires. */
interface PresignedObject {
  readonly key: string;
  readonly headers?: HeaderRecord;
}

type Presigning = Pick<S3, "addresses" | "region" | "now">;

/**
 * A URL that reads or writes one object without further credentials, at the public address. It is computed without a
 * request to the store. `headers` are signed: requests must have them.
 *
 * @throws HttpError 400 for keys with `.` or `..` segments, which HTTP clients remove, and for invalid names
 */
export async function presignObject(
  s3: Presigning,
  caller: Caller,
  { bucket, key, headers }: PresignedObject & { readonly bucket: string },
  method: PresignMethod,
  expiresSeconds: number,
): Promise<string> {
  const address = await presignableObject(s3, caller, { bucket, key });
  return presigner(s3, caller, method, expiresSeconds)(address, [], headers);
}

/** The address of an object that gets URLs. @throws HttpError 400 for a name that a URL cannot contain */
export async function presignableObject(
  s3: Pick<S3, "addresses">,
  caller: Caller,
  { bucket, key }: { readonly bucket: string; readonly key: string },
): Promise<ObjectAddress> {
  const { publicEndpoint, virtualHosts } = await s3Address(s3, caller);
  const address = locate(publicEndpoint, virtualHosts, bucket, key);
  if (hasDotSegment(address.path)) throw badRequest("key: a URL cannot contain a '.' or '..' segment");
  return address;
}

/**
 * Passes the URLs of many objects of a bucket to `found`, in order. Keys that a URL cannot contain are left out. Other
 * work of the process runs in between.
 *
 * @throws HttpError 400 for an invalid bucket name, 403 when the caller has no S3 endpoint
 */
export async function presignObjects(
  s3: Presigning,
  caller: Caller,
  bucket: string,
  objects: readonly PresignedObject[],
  method: PresignMethod,
  expiresSeconds: number,
  found: (object: PresignedObject, url: string) => void,
): Promise<void> {
  const { publicEndpoint, virtualHosts } = await s3Address(s3, caller);
  locate(publicEndpoint, virtualHosts, bucket);
  const presign = presigner(s3, caller, method, expiresSeconds);
  await yielding(objects.length, (index) => {
    const object = objects[index];
    if (!object.key.isWellFormed()) return;
    const address = locate(publicEndpoint, virtualHosts, bucket, object.key);
    if (!hasDotSegment(address.path)) found(object, presign(address, [], object.headers));
  });
}

/** The parts of an upload that get URLs. */
interface PresignedParts {
  readonly uploadId: string;
  /** Their numbers, from 1 on. */
  readonly parts: readonly number[];
  /** The headers that the URLs of parts require, by their numbers. */
  readonly headers: ReadonlyMap<number, HeaderRecord>;
}

/** Passes the URLs of the parts of an upload to `found`, as {@link presignObjects} does. */
export async function presignParts(
  s3: Presigning,
  caller: Caller,
  address: ObjectAddress,
  { uploadId, parts, headers }: PresignedParts,
  expiresSeconds: number,
  found: (partNumber: number, url: string) => void,
): Promise<void> {
  const presign = presigner(s3, caller, "put_object", expiresSeconds);
  await yielding(parts.length, (index) => {
    const number = parts[index];
    found(number, presign(address, [["uploadId", uploadId], ["partNumber", String(number)]], headers.get(number)));
  });
}

/** Computes the URLs of one request, which share their time. */
function presigner(s3: Presigning, caller: Caller, method: PresignMethod, expiresSeconds: number) {
  const now = s3.now();
  return ({ origin, path }: ObjectAddress, query: QueryPairs, headers?: HeaderRecord): string => {
    const request = { method: METHODS[method], host: hostOf(origin), path, query };
    return `${origin}${path}?${presignQuery(request, caller.s3, s3.region, expiresSeconds, now, headers)}`;
  };
}
