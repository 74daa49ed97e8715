import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest, HttpError } from "@/lib/http/errors.ts";
import { headerText } from "@/lib/http/header_values.ts";
import { SANDBOX_POLICY } from "@/lib/http/request_context.ts";
import { asciiDisposition, decodeWords, encodeWords, utf8Text, utf8Value } from "@/lib/std/header_encoding.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { callS3, callS3ForHeaders, type HeaderRecord, resourceOf, type S3, type S3Call } from "./s3_client.ts";
import { S3Failure } from "./s3_errors.ts";
import { MalformedXml } from "./s3_xml.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import type { ConditionalWrite, ConditionTable, WriteCondition } from "./store_kind.ts";

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

/** The headers that describe an object, which a write sets and a read returns. */
export const CONTENT_HEADERS = [
  "content-type",
  "content-encoding",
  "content-disposition",
  "content-language",
  "cache-control",
  "expires",
];
const UPLOAD_HEADERS = [...CONTENT_HEADERS, "content-md5", "x-amz-tagging"];
const READ_HEADERS = [
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "x-amz-checksum-mode",
];
const ANSWER_HEADERS = [
  ...CONTENT_HEADERS,
  "content-length",
  "content-range",
  "accept-ranges",
  "etag",
  "last-modified",
  "x-amz-version-id",
  "x-amz-delete-marker",
  "x-amz-missing-meta",
  "x-amz-mp-parts-count",
  "x-amz-storage-class",
  "x-amz-tagging-count",
];
/** Digests of a body, which a writer may send and a reader may request. */
const CHECKSUMS = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"].map((name) => `x-amz-checksum-${name}`);
const CHECKSUM_ANSWERS = [...CHECKSUMS, "x-amz-checksum-type"];
const WRITE_ANSWERS = ["etag", "x-amz-version-id", "x-amz-delete-marker", ...CHECKSUM_ANSWERS];
const OBJECT_HEADERS: ReadonlySet<string> = new Set([...ANSWER_HEADERS, ...CHECKSUM_ANSWERS]);
/** Prefix of the names of user metadata. */
export const METADATA = "x-amz-meta-";
const DEFAULT_CACHING = "private, no-cache";

/**
 * The headers of a write that go to the store: content headers, digests, tags, user metadata. Metadata and file names
 * may be UTF-8, and go to the store in ASCII as {@link storableHeader} says.
 *
 * @throws HttpError 400 naming another header that is not printable ASCII, which no signature covers reliably
 */
export function uploadHeaders(request: Headers): HeaderRecord {
  return printable(picked(request, [...UPLOAD_HEADERS, ...CHECKSUMS]));
}

/**
 * The same for a form. Its own content headers and digests describe the form; the type of the file is in its part.
 *
 * @throws HttpError 400 as {@link uploadHeaders}
 */
export function formUploadHeaders(request: Headers, contentType: string | null): HeaderRecord {
  const headers = { ...uploadHeaders(request) };
  for (const name of ["content-type", "content-md5", "content-encoding", ...CHECKSUMS]) delete headers[name];
  if (contentType === null) return headers;
  mustBePrintable("file: content-type", contentType);
  return { ...headers, "content-type": contentType };
}

/** The digests of a body among the headers of a request. @throws HttpError 400 as {@link uploadHeaders} */
export function digestHeaders(request: Headers): HeaderRecord {
  return printable(picked(request, ["content-md5", ...CHECKSUMS], false));
}

function printable(headers: HeaderRecord): HeaderRecord {
  for (const name in headers) mustBePrintable(name, headers[name]);
  return headers;
}

function mustBePrintable(name: string, value: string): void {
  if (PRINTABLE.test(value)) return;
  throw badRequest(`${name}: only ${mayBeUtf8(name) ? "UTF-8" : "printable ASCII"} is allowed`);
}

const PRINTABLE = /^[\x20-\x7e]*$/;

function mayBeUtf8(name: string): boolean {
  return name.startsWith(METADATA) || name === "content-disposition";
}

/**
 * A header of an object as any store can take it: metadata in UTF-8 as encoded words (RFC 2047), a file name in UTF-8 as
 * `filename*` (RFC 6266). Anything else stays as it is.
 */
