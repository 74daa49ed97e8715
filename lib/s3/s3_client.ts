import { Buffer } from "node:buffer";
import { createHmac, hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Caller, S3Keys } from "@/lib/auth/store_credentials.ts";
import { type WatchedUpload, watchedUpload } from "@/lib/http/body.ts";
import {
  badGateway,
  badRequest,
  forbidden,
  gatewayTimeout,
  type HttpError,
  requestTimeout,
} from "@/lib/http/errors.ts";
import {
  type FailureDetails,
  readCapped,
  type UpstreamClient,
  UpstreamError,
  upstreamFailure,
  type UpstreamRequest,
} from "@/lib/http/upstream.ts";
import { type TimeBounds, totalMs, UNWATCHED_BYTES } from "@/lib/std/body_reader.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { markRequest, type S3Address, type StoreAddresses } from "@/lib/std/store_addresses.ts";
import { DNS_LABEL, encodeRfc3986 } from "@/lib/std/text.ts";
import { s3Failure, verdictOf } from "./s3_errors.ts";
import { MalformedXml } from "./s3_xml.ts";
import type { ConditionSupport } from "./store_kind.ts";

const HEADERS_TIMEOUT_MS = 60_000;

const FAILURES: FailureDetails = {
  unreachable: "S3 endpoint unreachable",
  timeout: "S3 read timed out",
  broken: "S3 connection error",
  codes: {
    unreachable: { code: "store_unreachable" },
    timeout: { code: "store_timeout" },
    broken: { code: "store_broken" },
  },
};

/** Shared by all S3 operations, independent of the caller. */
export interface S3 {
  readonly addresses: Pick<StoreAddresses, "s3" | "mark">;
  readonly region: string;
  readonly upstream: UpstreamClient;
  /** ms since 1970 */
  readonly now: () => number;
  /** Timeout until the response headers, ms, in addition to the time for a request body; a minute when absent. */
  readonly timeoutMs?: number;
  /** Time bounds of bodies to and from the store; those of all streams when absent. */
  readonly bounds?: TimeBounds;
  /** Which conditions of writes the store holds; none when absent. */
  readonly conditions?: ConditionSupport;
  /**
   * Whether the store may store a body that ends early as an object, of a request that states a digest of the body or not.
   * Absent: it rejects such a body.
   */
  readonly mayTruncate?: (hasDigest: boolean) => Promise<boolean>;
}

/** Headers by name in lower case. */
export type HeaderRecord = Readonly<Record<string, string>>;

export interface S3Call {
  /** The name of the operation in the documentation of S3. */
  readonly operation: string;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly bucket?: string;
  readonly key?: string;
  readonly query?: QueryPairs;
  readonly headers?: HeaderRecord;
  /**
   * A stream is a client's body, which is passed on. Chunks are of this process: each may use the memory of the one
   * before. Neither is signed, and both need `lengthBytes`. Bytes are signed where the store may truncate a body.
   */
  readonly body?:
    | ReadableStream<Uint8Array<ArrayBuffer>>
    | AsyncGenerator<Uint8Array<ArrayBuffer>>
    | Uint8Array<ArrayBuffer>
    | string
    | null;
  readonly lengthBytes?: number;
  /** Time for the store to respond once it has the request, ms; a minute when absent. */
  readonly workMs?: number;
  /** The subject of error messages; the object or bucket when absent. */
  readonly resource?: string;
  /** Statuses besides 2xx that are returned instead of thrown. */
  readonly expect?: readonly number[];
}

/**
 * Sends one signed request as the caller and resolves with the response, its body unread. `caller.onVerdict` receives what
 * the response says about the credentials.
 *
 * @throws HttpError by the store's error code; 502 when the store is unreachable, or its response is not valid or comes before all of the body, 504 when it
 *   does not respond in time, 408 when the client sends its body too slowly, 403 when the caller has no S3 endpoint, 400
 *   for a name that no path can hold
 */
