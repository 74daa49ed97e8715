import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { callS3, type HeaderRecord, type S3, type S3Call } from "./client.ts";

/** Where an object is, or will be. */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

/** Where an object is, and which version of it. */
interface ObjectName extends ObjectPlace {
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

/** Writes an object in one PUT; answers the store's headers (etag, version). @throws HttpError as {@link callS3} */
export async function putObject(s3: S3, caller: Caller, name: ObjectName, upload: UploadOptions): Promise<Headers> {
  const response = await callS3(s3, caller, {
    method: "PUT",
    ...place(name),
    headers: upload.headers,
    // An empty body is sent as none, so that its length is 0 and its digest known.
    body: upload.lengthBytes === 0 ? null : upload.body,
    lengthBytes: upload.lengthBytes,
  });
  await response.body?.cancel();
  return response.headers;
}

/** What a read can end in; 412 is for who asked with a condition. */
const READ_STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 412]);

interface ReadOptions {
  /** Range and conditions. */
  readonly headers?: HeaderRecord;
}

/**
 * Opens an object: 200, 206 or 304 with the body unread. `If-Range` (RFC 9110 §13.1.5), which S3 does not know, is
 * asked as a condition on the range and, when that fails, as a read of the whole.
 *
 * @throws HttpError as {@link callS3}
 */
export async function getObject(s3: S3, caller: Caller, name: ObjectName, options: ReadOptions): Promise<Response> {
  const { headers, whole } = conditionOfRange(options.headers ?? {});
  const read = async (headers: HeaderRecord, expect: readonly number[]) => {
    const response = await callS3(s3, caller, { method: "GET", ...place(name), headers, expect });
    if (READ_STATUSES.has(response.status)) return response;
    await response.body?.cancel();
    throw badGateway(`${place(name).resource}: the store's answer is not S3's`);
  };
  if (!whole) return await read(headers, [304]);
  const response = await read(headers, [304, 412]);
  if (response.status !== 412) return response;
  await response.body?.cancel();
  return await read(whole, [304]);
}

/** The headers of an object: 200 or 304, also for a range. @throws HttpError 404, 403 */
export async function headObject(
  s3: S3,
  caller: Caller,
  name: ObjectName,
  options: ReadOptions = {},
): Promise<Response> {
  const { "if-range": _, ...headers } = options.headers ?? {};
  return await callS3(s3, caller, {
    method: "HEAD",
    ...place(name),
    headers,
    expect: [304],
  });
}

/**
 * Deletes an object, or one version of it; answers the store's headers. S3 calls every delete a success, so the object
 * is looked up first: a second delete is 404 (spec, Errors). Where the caller may delete but not read, the store's own
 * answer stands.
 *
 * @throws HttpError 404 when it is not there
 */
export async function deleteObject(s3: S3, caller: Caller, name: ObjectName): Promise<Headers> {
  try {
    await headObject(s3, caller, name);
  } catch (error) {
    // 403: may not read. 405: the version is a delete marker, which can be deleted but not read.
    if (!(error instanceof HttpError) || (error.status !== 403 && error.status !== 405)) throw error;
  }
  const response = await callS3(s3, caller, { method: "DELETE", ...place(name) });
  await response.body?.cancel();
  return response.headers;
}

function place({ bucket, key, versionId }: ObjectName) {
  const query: [string, string][] = versionId === undefined ? [] : [["versionId", versionId]];
  return { bucket, key, query, resource: `object '${key}'` };
}

/** The two kinds of validator that If-Range compares; any other never matches (RFC 9110 §13.1.5, §5.6.7, §8.8.3). */
const STRONG_TAG = /^"[^"]*"$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Turns If-Range into If-Match or If-Unmodified-Since; `whole` is what a read of the whole sends when that fails, null
 * where there is no need.
 */
function conditionOfRange(given: HeaderRecord): { headers: HeaderRecord; whole: HeaderRecord | null } {
  const { "if-range": validator, ...headers } = given;
  if (validator === undefined || !("range" in headers)) return { headers, whole: null };
  const { range: _, ...whole } = headers;
  // The place for the validator is taken by a condition of the client's own: a range may always be ignored.
  if ("if-match" in headers || "if-unmodified-since" in headers) return { headers: whole, whole: null };
  if (STRONG_TAG.test(validator)) return { headers: { ...headers, "if-match": validator }, whole };
  if (HTTP_DATE.test(validator)) return { headers: { ...headers, "if-unmodified-since": validator }, whole };
  return { headers: whole, whole: null };
}

/**
 * Makes a folder: an empty object whose key ends with a slash, which is added where it is missing.
 *
 * @returns the key
 * @throws HttpError as {@link callS3}
 */
export async function createFolder(s3: S3, caller: Caller, bucket: string, name: string): Promise<string> {
  const key = name.endsWith("/") ? name : `${name}/`;
  const response = await callS3(s3, caller, {
    method: "PUT",
    bucket,
    key,
    lengthBytes: 0,
    resource: `folder '${key}'`,
  });
  await response.body?.cancel();
  return key;
}