export function storableHeader(name: string, value: string): string {
  const text = mayBeUtf8(name) ? utf8Text(value) : value;
  if (text === value) return value;
  return name.startsWith(METADATA) ? encodeWords(text) : asciiDisposition(text);
}

/** A header of an object for clients: metadata in UTF-8, however the store encodes it; a file name in ASCII. */
function readableHeader(name: string, value: string): string {
  if (name === "content-disposition") return asciiDisposition(value);
  if (!name.startsWith(METADATA)) return value;
  const text = decodeWords(value);
  // A header cannot carry decoded control characters.
  return text === value || /\p{Cc}/u.test(text) ? value : utf8Value(text);
}

/** The headers of a read that go to the store: range and conditions. */
export function readHeaders(request: Headers): HeaderRecord {
  const headers: Record<string, string> = {};
  for (const name of READ_HEADERS) {
    const value = request.get(name);
    if (value !== null) headers[name] = sendable(value);
  }
  return headers;
}

/**
 * The headers of an object as clients get them. Objects may be anything, so a browser must neither guess their type
 * nor run what is in them, and caches ask again each time unless the store says otherwise.
 */
export function objectHeaders(store: Headers): Record<string, string> {
  const headers: Record<string, string> = { "cache-control": DEFAULT_CACHING };
  // Going through what is there costs less than asking for each that might be, and an iterator more than both.
  store.forEach((value, name) => {
    if (OBJECT_HEADERS.has(name) || name.startsWith(METADATA)) headers[name] = sendable(readableHeader(name, value));
  });
  headers["content-security-policy"] = SANDBOX_POLICY;
  headers["x-content-type-options"] = "nosniff";
  return headers;
}

/** The headers of a store's response to a write that go to the client, all safe to send. */
export function writeHeaders(store: Headers): Record<string, string> {
  return picked(store, WRITE_ANSWERS, false);
}

function picked(from: Headers, names: readonly string[], metadata = true): Record<string, string> {
  const headers: Record<string, string> = {};
  const take = (name: string, value: string) => headers[name] = sendable(storableHeader(name, value));
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) take(name, value);
  }
  if (metadata) { for (const [name, value] of from) if (name.startsWith(METADATA)) take(name, value); }
  return headers;
}

function sendable(value: string): string {
  return /^[\x20-\xff]*$/.test(value) ? value : headerText(value);
}

/** An entity tag without its quotes. */
interface EntityTag {
  readonly tag: string;
  readonly isWeak: boolean;
}

type TagList = "*" | readonly EntityTag[];

/** The conditions of a request on one object (RFC 9110, section 13.1); times are ms since 1970. */
export interface Preconditions {
  /** Their headers, for error messages. */
  readonly names: readonly string[];
  readonly ifMatch: TagList | null;
  readonly ifNoneMatch: TagList | null;
  readonly unmodifiedSince: number | null;
  /** Only of the source of a copy: writes ignore it (RFC 9110, section 13.1.3). */
  readonly modifiedSince: number | null;
}

/** The state of a present object, which conditions compare. */
export interface ObjectState {
  /** With its quotes; null if the store stated none. */
  readonly etag: string | null;
  /** ms since 1970; null if the store stated no valid time. */
  readonly modifiedMs: number | null;
}

/** Conditions on the source of a copy have this prefix. */
const SOURCE = "x-amz-copy-source-";
const TARGET_NAMES = ["if-match", "if-none-match", "if-unmodified-since"] as const;
const SOURCE_NAMES = [...TARGET_NAMES, "if-modified-since"].map((name) => SOURCE + name);
/** Conditions of S3's directory buckets, which no operation takes here. */
const OTHER_NAMES = ["x-amz-if-match-last-modified-time", "x-amz-if-match-size", "x-amz-if-match-initiated-time"];

/**
 * The conditions on the object that a request changes; null where it has none.
 *
 * @throws HttpError 400 naming a header that is malformed
 */
export function preconditions(headers: Headers): Preconditions | null {
  return conditionsOf(headers, "", TARGET_NAMES);
}