export async function callS3(s3: S3, caller: Caller, call: S3Call): Promise<Response> {
  const { endpoint, virtualHosts, ignoresKeys } = await s3Address(s3, caller);
  const { origin, path } = call.bucket === undefined
    ? { origin: endpoint, path: "/" }
    : locate(endpoint, virtualHosts, call.bucket, call.key);
  const query = call.query ?? [];
  const headers: Record<string, string> = { ...call.headers };
  if (call.lengthBytes !== undefined) headers["content-length"] = String(call.lengthBytes);
  const signed = { method: call.method, host: hostOf(origin), path, query };
  markRequest(s3.addresses, caller, call.method, headers);
  const signsBytes = call.body instanceof Uint8Array && await s3.mayTruncate?.(false) === true;
  const { region } = s3;
  signHeaders(signed, headers, payloadHash(call.body, signsBytes), { keys: caller.s3, region, now: s3.now() });
  const workMs = call.workMs ?? s3.timeoutMs ?? HEADERS_TIMEOUT_MS;
  const sent = outgoingBody(s3, call, workMs);
  const request = {
    method: call.method,
    operation: call.operation,
    origin,
    target: path + (query.length > 0 ? `?${encodeQuery(query)}` : ""),
    headers,
    body: sent.body,
    reusesMemory: isChunks(call.body),
    signal: eitherSignal(caller.signal, sent.signal),
    // The response to an upload comes after its body.
    timeoutMs: workMs + (call.lengthBytes ? totalMs(call.lengthBytes, s3.bounds) : 0),
  };
  let response: Response;
  try {
    response = await s3.upstream.send(request);
  } catch (error) {
    const failure = await asHttpError(error, s3.upstream, request, Math.min(workMs, LIVENESS_MS));
    throw sent.failure?.() ?? failure;
  } finally {
    sent.release?.();
  }
  if (response.ok && sent.isWhole?.() === false) {
    await response.body?.cancel();
    throw badGateway("S3 confirmed a body before all of it was sent");
  }
  const onVerdict = ignoresKeys ? undefined : caller.onVerdict;
  if (response.ok || call.expect?.includes(response.status)) {
    onVerdict?.("accepted");
    return response;
  }
  const failure = await s3Failure(response, resourceOf(call));
  const verdict = verdictOf(failure);
  if (verdict) onVerdict?.(verdict);
  throw failure;
}

function eitherSignal(client: AbortSignal | undefined, body: AbortSignal | undefined): AbortSignal | undefined {
  return client && body ? AbortSignal.any([client, body]) : client ?? body;
}

/** The same for a response whose body is not needed. @returns its headers @throws HttpError as {@link callS3} */
export async function callS3ForHeaders(s3: S3, caller: Caller, call: S3Call): Promise<Headers> {
  const response = await callS3(s3, caller, call);
  await response.body?.cancel();
  return response.headers;
}

/** The subject of a request in error messages. */
export function resourceOf({ resource, bucket, key }: Pick<S3Call, "resource" | "bucket" | "key">): string {
  return resource ?? (key === undefined ? `bucket '${bucket}'` : `object '${key}'`);
}

/** The caller's S3 address. @throws HttpError 403 when the caller has none (system level) */
export function s3Address(s3: Pick<S3, "addresses">, caller: Caller): Promise<S3Address> {
  return s3.addresses.s3(caller.tenant).then(requireAddress);
}

function requireAddress(address: S3Address | null): S3Address {
  if (!address) throw forbidden("System-level credentials have no S3 endpoint");
  return address;
}

/**
 * The origin and path of a bucket or key: path-style, or virtual-hosted where the store requires it and the bucket's name
 * is a valid host name.
 *
 * @throws HttpError 400 for a bucket name that would change the path
 */
export function locate(
  endpoint: string,
  virtualHosts: boolean | undefined,
  bucket: string,
  key?: string,
): { origin: string; path: string } {
  if (bucket === "" || bucket === "." || bucket === ".." || bucket.includes("/") || !bucket.isWellFormed()) {
    throw badRequest("bucket: not a valid bucket name");
  }
  if (key !== undefined && !key.isWellFormed()) throw badRequest("key: not well-formed Unicode");
  const path = s3Path(bucket, key);
  if (!virtualHosts || !DNS_LABEL.test(bucket)) return { origin: endpoint, path };
  return { origin: endpoint.replace("://", `://${bucket}.`), path: path.slice(bucket.length + 1) || "/" };
}

