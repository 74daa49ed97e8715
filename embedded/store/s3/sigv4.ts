import { LRUCache } from "lru-cache";
import { Buffer } from "node:buffer";
import { createHash, createHmac, type Hash, timingSafeEqual } from "node:crypto";
import { StoreError } from "@/embedded/store/store_error.ts";
import { utf8Text } from "@/lib/std/header_encoding.ts";
import { compareText, encodeRfc3986 } from "@/lib/std/text.ts";
import type { S3Request } from "./s3_request.ts";

/** How far the clock of a signed request may be off, in ms, whichever version its signature has (S3 API, Signature Version 4). */
export const MAX_SKEW_MS = 15 * 60 * 1000;

/** Longest life of a presigned URL, in seconds: 7 days. */
const MAX_EXPIRES_SECONDS = 604_800;

/** How many signing keys are cached, one for each user, day and region. */
const MAX_SIGNING_KEYS = 1000;

const ALGORITHM = "AWS4-HMAC-SHA256";
const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

/** A header's name in lower case: a token (RFC 9110, section 5.6.2). Metadata has names with underscores and dots. */
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** The message for a signed request without a date. */
export const NO_DATE = "AWS authentication requires a valid Date or x-amz-date header";

/** A signature as the request states it, not yet checked. */
export interface StatedSignature {
  accessKey: string;
  /** `<date>/<region>/s3/aws4_request` */
  scope: string;
  /** `yyyymmddThhmmssZ` */
  time: string;
  signedHeaders: string[];
  signature: string;
  /** The body in the canonical request: a hexadecimal digest, or one of S3's literal words. */
  payload: string;
}

/**
 * Reads the signature of a request; null when it carries none.
 *
 * @throws {StoreError} when it is malformed or out of time
 */
export function statedSignature(request: S3Request, nowMs: number): StatedSignature | null {
  const header = request.headers.get("authorization");
  const inQuery = request.parameter("X-Amz-Algorithm") !== null;
  if (header !== null && inQuery) throw new StoreError("InvalidArgument", "Only one way of signing may be used");
  if (header !== null) return fromHeader(request, header, nowMs);
  return inQuery ? fromQuery(request, nowMs) : null;
}

/**
 * Checks a stated signature against the request under a secret key. Compares in constant time.
 *
 * @returns the names of the headers that were sent on several lines, null where the signature does not match
 */
export function matchSignature(
  request: S3Request,
  stated: StatedSignature,
  secretKey: string,
): readonly string[] | null {
  const values = stated.signedHeaders.map((name) => headerValue(request, name));
  const key = signingKey(stated.scope, secretKey);
  const path = encodeRfc3986(decodeURIComponent(request.rawPath)).replaceAll("%2F", "/");
  const holds = (path: string, headers: readonly string[]) => {
    const toSign = [ALGORITHM, stated.time, stated.scope, sha256(canonicalRequest(request, stated, path, headers))];
    return isSignatureOf(toSign.join("\n"), key, stated.signature);
  };
  if (holds(path, values)) return [];
  // Botocore signs a path as it sends it, which may leave characters as they are that others encode.
  if (path !== request.rawPath && holds(request.rawPath, values)) return [];
  // Several lines of one header are signed with a comma between them, but arrive here joined by a comma and a space.
  const lists = stated.signedHeaders.filter((_, i) => values[i].includes(", "));
  for (const repeated of lists.length > MAX_LISTS ? [lists] : subsets(lists)) {
    const joined = values.map((value, i) =>
      repeated.includes(stated.signedHeaders[i]) ? value.replaceAll(", ", ",") : value
    );
    if (holds(path, joined)) return repeated;
  }
  return null;
}

/** Headers with a comma and a space for which each combination is tried: a space may also be part of a single line. */
const MAX_LISTS = 4;

/** The subsets of a few items, the largest first, without the empty one. */
function subsets(items: readonly string[]): string[][] {
  return Array.from(
    { length: 2 ** items.length - 1 },
    (_, i) => items.filter((_, bit) => 2 ** items.length - 1 - i & 1 << bit),
  );
}

