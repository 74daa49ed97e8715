import { Buffer } from "node:buffer";
import { createHmac, hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";

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
export function sha256Hex(body: string | Uint8Array): string {
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