function payloadHash(body: S3Call["body"], signsBytes: boolean): string {
  if (typeof body === "string" || (signsBytes && body instanceof Uint8Array)) return sha256Hex(body);
  return body ? UNSIGNED_PAYLOAD : EMPTY_PAYLOAD;
}

function isChunks(body: S3Call["body"]): body is AsyncGenerator<Uint8Array<ArrayBuffer>> {
  return typeof body === "object" && body !== null && "next" in body;
}

/** The body that is sent: a long stream is watched, since its total deadline is too long. */
function outgoingBody(
  { bounds }: S3,
  { body, lengthBytes = 0 }: S3Call,
  workMs: number,
): Pick<UpstreamRequest, "body"> & Partial<Omit<WatchedUpload, "body">> {
  const isWatched = isChunks(body) || (body instanceof ReadableStream && lengthBytes > UNWATCHED_BYTES);
  return isWatched ? watchedUpload(body, { lengthBytes, bounds, workMs, stalled }) : { body };
}

function stalled(): HttpError {
  return gatewayTimeout(FAILURES.timeout, FAILURES.codes?.timeout);
}

/** The error for the client of a request that got no response. */
async function asHttpError(
  error: unknown,
  upstream: UpstreamClient,
  request: UpstreamRequest,
  livenessMs: number,
): Promise<unknown> {
  if (!(error instanceof UpstreamError)) return error;
  const isLate = error.problem === "timeout";
  return isLate && await isClientSlow(upstream, request, livenessMs)
    ? requestTimeout()
    : upstreamFailure(error, FAILURES);
}

/** How long a store may take to show that it responds, ms. */
const LIVENESS_MS = 5000;

/**
 * Whether the client and not the store caused the timeout of an upload. The progress of a body that is passed on is
 * unknown. A store that responds to another request would have responded to this one, so the client was slow.
 */
async function isClientSlow(
  upstream: UpstreamClient,
  { origin, body, reusesMemory }: UpstreamRequest,
  timeoutMs: number,
): Promise<boolean> {
  if (!(body instanceof ReadableStream || body instanceof Blob) || reusesMemory) return false;
  try {
    const response = await upstream.send({
      method: "GET",
      operation: "ProbeEndpoint",
      origin,
      target: "/",
      headers: {},
      timeoutMs,
    });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/** A thousand entries with the longest keys, every byte of them escaped, stay below this. */
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
const ERROR_ROOT = /^\s*(?:<\?[^>]*\?>\s*)?<Error[\s>]/;

/**
 * Sends a request whose response is XML, and parses it. Stores start to respond to copies and completions before the
 * result is known, so a response with status 200 may contain an error, which is thrown. `workMs` also limits the time for
 * the body.
 *
 * @throws HttpError as {@link callS3}; 502 when the response ends early, is too long or is not valid
 */
export async function callS3ForXml<T>(s3: S3, caller: Caller, call: S3Call, parse: (xml: string) => T): Promise<T> {
  return await parsedXml(await callS3(s3, caller, call), call, parse);
}

/** The body of a response as {@link callS3ForXml} reads it, for callers that need its headers too. */
export async function parsedXml<T>(
  response: Response,
  call: Pick<S3Call, "bucket" | "key" | "workMs" | "resource">,
  parse: (xml: string) => T,
  maxBytes = MAX_LISTING_BYTES,
): Promise<T> {
  const resource = resourceOf(call);
  let text: string;
  try {
    text = await readCapped(response, maxBytes, call.workMs);
  } catch (error) {
    throw badGateway(`${resource}: the store's response ended early`, error);
  }
  if (ERROR_ROOT.test(text)) throw await s3Failure(new Response(text), resource);
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof MalformedXml) throw badGateway(`${resource}: the store's response is not valid`, error);
    throw error;
  }
}

export const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";
/** SHA-256 of nothing. */
export const EMPTY_PAYLOAD = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const ALGORITHM = "AWS4-HMAC-SHA256";
const MAX_CACHED_KEYS = 1000;
/** Characters of a path that RFC 3986 does not encode. */
const UNRESERVED_PATH = /^[\w.~/-]*$/;
const MAX_CACHED_HOSTS = 1000;
const ASCII = /^[\0-\x7f]*$/;
/** Sizes of SHA-256. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** A query as ordered pairs, not encoded. */
export type QueryPairs = readonly (readonly [name: string, value: string])[];