function canonicalRequest(
  request: S3Request,
  stated: StatedSignature,
  path: string,
  values: readonly string[],
): string {
  return [
    request.method,
    path,
    canonicalQuery(request),
    ...stated.signedHeaders.map((name, i) => `${name}:${values[i]}`),
    "",
    stated.signedHeaders.join(";"),
    stated.payload,
  ].join("\n");
}

/** The key that signs everything of one scope (Signature Version 4, "Calculate signature"). */
function signingKey(scope: string, secretKey: string): Uint8Array {
  const name = `${scope}/${secretKey}`;
  let key = signingKeys.get(name);
  if (!key) {
    key = new TextEncoder().encode(`AWS4${secretKey}`);
    for (const part of scope.split("/")) key = hmac(key, part);
    signingKeys.set(name, key);
  }
  return key;
}

/** A day's key of a user costs four times a signature; a changed password has another name here. */
const signingKeys = new LRUCache<string, Uint8Array>({ max: MAX_SIGNING_KEYS });

/** Whether 64 hexadecimal digits are the signature of a text. Compares in constant time. */
function isSignatureOf(text: string, key: Uint8Array, signature: string): boolean {
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, "hex"));
}

function fromHeader(request: S3Request, header: string, nowMs: number): StatedSignature {
  const parts = /^AWS4-HMAC-SHA256\s+(.*)$/.exec(header)?.[1].split(",").map((part) => part.trim());
  const field = (name: string) =>
    parts?.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1) ?? malformedHeader(name);
  if (header.trim() === "") throw new StoreError("AccessDenied", "The signature of the request is not complete");
  if (!parts) throw new StoreError("InvalidArgument", "Unsupported Authorization Type");
  const stated = assemble(field, sentTime(request.headers), malformedHeader);
  const payload = request.headers.get("x-amz-content-sha256");
  if (payload === null) throw new StoreError("InvalidRequest", "The header x-amz-content-sha256 is required");
  requireSigned(request, stated.signedHeaders);
  if (Math.abs(nowMs - timeMs(stated.time, malformedHeader)) > MAX_SKEW_MS) {
    throw new StoreError("RequestTimeTooSkewed");
  }
  return { ...stated, payload };
}