/** The same of the source of a copy. */
export function sourcePreconditions(headers: Headers): Preconditions | null {
  return conditionsOf(headers, SOURCE, SOURCE_NAMES);
}

function conditionsOf(headers: Headers, prefix: string, known: readonly string[]): Preconditions | null {
  const names = known.filter((name) => headers.has(name));
  if (names.length === 0) return null;
  const read = <T>(name: string, parse: (text: string) => T | null, form: string): T | null => {
    const header = prefix + name;
    if (!names.includes(header)) return null;
    return parse((headers.get(header) ?? "").trim()) ?? refuse(`${header}: must be ${form}`);
  };
  return {
    names,
    ifMatch: read("if-match", tagList, "* or a list of ETags"),
    ifNoneMatch: read("if-none-match", tagList, "* or a list of ETags"),
    unmodifiedSince: read("if-unmodified-since", httpDate, "an HTTP date"),
    modifiedSince: read("if-modified-since", httpDate, "an HTTP date"),
  };
}

function refuse(detail: string): never {
  throw badRequest(detail);
}

/**
 * Rejects conditions that an operation does not hold: ignored, they would not protect what the caller relies on.
 *
 * @param takes which conditions the operation holds
 * @throws HttpError 501
 */
export function rejectConditions(headers: Headers, takes: "none" | "target" | "target and source"): void {
  const rejected = [
    ...(takes === "none" ? TARGET_NAMES : []),
    ...(takes === "target and source" ? [] : SOURCE_NAMES),
    ...OTHER_NAMES,
  ];
  const name = rejected.find((name) => headers.has(name));
  if (name !== undefined) throw new HttpError(501, `${name}: this operation does not support the condition`);
}

/** One element of a list of ETags. Clients of S3 write them without quotes, too. */
const ELEMENT = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e]*)"|(?!W\/)([\x21\x23-\x29\x2b\x2d-\x7e]+))?[ \t]*(?:,|$)/y;

function tagList(text: string): TagList | null {
  if (text === "*") return "*";
  const tags: EntityTag[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < text.length) {
    const match = ELEMENT.exec(text);
    if (!match) return null;
    const tag = match[2] ?? match[3];
    // A list may have empty elements (RFC 9110, section 5.6.1.2).
    if (tag !== undefined) tags.push({ tag, isWeak: match[1] !== undefined });
  }
  return tags.length === 0 ? null : tags;
}

/** The three forms of a date (RFC 9110, section 5.6.7). */
const DATE_HEADER = new RegExp(
  "^(?:[A-Z][a-z]{2}, (\\d{2}) [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT" +
    "|[A-Z][a-z]{5,8}, (\\d{2})-[A-Z][a-z]{2}-\\d{2} \\d{2}:\\d{2}:\\d{2} GMT" +
    "|[A-Z][a-z]{2} [A-Z][a-z]{2} ([ \\d]\\d) \\d{2}:\\d{2}:\\d{2} \\d{4})$",
);

function httpDate(text: string): number | null {
  const match = DATE_HEADER.exec(text);
  if (!match) return null;
  const ms = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  // The 31st of February would become a day in March.
  return new Date(ms).getUTCDate() === Number(match[1] ?? match[2] ?? match[3]) ? ms : null;
}

/** Whether conditions hold for an object, or for none (RFC 9110, section 13.2.2). */
export function holds(conditions: Preconditions, current: ObjectState | null): boolean {
  const { ifMatch, ifNoneMatch, unmodifiedSince, modifiedSince } = conditions;
  // HTTP dates have whole seconds.
  const seconds = current?.modifiedMs == null ? null : Math.floor(current.modifiedMs / 1000);
  if (ifMatch) {
    if (!listed(ifMatch, current, false)) return false;
  } else if (unmodifiedSince !== null && seconds !== null && seconds > unmodifiedSince / 1000) return false;
  if (ifNoneMatch) return !listed(ifNoneMatch, current, true);
  return modifiedSince === null || seconds === null || seconds > modifiedSince / 1000;
}