interface SignedRequest {
  readonly method: string;
  /** `host` or `host:port`, without the scheme's default port. */
  readonly host: string;
  /** Percent-encoded once by {@link s3Path}; `//`, dots and a trailing slash are signed unchanged. */
  readonly path: string;
  readonly query: QueryPairs;
}

/** Who signs, where and when. */
interface Signing {
  readonly keys: S3Keys;
  readonly region: string;
  /** ms since 1970 */
  readonly now: number;
}

/**
 * Signs a request with SigV4 in its headers (AWS Signature Version 4 for S3): adds `x-amz-date`, `x-amz-content-sha256`
 * and `authorization` to `headers`, whose names are in lower case and whose values have a character for each byte. Host,
 * content-type, content-md5 and all `x-amz-*` are signed.
 *
 * @param payloadHash hexadecimal SHA-256 of the body, or {@link UNSIGNED_PAYLOAD} for a stream
 */
export function signHeaders(
  request: SignedRequest,
  headers: Record<string, string>,
  payloadHash: string,
  signing: Signing,
): void {
  headers["x-amz-date"] = amzDate(signing.now);
  headers["x-amz-content-sha256"] = payloadHash;
  const signed = [];
  for (const name in headers) {
    if (name.startsWith("x-amz-") || name === "content-type" || name === "content-md5") signed.push(name);
  }
  const canonical = canonicalHeaders(request.host, headers, signed);
  const query = joined(encodedPairs(request.query).sort(inOrder));
  const signature = sign(canonicalRequest(request, canonical, query, payloadHash), signing);
  headers["authorization"] = `${ALGORITHM} Credential=${
    credential(signing)
  }, SignedHeaders=${canonical.names}, Signature=${signature}`;
}

/**
 * The signed query of a presigned URL (AWS Signature Version 4, query parameters), the request's own query first. The host
 * is signed, and so are `headers`, which the client must send as they are. The payload is not.
 *
 * @param expiresSeconds validity, 1 to 604,800
 * @param headers their names are in lower case
 */
export function presignQuery(
  request: SignedRequest,
  signing: Signing,
  expiresSeconds: number,
  headers: Readonly<Record<string, string>> = {},
): string {
  const canonical = canonicalHeaders(request.host, headers, Object.keys(headers));
  const pairs = encodedPairs([
    ...request.query,
    ["X-Amz-Algorithm", ALGORITHM],
    ["X-Amz-Credential", credential(signing)],
    ["X-Amz-Date", amzDate(signing.now)],
    ["X-Amz-Expires", String(expiresSeconds)],
    ["X-Amz-SignedHeaders", canonical.names],
  ]);
  const query = joined(pairs);
  const signed = canonicalRequest(request, canonical, joined(pairs.sort(inOrder)), UNSIGNED_PAYLOAD);
  return `${query}&X-Amz-Signature=${sign(signed, signing)}`;
}

/** The path-style path of a bucket, or of a key in it: each segment is encoded once, slashes of the key are not. */
export function s3Path(bucket: string, key?: string): string {
  const head = `/${encodeRfc3986(bucket)}`;
  return key === undefined ? head : `${head}/${encodedKey(key)}`;
}

/** A key as it is in a path. @throws URIError for a lone surrogate */
function encodedKey(key: string): string {
  return UNRESERVED_PATH.test(key) ? key : key.split("/").map(encodeRfc3986).join("/");
}

/** A query string with RFC 3986 encoding, in the order given. */
export function encodeQuery(query: QueryPairs): string {
  return joined(encodedPairs(query));
}

/** Hexadecimal SHA-256 of a body; a text counts as UTF-8. */
function sha256Hex(body: string | Uint8Array): string {
  return hash("sha256", body, "hex");
}

function canonicalRequest(
  { method, path }: SignedRequest,
  { lines, names }: ReturnType<typeof canonicalHeaders>,
  query: string,
  payloadHash: string,
): string {
  return `${method}\n${path}\n${query}\n${lines}\n${names}\n${payloadHash}`;
}

/** The lines and the names of the signed headers in their canonical form: the host and those that are named. */
function canonicalHeaders(
  host: string,
  headers: Readonly<Record<string, string>>,
  named: readonly string[],
): { readonly lines: string; readonly names: string } {
  const signed = ["host", ...named].sort();
  let lines = "";
  for (const name of signed) lines += `${name}:${name === "host" ? host : folded(headers[name])}\n`;
  return { lines, names: signed.join(";") };
}

