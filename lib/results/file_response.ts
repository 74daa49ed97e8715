import type { Caller, S3Keys } from "@/lib/auth/store_credentials.ts";
import { UNCACHED } from "@/lib/http/app.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { headerText, mediaTypeOf } from "@/lib/http/header_values.ts";
import { type RequestInfo, SANDBOX_POLICY } from "@/lib/http/request_context.ts";
import { boundedBody, type UpstreamClient, UpstreamError } from "@/lib/http/upstream.ts";
import type { HeaderRecord, S3 } from "@/lib/s3/s3_client.ts";
import { S3Failure } from "@/lib/s3/s3_errors.ts";
import { listObjects } from "@/lib/s3/listing.ts";
import { getObject, headObject } from "@/lib/s3/objects.ts";
import { resultsError } from "./results_service.ts";

/** The one bucket that the results role reads. */
export interface ResultsStore {
  readonly s3: S3;
  /** The tenant of the S3 endpoint; null where the store has only one. */
  readonly tenant: string | null;
  readonly bucket: string;
  /** Keys of the readiness probe; without them it is unsigned, which some stores do not answer. */
  readonly probeKeys?: S3Keys | null;
}

/** Until the store's response headers, ms. */
const READ_TIMEOUT_MS = 30_000;
const ATTEMPTS = 2;

/** A store with one retry after a failed connection. The results role only reads, so a retry is safe. */
export function retryingStore(store: ResultsStore): ResultsStore {
  return { ...store, s3: { ...store.s3, upstream: withRetry(store.s3.upstream) } };
}

/** A session's user as a caller of the store. */
export function storeCaller({ tenant }: ResultsStore, user: string, keys: S3Keys, signal?: AbortSignal): Caller {
  return { username: user, tenant, s3: keys, mapiAuthorization: null, named: true, signal };
}

function withRetry(upstream: UpstreamClient): UpstreamClient {
  return {
    async send(request) {
      for (let attempt = 1;; attempt++) {
        try {
          return await upstream.send({ ...request, timeoutMs: READ_TIMEOUT_MS });
        } catch (error) {
          const isTransient = error instanceof UpstreamError &&
            (error.problem === "unreachable" || error.problem === "broken");
          if (!isTransient || attempt === ATTEMPTS || request.signal?.aborted) throw error;
        }
      }
    },
  };
}

/** The types that a browser may display. Any other could run as a page of this origin, so it is a download. */
const SHOWN_TYPES = new Set(["application/json", "application/xml", "text/xml", "text/plain"]);
const ONE_RANGE = /^bytes=(?:\d{1,16}-\d{0,16}|-\d{1,16})$/i;
const CONTENT_CODING = /^[\w, -]{1,64}$/;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The user of a request, and the request's own headers. */
export interface ResultsReader {
  readonly headers: Headers;
  readonly user: string;
  readonly keys: S3Keys;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal;
  /** The client's connection; absent for calls of another role. */
  readonly info?: RequestInfo;
}

interface FileRequest extends ResultsReader {
  readonly method: "GET" | "HEAD";
  readonly key: string;
}

/** The names of pages whose text is published, and the file name after which further ones follow. */
interface PageTexts {
  readonly pages: readonly string[];
  readonly next: string | null;
}

interface PageTextsRequest extends ResultsReader {
  /** `<namespace>/<pipeline>/<volume>` */
  readonly volume: string;
  /** The list starts after this file name; empty: at the first. */
  readonly after: string;
}

/**
 * Lists the texts in a volume's `alto/`, 1,000 files at most.
 *
 * @throws HttpError 401 when the store no longer knows the keys, 403, 502, 504
 */
export async function listPageTexts(store: ResultsStore, request: PageTextsRequest): Promise<PageTexts> {
  const { volume, after, user, keys, signal } = request;
  const prefix = `${volume}/alto/`;
  try {
    const caller = storeCaller(store, user, keys, signal);
    const options = { prefix, startAfter: prefix + after };
    const { objects, is_truncated } = await listObjects(store.s3, caller, store.bucket, options);
    const files = objects.map(({ Key }) => Key.slice(prefix.length));
    const pages = files.flatMap((file) => /^[^/]+\.xml$/.test(file) ? [file.slice(0, -".xml".length)] : []);
    return { pages, next: is_truncated ? files.at(-1) ?? null : null };
  } catch (error) {
    throw error instanceof HttpError ? resultsError(...failureOf(error), { cause: error }) : error;
  }
}

/**
 * Opens a result file: 200, 206 or 304 with the body unread.
 *
 * @throws HttpError 401 when the store no longer knows the keys, 403, 404, 416, 502, 504
 */
