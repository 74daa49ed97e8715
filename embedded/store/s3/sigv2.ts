import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { StoreError } from "@/embedded/store/store_error.ts";
import { compareText, encodeRfc3986 } from "@/lib/std/text.ts";
import { utf8Text } from "@/lib/std/header_encoding.ts";
import type { S3Request } from "./s3_request.ts";
import { MAX_SKEW_MS, NO_DATE } from "./sigv4.ts";

/**
 * Signature Version 2, with which boto3 signs its URLs by default, as s3cmd and older tools do (S3 API, Signing and
 * authenticating REST requests). It covers the method, the path, S3's own headers and the parameters below; not the
 * host, other parameters or the body.
 */
interface StatedSignatureV2 {
  accessKey: string;
  /** Base64 of an HMAC-SHA1. */
  signature: string;
  /** The date in the signed text. */
  date: string;
}

/** The parameters that are part of the signed resource, as botocore and the S3 API list them. */
const SIGNED_PARAMETERS: ReadonlySet<string> = new Set([
  ...["accelerate", "acl", "analytics", "cors", "defaultObjectAcl", "delete", "inventory", "lifecycle", "location"],
  ...["logging", "metrics", "notification", "object-lock", "partNumber", "policy", "replication", "requestPayment"],
  ...["restore", "select", "select-type", "storageClass", "tagging", "torrent", "uploadId", "uploads", "versionId"],
  ...["versioning", "versions", "website"],
  ...["response-cache-control", "response-content-disposition", "response-content-encoding"],
  ...["response-content-language", "response-content-type", "response-expires"],
]);

const IN_QUERY = ["AWSAccessKeyId", "Signature", "Expires"];

/** Whether the query carries a signature of Version 2, whole or in part. */
export function hasSignatureV2InQuery(request: S3Request): boolean {
  return request.parameter("AWSAccessKeyId") !== null || request.parameter("Signature") !== null;
}

/**
 * Reads a signature of Version 2; null when the request carries none.
 *
 * @throws {StoreError} when it is malformed, out of time, or beside a signature of another kind
 */
export function statedSignatureV2(request: S3Request, nowMs: number): StatedSignatureV2 | null {
  const header = request.headers.get("authorization");
  const inQuery = hasSignatureV2InQuery(request);
  if (inQuery && (header !== null || request.parameter("X-Amz-Algorithm") !== null)) {
    throw new StoreError("InvalidArgument", "Only one way of signing may be used");
  }
  if (inQuery) return fromQuery(request, nowMs);
  return header !== null && /^AWS(?:\s|$)/.test(header) ? fromHeader(request.headers, header, nowMs) : null;
}

/** Whether a stated signature matches the request under a secret key. Compares in constant time. */
export function signatureV2Holds(request: S3Request, stated: StatedSignatureV2, secretKey: string): boolean {
  // An empty parameter may be signed with or without its equals sign.
  for (const path of signedPaths(request)) {
    for (const equals of ["", "="]) {
      const resource = path + signedParameters(request, equals);
      // Several lines of one header are signed with a comma between them, but arrive joined by a comma and a space.
      for (const separator of [", ", ","]) {
        const text = [request.method, ...signedHeaders(request, stated.date, separator), resource].join("\n");
        if (isSignatureOf(text, secretKey, stated.signature)) return true;
      }
    }
  }
  return false;
}

/** Whether a parameter of a request that is signed in its query stands for a header, as botocore moves them there. */
export function isHeaderInQueryV2(name: string): boolean {
  return /^(?:x-amz-|content-(?:md5|type)$)/i.test(name);
}

/** Whether a parameter is one of those that make up the signature. */
export function isOfSignatureV2(name: string): boolean {
  return IN_QUERY.includes(name);
}

function fromHeader(headers: Headers, header: string, nowMs: number): StatedSignatureV2 {
  const [, accessKey, signature] = /^AWS\s+([^\s:]+):(\S+)$/.exec(header) ?? [];
  if (accessKey === undefined) {
    throw new StoreError("InvalidArgument", "The authorization header must be AWS <access key>:<signature>");
  }
  const amzDate = headers.get("x-amz-date");
  const sent = amzDate ?? headers.get("date") ?? "";
  const ms = instant(sent);
  if (Number.isNaN(ms) || ms < 0) throw new StoreError("AccessDenied", NO_DATE);
  if (Math.abs(nowMs - ms) > MAX_SKEW_MS) throw new StoreError("RequestTimeTooSkewed");
  // x-amz-date is signed among S3's own headers, and then replaces the other one.
  return { accessKey, signature, date: amzDate === null ? sent : "" };
}

function fromQuery(request: S3Request, nowMs: number): StatedSignatureV2 {
  const [accessKey, signature, expires] = IN_QUERY.map((name) => request.parameter(name));
  if (!accessKey || !signature || !expires) {
    throw new StoreError("AccessDenied", `Signing in the query takes the parameters ${IN_QUERY.join(", ")}`);
  }
  if (!/^[0-9]{1,15}$/.test(expires)) {
    throw new StoreError("AccessDenied", "Expires must be in seconds since 1970");
  }
  if (nowMs > Number(expires) * 1000) throw new StoreError("AccessDenied", "The URL has expired");
  // A plus sign that was not encoded has become a space, which base64 does not have.
  return { accessKey: accessKey.replaceAll(" ", "+"), signature: signature.replaceAll(" ", "+"), date: expires };
}

/** In ms since 1970; HTTP's form of a date, or that of Signature Version 4. */
function instant(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function signedHeaders(request: S3Request, date: string, separator: string): string[] {
  const moved = hasSignatureV2InQuery(request) ? request.query.filter(([name]) => isHeaderInQueryV2(name)) : [];
  const values = new Map([...request.headers].map(([name, value]) => [name, value.replaceAll(", ", separator)]));
  for (const [name, value] of moved) values.set(name.toLowerCase(), value);
  const value = (name: string) => utf8Text(values.get(name) ?? "").trim();
  const own = [...values.keys()].filter((name) => name.startsWith("x-amz-")).sort();
  return [value("content-md5"), value("content-type"), date, ...own.map((name) => `${name}:${value(name)}`)];
}

/** The accepted forms of a signed path: as sent, or as SDKs encode it; botocore signs a bucket with a slash at its end. */
function signedPaths({ rawPath, bucket, key }: S3Request): Set<string> {
  const paths = [rawPath, encodeRfc3986(decodeURIComponent(rawPath)).replaceAll("%2F", "/")];
  return new Set(
    bucket !== null && key === null ? paths.flatMap((path) => [path, `${path.replace(/\/$/, "")}/`]) : paths,
  );
}

function signedParameters(request: S3Request, equals: string): string {
  const signed = request.query.filter(([name]) => SIGNED_PARAMETERS.has(name))
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, value]) => value === "" ? `${name}${equals}` : `${name}=${value}`);
  return signed.length === 0 ? "" : `?${signed.join("&")}`;
}

function isSignatureOf(text: string, secretKey: string, signature: string): boolean {
  const expected = createHmac("sha1", secretKey).update(text).digest();
  const sent = Buffer.from(signature, "base64");
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