/** A header's value in its canonical form. */
function folded(value: string): string {
  const trimmed = value.trim();
  return trimmed.includes("  ") ? trimmed.replace(/ +/g, " ") : trimmed;
}

type EncodedPair = [name: string, value: string];

function encodedPairs(query: QueryPairs): EncodedPair[] {
  return query.map(([name, value]) => [encodeRfc3986(name), encodeRfc3986(value)]);
}

/** The order of a canonical query. */
function inOrder([a, x]: EncodedPair, [b, y]: EncodedPair): number {
  return a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0;
}

function joined(pairs: readonly EncodedPair[]): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

/** The access key with the scope of its signature. */
function credential({ keys, region, now }: Signing): string {
  return `${keys.accessKey}/${scopeOf(amzDate(now), region)}`;
}

function scopeOf(date: string, region: string): string {
  return `${date.slice(0, 8)}/${region}/s3/aws4_request`;
}

/** @param canonical its characters are bytes (0 to 255) */
function sign(canonical: string, { keys, region, now }: Signing): string {
  const date = amzDate(now);
  // The digest of a text is that of its UTF-8, and bytes cost twice as much.
  const bytes = ASCII.test(canonical) ? canonical : Buffer.from(canonical, "latin1");
  const text = `${ALGORITHM}\n${date}\n${scopeOf(date, region)}\n${hash("sha256", bytes, "hex")}`;
  return signingKey(keys, date.slice(0, 8), region).hmac.hex(text);
}

const signingKeys = new CountedCache<string, { readonly key: Uint8Array; readonly hmac: Hmac }>("signing_keys", {
  max: MAX_CACHED_KEYS,
});

/** The key of a day (`YYYYMMDD`) and region. Deriving it costs several signatures: it is cached by a hash of its secret. */
export function signingKey({ secretKey }: S3Keys, day: string, region: string) {
  const name = `${sha256Hex(secretKey)}/${day}/${region}`;
  let cached = signingKeys.get(name);
  if (!cached) {
    const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), "s3"), "aws4_request");
    signingKeys.set(name, cached = { key, hmac: new Hmac(key) });
  }
  return cached;
}

function hmac(key: string | Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

const encoder = new TextEncoder();

/**
 * HMAC-SHA-256 (RFC 2104) of short ASCII texts under a key of at most 64 bytes, by two digests. It allocates no native
 * memory: that of `createHmac` makes the event loop wait 10 ms and more while it is collected.
 */
class Hmac {
  #inner = new Uint8Array(BLOCK_BYTES);
  readonly #outer = new Uint8Array(BLOCK_BYTES + DIGEST_BYTES);

  constructor(key: Uint8Array) {
    for (let index = 0; index < BLOCK_BYTES; index++) {
      this.#inner[index] = (key[index] ?? 0) ^ 0x36;
      this.#outer[index] = (key[index] ?? 0) ^ 0x5c;
    }
  }

  /** The HMAC in lower-case hexadecimal. */
  hex(text: string): string {
    const length = BLOCK_BYTES + text.length;
    if (this.#inner.length !== length) {
      const pad = this.#inner.subarray(0, BLOCK_BYTES);
      this.#inner = new Uint8Array(length);
      this.#inner.set(pad);
    }
    encoder.encodeInto(text, this.#inner.subarray(BLOCK_BYTES));
    this.#outer.subarray(BLOCK_BYTES).setFromHex(hash("sha256", this.#inner, "hex"));
    return hash("sha256", this.#outer, "hex");
  }
}

let lastSecond = NaN;
let lastDate = "";

/** A time (ms since 1970) in the format of signatures. */
function amzDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastSecond) {
    lastDate = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
    lastSecond = second;
  }
  return lastDate;
}

const hosts = new LRUCache<string, string>({ max: MAX_CACHED_HOSTS });

/** The `Host` of an origin, without the scheme's default port. */
export function hostOf(origin: string): string {
  let host = hosts.get(origin);
  if (host === undefined) hosts.set(origin, host = new URL(origin).host);
  return host;
}