export async function readResultObject(store: ResultsStore, request: FileRequest): Promise<Response> {
  const caller = storeCaller(store, request.user, request.keys, request.signal);
  const name = { bucket: store.bucket, key: request.key };
  const read = request.method === "HEAD" ? headObject : getObject;
  try {
    const headers = fileConditions(request.method, request.headers);
    return fileResponse(await read(store.s3, caller, name, headers), request.info);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.status !== 416) throw resultsError(...failureOf(error), { cause: error });
    // The store's 416 may lack the file's length, which a client that follows a growing log needs.
    const whole = await headObject(store.s3, caller, name).catch(() => null);
    throw rangeFailure(whole?.headers.get("Content-Length") ?? null);
  }
}

/**
 * The request headers that are forwarded to the store: conditions, and a single range of a GET. Malformed ones are
 * ignored (RFC 9110 §13.1.3, §14.2).
 */
export function fileConditions(method: "GET" | "HEAD", request: Headers): HeaderRecord {
  const headers: Record<string, string> = {};
  const etags = request.get("If-None-Match");
  if (etags !== null && PRINTABLE.test(etags)) headers["if-none-match"] = etags;
  const since = httpDate(request.get("If-Modified-Since"));
  // With entity tags the date must be ignored (RFC 9110 §13.2.2), but not every store does so.
  if (since !== null && etags === null) headers["if-modified-since"] = since;
  const range = request.get("Range");
  if (method === "HEAD" || range === null || !ONE_RANGE.test(range)) return headers;
  const validator = request.get("If-Range");
  if (validator === null) headers.range = range;
  else {
    const tag = /^"[\x21\x23-\x7e]*"$/.test(validator) ? validator : httpDate(validator);
    // A validator that cannot be compared never matches, so the whole file is sent.
    if (tag !== null) {
      headers.range = range;
      headers["if-range"] = tag;
    }
  }
  return headers;
}

/** Turns the store's response into that for the client. */
export function fileResponse(store: Response, info?: RequestInfo): Response {
  const headers = new Headers({
    ...UNCACHED,
    "Content-Security-Policy": SANDBOX_POLICY,
    "X-Content-Type-Options": "nosniff",
  });
  copyHeaders(store.headers, headers, ["ETag", "Last-Modified"]);
  if (store.status === 304) return new Response(null, { status: 304, headers });
  copyHeaders(store.headers, headers, ["Content-Length", "Content-Range"]);
  headers.set("Accept-Ranges", "bytes");
  const coding = store.headers.get("Content-Encoding");
  if (coding !== null && CONTENT_CODING.test(coding)) headers.set("Content-Encoding", coding);
  const type = store.headers.get("Content-Type") ?? "";
  if (PRINTABLE.test(type) && SHOWN_TYPES.has(mediaTypeOf(type))) {
    headers.set("Content-Type", type);
  } else {
    headers.set("Content-Type", "application/octet-stream");
    headers.set("Content-Disposition", "attachment");
  }
  return new Response(boundedBody(store, info), { status: store.status, headers });
}

/** The codes by which stores report a missing key. A missing bucket is a fault of the setup, not a 404. */
const NOT_THERE: ReadonlySet<string> = new Set(["NoSuchKey", "NotFound", "404"]);

/** The status and detail for a failed read; they contain nothing of the store's message. */
function failureOf(error: HttpError): [status: number, detail: string] {
  if (error.status === 499) return [499, "the reader left"];
  if (error.status === 504) return [504, "the results store took too long to answer"];
  if (error instanceof S3Failure) {
    const { code, storeStatus } = error;
    if (code === "InvalidAccessKeyId" || code === "SignatureDoesNotMatch") return [401, "not logged in"];
    if (code === "AccessDenied" || (code === null && storeStatus === 403)) {
      return [403, "this account may not read the file"];
    }
    if (NOT_THERE.has(code ?? "404") && storeStatus === 404) return [404, "file not found"];
  }
  return [502, "the results store did not answer"];
}

function rangeFailure(length: string | null): HttpError {
  const isKnown = length !== null && /^\d+$/.test(length);
  return resultsError(416, "the file has no such range", {
    headers: isKnown ? { "Content-Range": `bytes */${length}` } : {},
  });
}

function copyHeaders(from: Headers, to: Headers, names: readonly string[]): void {
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) to.set(name, headerText(value));
  }
}

/** An HTTP date in its preferred form (RFC 9110 §5.6.7), or null. `Date.parse` alone would accept `1` as a date. */
function httpDate(text: string | null): string | null {
  if (text === null || !/^[A-Z][a-z]{2,8},? .{8,30}$/.test(text)) return null;
  const time = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : new Date(time).toUTCString();
}