/** Whether an object's ETag is in a list, compared weakly or strongly (RFC 9110, section 8.8.3.2). */
function listed(list: TagList, current: ObjectState | null, isWeakly: boolean): boolean {
  if (list === "*" || current === null) return current !== null;
  const [own] = current.etag === null ? [] : entityTags(current.etag);
  return own !== undefined &&
    list.some(({ tag, isWeak }) => tag === own.tag && (isWeakly || !(isWeak || own.isWeak)));
}

function entityTags(etag: string): readonly EntityTag[] {
  const tags = tagList(etag.trim());
  return tags === null || tags === "*" ? [] : tags;
}

/** The state of an object by the headers of a HEAD. */
export function stateOf(headers: Headers): ObjectState {
  const ms = Date.parse(headers.get("last-modified") ?? "");
  return { etag: headers.get("etag"), modifiedMs: Number.isNaN(ms) ? null : ms };
}

type Place = Required<Pick<S3Call, "bucket" | "key">>;

/** @throws HttpError 412 where conditions do not hold */
export function requireConditions(conditions: Preconditions | null, current: ObjectState | null, place: Place): void {
  if (conditions === null || holds(conditions, current)) return;
  throw new HttpError(412, `${resourceOf(place)}: At least one of the pre-conditions you specified did not hold`);
}

/**
 * The header by which the store itself holds a caller's conditions at the moment of a write. One strong ETag, and
 * `If-None-Match: *`, are passed on. Stores understand lists, dates, `If-Match: *` and weak ETags differently or not at
 * all: these are compared here, and the write then depends on what was compared.
 *
 * @param writes the operations of the store that may make the write
 * @throws HttpError 412 where they do not hold, 501 where the store would ignore the header, else as {@link callS3ForHeaders}
 */
export async function guardWrite(
  s3: S3,
  caller: Caller,
  place: Place,
  { writes, conditions }: { readonly writes: readonly ConditionalWrite[]; readonly conditions: Preconditions | null },
): Promise<HeaderRecord> {
  if (conditions === null) return {};
  const direct = directGuard(conditions);
  const needed = direct ? Object.keys(direct) as WriteCondition[] : ["if-match", "if-none-match"] as const;
  requireSupport(await s3.conditions?.(caller, place), writes, needed, conditions);
  if (direct) return direct;
  const headers = await currentHeaders(s3, caller, place);
  const current = headers && stateOf(headers);
  requireConditions(conditions, current, place);
  return current === null ? ABSENT : unchanged(current, place);
}

/** The header that holds where a key has no object. */
export const ABSENT: HeaderRecord = { "if-none-match": "*" };

/** The header that holds while an object stays as it is. @throws HttpError 502 where the store named no ETag */
export function unchanged({ etag }: ObjectState, place: Place): HeaderRecord {
  if (!etag) throw badGateway(`${resourceOf(place)}: the store's response has no ETag`);
  return { "if-match": etag };
}

function directGuard({ names, ifMatch, ifNoneMatch }: Preconditions): HeaderRecord | null {
  if (names.length !== 1) return null;
  if (ifNoneMatch === "*") return ABSENT;
  if (!ifMatch || ifMatch === "*" || ifMatch.length !== 1 || ifMatch[0].isWeak) return null;
  return { "if-match": `"${ifMatch[0].tag}"` };
}

/** @throws HttpError 501 where the store does not hold one of the headers for one of the writes */
function requireSupport(
  table: ConditionTable | null | undefined,
  writes: readonly ConditionalWrite[],
  headers: readonly WriteCondition[],
  { names }: Preconditions,
): void {
  if (writes.every((write) => headers.every((header) => table?.[write].includes(header)))) return;
  throw unsupported(names);
}

/** 501: the store would ignore a condition. */
export function unsupported(names: readonly string[]): HttpError {
  return new HttpError(501, `${names.join(", ")}: the store does not support the condition for this operation`);
}

/** The headers of a key's current object; null where it has none. @throws HttpError as {@link callS3ForHeaders} */
export async function currentHeaders(s3: S3, caller: Caller, { bucket, key }: Place): Promise<Headers | null> {
  try {
    return await callS3ForHeaders(s3, caller, { operation: "HeadObject", method: "HEAD", bucket, key });
  } catch (error) {
    if (error instanceof S3Failure && error.storeStatus === 404) return null;
    throw error;
  }
}
