import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { callS3, callS3ForHeaders, type HeaderRecord, resourceOf, type S3, type S3Call } from "./s3_client.ts";
import {
  ABSENT,
  currentHeaders,
  type ObjectState,
  type Preconditions,
  requireConditions,
  requireSupport,
  stateOf,
  unchanged,
  unsupported,
} from "./conditions.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { S3Failure } from "./s3_errors.ts";
import { MalformedXml } from "./s3_xml.ts";

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
  readonly headers: HeaderRecord;
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

/**
 * Opens an object. S3 does not know `If-Range` (RFC 9110 §13.1.5): it is sent as a condition on the range and, when that
 * fails, the whole object is read.
 *
 * @param given range and conditions
 * @returns 200, 206 or 304 with the body unread
 * @throws HttpError as {@link callS3}
 */
export async function getObject(s3: S3, caller: Caller, ref: VersionRef, given: HeaderRecord): Promise<Response> {
  const { headers, whole } = conditionOfRange(given);
  const read = async (headers: HeaderRecord, expect: readonly number[]) => {
    const call = { operation: "GetObject", method: "GET", ...target(ref), headers, expect } as const;
    const response = await callS3(s3, caller, call);
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
export function headObject(s3: S3, caller: Caller, ref: VersionRef, given: HeaderRecord = {}): Promise<Response> {
  const { "if-range": _, ...headers } = given;
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
  if (conditions && !isFixed) requireSupport(await s3.conditions?.(caller, ref), ["delete"], ["if-match"], conditions);
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
  { bucket, name }: { readonly bucket: string; readonly name: string },
  conditions: Preconditions | null = null,
): Promise<string> {
  const key = name.endsWith("/") ? name : `${name}/`;
  const ref = { bucket, key };
  const resource = `folder '${key}'`;
  const isGuarded = (await s3.conditions?.(caller, ref))?.put.includes("if-none-match") ?? false;
  if (conditions && !isGuarded) throw unsupported(conditions.names);
  const exists = await folderExists(s3, caller, ref, conditions).catch((error: unknown) => {
    // The caller may write but not read: the condition protects an object with bytes.
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

/** A bucket's name in any store. The pattern in the document excludes names that would change a path, which are 400. */
export const bucketName = z.string().min(1).meta({ pattern: "^(?!\\.{1,2}$)[^/]+$", examples: ["notes"] });

/** Whether two names may be the same bucket: some stores, such as the embedded one, ignore case. */
export function isSameBucket(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.normalize("NFC").toLowerCase());
  return a === b;
}

/** A text that can be encoded as UTF-8: JSON may contain lone surrogates. */
export const wellFormed = z.string().refine((text) => text.isWellFormed(), "Input should be well-formed Unicode");

/** Longest key in S3, bytes of UTF-8. */
export const MAX_KEY_BYTES = 1024;

/** A valid key in a body. */
export const objectKey = wellFormed.min(1).refine(
  (key) => Buffer.byteLength(key) <= MAX_KEY_BYTES,
  `String should have at most ${MAX_KEY_BYTES} bytes of UTF-8`,
).meta({ maxLength: MAX_KEY_BYTES });

/** A tag of an object. */
export type Tag = readonly [name: string, value: string];

/** Most tags of an object, and their longest names and values, in characters (S3 API, object tagging). */
export const MAX_TAGS = 10;
export const MAX_TAG_NAME = 128;
export const MAX_TAG_VALUE = 256;

/** The spaces of `\\p{Z}`, written out: some readers of the document take that for any white space. */
const SPACES = " \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
/** Characters that S3 allows in tags: letters, digits and spaces of any script, and a few signs. `aws:` is for AWS itself. */
const CHARACTERS = `[\\p{L}\\p{N}${SPACES}_.:/=+\\-@]`;
export const TAG_NAME = `^(?![Aa][Ww][Ss]:)${CHARACTERS}+$`;
export const TAG_VALUE = `^${CHARACTERS}*$`;
const NAME = new RegExp(TAG_NAME, "u");
const VALUE = new RegExp(TAG_VALUE, "u");

/** Whether S3 allows a text as the name of a tag. */
export function isTagName(text: string): boolean {
  return NAME.test(text) && [...text].length <= MAX_TAG_NAME;
}

/** Whether S3 allows a text as the value of a tag. */
export function isTagValue(text: string): boolean {
  return VALUE.test(text) && [...text].length <= MAX_TAG_VALUE;
}

/** The tags of an object, or of one version of it. @throws HttpError as {@link callSdk} */
export async function getTags(s3: S3, caller: Caller, ref: VersionRef): Promise<Tag[]> {
  try {
    return await callSdk(s3, caller, { operation: "GetObjectTagging", ...ref }, ({ TagSet = [] }) => TagSet.map(tagOf));
  } catch (error) {
    // Some stores have an error for an object without tags.
    if (error instanceof S3Failure && error.code === "NoSuchTagSet") return [];
    throw error;
  }
}

function tagOf({ Key, Value }: { Key?: string; Value?: string }): Tag {
  if (!Key) throw new MalformedXml("a tag without a name");
  return [Key, Value ?? ""];
}

/** Replaces all tags. @returns the store's headers @throws HttpError as {@link callSdk} */
export async function putTags(s3: S3, caller: Caller, ref: VersionRef, tags: readonly Tag[]): Promise<Headers> {
  const Tagging = { TagSet: tags.map(([Key, Value]) => ({ Key, Value })) };
  return await callSdkForHeaders(s3, caller, { operation: "PutObjectTagging", ...ref, input: { Tagging } });
}

/** Removes all tags. @returns the store's headers @throws HttpError as {@link callSdk} */
export async function deleteTags(s3: S3, caller: Caller, ref: VersionRef): Promise<Headers> {
  return await callSdkForHeaders(s3, caller, { operation: "DeleteObjectTagging", ...ref });
}

/** The value of the header `x-amz-tagging`, which sets the tags of a new object. */
export function tagHeader(tags: readonly Tag[]): string {
  return tags.map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`).join("&");
}