/** When a request says that it was signed, in the form of X-Amz-Date; the header Date may say it, too. */
function sentTime(headers: Headers): string {
  const time = headers.get("x-amz-date");
  if (time !== null && /^\d{8}T\d{6}Z$/.test(time)) return time;
  const ms = time === null ? Date.parse(headers.get("date") ?? "") : NaN;
  if (Number.isNaN(ms)) throw new StoreError("AccessDenied", NO_DATE);
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

function fromQuery(request: S3Request, nowMs: number): StatedSignature {
  const field = (name: string) => request.parameter(name) ?? malformedQuery(name);
  if (field("X-Amz-Algorithm") !== ALGORITHM) malformedQuery("X-Amz-Algorithm");
  const stated = assemble((name) => field(`X-Amz-${name}`), field("X-Amz-Date"), malformedQuery);
  const expires = field("X-Amz-Expires");
  if (!/^-?[0-9]+$/.test(expires)) malformedQuery("X-Amz-Expires");
  if (Number(expires) < 1 || Number(expires) > MAX_EXPIRES_SECONDS) {
    throw new StoreError(
      "AuthorizationQueryParametersError",
      `X-Amz-Expires must be 1 to ${MAX_EXPIRES_SECONDS} seconds`,
    );
  }
  requireSigned(request, stated.signedHeaders);
  const signedAt = timeMs(stated.time, malformedQuery);
  if (signedAt - nowMs > MAX_SKEW_MS) throw new StoreError("AccessDenied", "The URL is not valid yet");
  if (nowMs > signedAt + Number(expires) * 1000) throw new StoreError("AccessDenied", "The URL has expired");
  const payload = request.parameter("X-Amz-Content-Sha256") ?? request.headers.get("x-amz-content-sha256") ??
    UNSIGNED_PAYLOAD;
  return { ...stated, payload };
}

function assemble(
  field: (name: "Credential" | "SignedHeaders" | "Signature") => string,
  time: string,
  malformed: (what: string) => never,
): Omit<StatedSignature, "payload"> {
  // An access key may hold slashes itself (base64), so the scope is taken from the end.
  const match = /^(.+)\/([0-9]{8})\/([^/]{1,64})\/s3\/aws4_request$/.exec(field("Credential")) ??
    malformed("Credential");
  if (!time.startsWith(match[2])) malformed("the date of Credential");
  const signedHeaders = field("SignedHeaders").split(";");
  const signature = field("Signature");
  if (!signedHeaders.includes("host") || signedHeaders.some((name) => !HEADER_NAME.test(name))) {
    malformed("SignedHeaders");
  }
  if (!/^[0-9a-f]{64}$/.test(signature)) malformed("Signature");
  return { accessKey: match[1], scope: `${match[2]}/${match[3]}/s3/aws4_request`, time, signedHeaders, signature };
}

/** S3's own headers that are not signed could have been added on the way. */
function requireSigned(request: S3Request, signedHeaders: readonly string[]): void {
  for (const name of request.headers.keys()) {
    if (name.startsWith("x-amz-") && !signedHeaders.includes(name)) {
      throw new StoreError("AccessDenied", `The header ${name} is not signed`);
    }
  }
}

function canonicalQuery(request: S3Request): string {
  return request.query
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encodeRfc3986(name), encodeRfc3986(value)])
    // Sorted by name, then by value: whole pairs would compare "=" with characters of longer names.
    .sort((a, b) => compareText(a[0], b[0]) || compareText(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function headerValue(request: S3Request, name: string): string {
  // A client that sends UTF-8 signed the text that the bytes spell.
  return utf8Text(request.headers.get(name) ?? "").trim().replace(/ +/g, " ");
}

function timeMs(time: string, malformed: (what: string) => never): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? malformed("X-Amz-Date");
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text).digest();
}

function malformedHeader(what: string): never {
  throw new StoreError("AuthorizationHeaderMalformed", `The authorization header is malformed: ${what}`);
}

function malformedQuery(what: string): never {
  throw new StoreError(
    "AuthorizationQueryParametersError",
    `The authorization query parameters are malformed: ${what}`,
  );
}

/**
 * Checks the signatures of the chunks of a body. Each covers the one before it, and the first covers that of the
 * request, so that chunks can be neither changed nor moved nor left out (Signature Version 4, "Transferring payload in
 * multiple chunks").
 */
export class ChunkSignatures {
  readonly #key: Uint8Array;
  #previous: string;

  constructor(private readonly stated: StatedSignature, secretKey: string) {
    this.#key = signingKey(stated.scope, secretKey);
    this.#previous = stated.signature;
  }

  /** Starts the digest of a chunk, for {@link requireChunk}. */
  startChunk(): Hash {
    return createHash("sha256");
  }

  /** @throws {StoreError} SignatureDoesNotMatch unless this is the signature of the next chunk */
  requireChunk(signature: string, bytes: Hash): void {
    this.#require(signature, "AWS4-HMAC-SHA256-PAYLOAD", [EMPTY_SHA256, bytes.digest("hex")]);
  }

  /** The same of the trailer, as its lines `name:value`, each with a line feed. */
  requireTrailer(signature: string, lines: string): void {
    this.#require(signature, "AWS4-HMAC-SHA256-TRAILER", [createHash("sha256").update(lines).digest("hex")]);
  }

  #require(signature: string, algorithm: string, digests: readonly string[]): void {
    const { time, scope } = this.stated;
    const text = [algorithm, time, scope, this.#previous, ...digests].join("\n");
    if (!isSignatureOf(text, this.#key, signature)) {
      throw new StoreError("SignatureDoesNotMatch", "The signature of a chunk of the body does not match");
    }
    this.#previous = signature;
  }
}

const EMPTY_SHA256 = createHash("sha256").digest("hex");
