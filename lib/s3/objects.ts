import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { callS3, callS3ForHeaders, type HeaderRecord, resourceOf, type S3, type S3Call } from "./s3_client.ts";
import {
  ABSENT,
  currentHeaders,
  holdsCondition,
  type ObjectState,
  type Preconditions,
  requireConditions,
  requireSupport,
  stateOf,
  unchanged,
  unsupported,
} from "./conditions.ts";
import { callSdkForHeaders } from "./sdk.ts";

/** A bucket and a key. */
export interface ObjectRef {
  readonly bucket: string;
  readonly key: string;
}

/** An object, or one version of it. */
export interface VersionRef extends ObjectRef {
  readonly versionId?: string;
}

/** Bytes of a known length. */
export interface UploadBody {
  readonly body: Exclude<S3Call["body"], string | undefined>;
  readonly lengthBytes: number;
}

interface UploadOptions extends UploadBody {
  /** Content headers, conditions and `x-amz-meta-*`. */
  readonly headers: Headers;
}

/** The result of a write. */
export interface WrittenObject {
  readonly etag: string | null;
  /** Headers of the store's response. */
  readonly headers: Headers;
}

/** Writes an object in one PUT. @throws HttpError as {@link callS3} */
export async function putObject(
  s3: S3,
  caller: Caller,
  ref: VersionRef,
  upload: UploadOptions,
): Promise<WrittenObject> {
  const headers = await callS3ForHeaders(s3, caller, {
    operation: "PutObject",
    method: "PUT",
    ...target(ref),
    headers: upload.headers,
    // An empty body is sent as none, so that its length is 0 and its digest known.
    body: upload.lengthBytes === 0 ? null : upload.body,
    lengthBytes: upload.lengthBytes,
  });
  return { etag: headers.get("etag"), headers };
}

/** Statuses of a read; 412 is for a failed condition. */
const READ_STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 412]);

interface ReadOptions {
  /** Range and conditions. */
  readonly headers?: HeaderRecord;
}

/**
 * Opens an object. S3 does not know `If-Range` (RFC 9110 §13.1.5): it is sent as a condition on the range and, when that
 * fails, the whole object is read.
 *
 * @returns 200, 206 or 304 with the body unread
 * @throws HttpError as {@link callS3}
 */
export async function getObject(s3: S3, caller: Caller, ref: VersionRef, options: ReadOptions): Promise<Response> {
  const { headers, whole } = conditionOfRange(options.headers ?? {});
  const read = async (headers: HeaderRecord, expect: readonly number[]) => {
    const response = await callS3(s3, caller, {
      operation: "GetObject",
      method: "GET",
      ...target(ref),
      headers,
      expect,
    });
    if (READ_STATUSES.has(response.status)) return response;
    await response.body?.cancel();
    throw badGateway(`${resourceOf(ref)}: the store's response is not valid`);
  };
  if (!whole) return await read(headers, [304]);
  const response = await read(headers, [304, 412]);
  if (response.status !== 412) return response;
  await response.body?.cancel();
  return await read(whole, [304]);
}

/** The headers of an object. @returns 200 or 304, also for a range @throws HttpError 404, 403 */
export function headObject(
  s3: S3,
  caller: Caller,
  ref: VersionRef,
  options: ReadOptions = {},
): Promise<Response> {
  const { "if-range": _, ...headers } = options.headers ?? {};
  return callS3(s3, caller, { operation: "HeadObject", method: "HEAD", ...target(ref), headers, expect: [304] });
}

/**
 * Deletes an object, or one version of it. S3 reports success also where there is none, so the object is looked up first:
 * a second delete is 404 (spec, Errors). For a caller who may delete but not read, the store's response decides.
 *
 * @returns the store's headers
 * @throws HttpError 404 when it does not exist, 412 where a condition does not hold, 501 where the store would ignore it
 */
export async function deleteObject(
  s3: S3,
  caller: Caller,
  ref: VersionRef,
  conditions: Preconditions | null = null,
): Promise<Headers> {
  // A version never changes, so its conditions need no store; `null` is overwritten without versioning.
  const isFixed = ref.versionId !== undefined && ref.versionId !== "null";
  if (conditions && !isFixed) await requireSupport(s3, caller, ref, ["delete"], ["if-match"], conditions);
  let current: ObjectState | null = null;
  try {
    current = stateOf((await headObject(s3, caller, ref)).headers);
  } catch (error) {
    // 403: may not read. 405: the version is a delete marker, which can be deleted but not read.
    const isUnread = error instanceof HttpError && (error.status === 405 || (error.status === 403 && !conditions));
    if (!isUnread) throw error;
  }
  requireConditions(conditions, current, ref);
  const headers = conditions && current && !isFixed ? unchanged(current, ref) : {};
  return await sendDelete(s3, caller, ref, headers);
}

/** Deletes an object, or one version of it, whether it exists or not. @returns the store's headers */
export async function sendDelete(s3: S3, caller: Caller, ref: VersionRef, headers?: HeaderRecord): Promise<Headers> {
  return await callSdkForHeaders(s3, caller, { operation: "DeleteObject", ...ref, headers });
}

function target({ bucket, key, versionId }: VersionRef) {
  const query: [string, string][] = versionId === undefined ? [] : [["versionId", versionId]];
  return { bucket, key, query };
}

/** The two kinds of validator that If-Range compares; any other never matches (RFC 9110 §13.1.5, §5.6.7, §8.8.3). */
const STRONG_TAG = /^"[^"]*"$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Turns If-Range into If-Match or If-Unmodified-Since. `whole` has the headers of the read that follows when it fails, null
 * where none follows.
 */
function conditionOfRange(given: HeaderRecord): { headers: HeaderRecord; whole: HeaderRecord | null } {
  const { "if-range": validator, ...headers } = given;
  if (validator === undefined || !("range" in headers)) return { headers, whole: null };
  const { range: _, ...whole } = headers;
  // The client's own condition takes precedence. A range may always be ignored.
  if ("if-match" in headers || "if-unmodified-since" in headers) return { headers: whole, whole: null };
  if (STRONG_TAG.test(validator)) return { headers: { ...headers, "if-match": validator }, whole };
  if (HTTP_DATE.test(validator)) return { headers: { ...headers, "if-unmodified-since": validator }, whole };
  return { headers: whole, whole: null };
}

/**
 * Creates a folder: an empty object whose key ends with a slash, which is added where it is missing. One that exists stays.
 *
 * @returns the key
 * @throws HttpError 409 where an object with bytes has the key, 412 where a condition does not hold, 501 where the store
 *   would ignore it, else as {@link callS3}
 */
export async function createFolder(
  s3: S3,
  caller: Caller,
  bucket: string,
  name: string,
  conditions: Preconditions | null = null,
): Promise<string> {
  const key = name.endsWith("/") ? name : `${name}/`;
  const ref = { bucket, key };
  const resource = `folder '${key}'`;
  const isGuarded = await holdsCondition(s3, caller, ref, "put", "if-none-match");
  if (conditions && !isGuarded) throw unsupported(conditions.names);
  const exists = await folderExists(s3, caller, ref, conditions).catch((error: unknown) => {
    // A caller who may write but not read: the condition protects an object with bytes.
    if (isGuarded && !conditions && error instanceof HttpError && error.status === 403) return false;
    throw error;
  });
  if (exists) return key;
  const write = (headers: HeaderRecord) =>
    callS3ForHeaders(s3, caller, { operation: "PutObject", method: "PUT", ...ref, headers, lengthBytes: 0, resource });
  try {
    await write(isGuarded ? ABSENT : {});
  } catch (error) {
    const isTaken = error instanceof HttpError && (error.status === 412 || error.status === 409);
    if (conditions || !isTaken) throw error;
    if (await folderExists(s3, caller, ref, null)) return key;
    if (!isGuarded) throw error;
    // The condition fails behind a delete marker in versitygw.
    await write({});
  }
  return key;
}

/** @throws HttpError 409 where an object with bytes has the key, 412 where a condition does not hold */
async function folderExists(
  s3: S3,
  caller: Caller,
  ref: ObjectRef,
  conditions: Preconditions | null,
): Promise<boolean> {
  const found = await currentHeaders(s3, caller, ref);
  requireConditions(conditions, found && stateOf(found), ref);
  if (Number(found?.get("content-length")) > 0) {
    throw new HttpError(409, `folder '${ref.key}': an object with bytes has this key`);
  }
  return found !== null;
}

/** A bucket's name in whichever store; the document says which names would be something else in a path, and are 400. */
export const bucketName = z.string().min(1).meta({ pattern: "^(?!\\.{1,2}$)[^/]+$", examples: ["notes"] });

/** Whether two names may be of one bucket: some stores, such as the embedded one, compare them without case. */
export function isSameBucket(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.normalize("NFC").toLowerCase());
  return a === b;
}

/** A text that an address can carry: JSON may hold half of a surrogate pair, UTF-8 cannot. */
export const wellFormed = z.string().refine((text) => text.isWellFormed(), "Input should be well-formed Unicode");

/** Longest key in S3, bytes of UTF-8. */
export const MAX_KEY_BYTES = 1024;

/** A key in a body: one that an object can have. */
export const objectKey = wellFormed.min(1).refine(
  (key) => Buffer.byteLength(key) <= MAX_KEY_BYTES,
  `String should have at most ${MAX_KEY_BYTES} bytes of UTF-8`,
).meta({ maxLength: MAX_KEY_BYTES });
