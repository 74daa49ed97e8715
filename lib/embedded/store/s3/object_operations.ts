import { Buffer } from "node:buffer";
import type { Bucket } from "@/lib/embedded/store/buckets.ts";
import { receiveBody } from "@/lib/embedded/store/bodies.ts";
import type { DigestAlgorithm } from "@/lib/embedded/store/digests.ts";
import type { Found, StoredObject } from "@/lib/embedded/store/objects.ts";
import { permits } from "@/lib/embedded/store/permissions.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";
import { type ByteRange, parseByteRange } from "@/lib/embedded/store/s3/byte_range.ts";
import { type Caller, permittedBucket } from "@/lib/embedded/store/s3/caller.ts";
import { checkReadConditions, rangeHolds } from "@/lib/embedded/store/s3/conditions.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";
import type { VersionId, WriteCondition } from "@/lib/embedded/store/writer/changes.ts";

/** Largest body of one PUT: 5 GiB (S3 API, PutObject). */
const MAX_PUT_BYTES = 5 * 1024 ** 3;

/** What an object is when its writer did not say. */
const DEFAULT_CONTENT_TYPE = "binary/octet-stream";

/** Headers that are kept with an object and given back with it. */
const KEPT_HEADERS = ["cache-control", "content-disposition", "content-encoding", "content-language", "expires"];

/** Headers that would change the meaning of a write and are not provided: refusing is better than ignoring them. */
const REFUSED_ON_PUT = /^x-amz-(?:acl|copy-source|grant-|tagging|server-side-|object-lock-|website-|write-offset)/;

/** PUT /bucket/key: the body becomes the object when it arrived whole and its digests hold. */
export async function putObject(
  store: StoreParts,
  caller: Caller,
  request: S3Request,
  name: string,
  key: string,
): Promise<Response> {
  const bucket = permittedBucket(store.buckets, caller.user, name, "WRITE");
  const length = contentLength(request);
  for (const header of request.headers.keys()) {
    if (REFUSED_ON_PUT.test(header)) throw new S3Error("NotImplemented", `The header ${header} is not provided`);
  }
  const condition = writeCondition(request.headers);
  const digests = statedDigests(request.headers, caller);
  const received = await receiveBody(store.folder, request.body, digests.map((digest) => digest.algorithm));
  try {
    if (received.size !== length) throw new S3Error("IncompleteBody");
    for (const { algorithm, hex, code } of digests) {
      if (received.digests.get(algorithm) !== hex) throw new S3Error(code);
    }
    const etag = received.digests.get("md5") ?? "";
    const { version } = await store.writer.change("putObject", {
      bucket: bucket.id,
      key: new TextEncoder().encode(key),
      body: received.body,
      size: received.size,
      etag,
      contentType: request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE,
      headers: keptHeaders(request.headers),
      owner: caller.user.id,
      condition,
      atMs: store.now(),
    });
    return new Response(null, { headers: { etag: `"${etag}"`, ...versionHeader(version) } });
  } catch (error) {
    // After a fault of the disk nobody knows what it holds: such a file is left to the sweep at the next start.
    if (error instanceof S3Error || error instanceof Refusal) received.discard();
    throw error;
  }
}

/** GET and HEAD /bucket/key */
export async function readObject(
  store: StoreParts,
  caller: Caller,
  request: S3Request,
  name: string,
  key: string,
): Promise<Response> {
  const bucket = permittedBucket(store.buckets, caller.user, name, "any");
  const find = () => findObject(store, caller, bucket, request, key);
  const answer = { status: 200, headers: new Headers() };
  const { body } = await store.objects.open(find, (object) => {
    answer.headers = objectHeaders(object, request);
    checkReadConditions(request.headers, object, Object.fromEntries(answer.headers));
    const range = rangeHolds(request.headers.get("if-range"), object)
      ? parseByteRange(request.headers.get("range"), object.size)
      : null;
    if (range === "unsatisfiable") {
      throw new S3Error("InvalidRange", undefined, { "content-range": `bytes */${object.size}` });
    }
    answer.status = range ? 206 : 200;
    const part = range ?? { first: 0, last: object.size - 1 };
    if (range) answer.headers.set("content-range", contentRange(range, object.size));
    answer.headers.set("content-length", String(part.last - part.first + 1));
    return request.method === "HEAD" ? Promise.resolve(new Uint8Array()) : object.read(part.first, part.last);
  });
  const whole = request.method === "HEAD" || body === null ? null : body;
  return new Response(whole instanceof Uint8Array ? new Uint8Array(whole) : whole, answer);
}

/** DELETE /bucket/key: what is not there is no error. */
export async function deleteObject(
  store: StoreParts,
  caller: Caller,
  request: S3Request,
  name: string,
  key: string,
): Promise<Response> {
  const bucket = permittedBucket(store.buckets, caller.user, name, "DELETE");
  const { version, isMarker } = await store.writer.change("deleteObject", {
    bucket: bucket.id,
    key: new TextEncoder().encode(key),
    version: versionParameter(request),
    atMs: store.now(),
  });
  const headers = { ...versionHeader(version), ...(isMarker ? { "x-amz-delete-marker": "true" } : {}) };
  return new Response(null, { status: 204, headers });
}

function findObject(store: StoreParts, caller: Caller, bucket: Bucket, request: S3Request, key: string): Found {
  const mask = store.buckets.permissions(caller.user.id, bucket.id);
  if (!permits(mask, "READ")) throw new S3Error("AccessDenied");
  const version = versionParameter(request);
  const found = store.objects.find(bucket.id, bucket.versioning, new TextEncoder().encode(key), version);
  if (!found) throw new S3Error(version === null ? "NoSuchKey" : "NoSuchVersion");
  if (!("marker" in found)) return found;
  const headers = { "x-amz-delete-marker": "true", ...versionHeader(found.marker) };
  throw new S3Error(version === null ? "NoSuchKey" : "MethodNotAllowed", undefined, headers);
}

function objectHeaders(object: StoredObject, request: S3Request): Headers {
  const headers = new Headers({
    "content-type": object.contentType,
    etag: `"${object.etag}"`,
    "last-modified": new Date(object.modifiedMs).toUTCString(),
    "accept-ranges": "bytes",
    ...versionHeader(object.version),
  });
  for (const [name, value] of Object.entries(object.headers)) headers.set(name, value);
  for (const name of ["content-type", ...KEPT_HEADERS]) {
    const override = request.parameter(`response-${name}`);
    if (override === null) continue;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(override)) throw new S3Error("InvalidArgument", `response-${name} is not valid`);
    headers.set(name, override);
  }
  return headers;
}

interface StatedDigest {
  algorithm: DigestAlgorithm;
  hex: string;
  code: "BadDigest" | "XAmzContentSHA256Mismatch";
}

/** The digests that the client states of its body. Throws {@link S3Error} for those that are malformed or not provided. */
function statedDigests(headers: Headers, caller: Caller): StatedDigest[] {
  const stated: StatedDigest[] = [];
  if (caller.payloadSha256) {
    stated.push({ algorithm: "sha256", hex: caller.payloadSha256, code: "XAmzContentSHA256Mismatch" });
  }
  const inBase64: [string, DigestAlgorithm, number][] = [
    ["content-md5", "md5", 16],
    ["x-amz-checksum-crc32", "crc32", 4],
    ["x-amz-checksum-sha1", "sha1", 20],
    ["x-amz-checksum-sha256", "sha256", 32],
  ];
  for (const [header, algorithm, bytes] of inBase64) {
    const value = headers.get(header);
    if (value === null) continue;
    const digest = Buffer.from(value, "base64");
    if (digest.length !== bytes || digest.toString("base64") !== value) {
      throw new S3Error("InvalidDigest", `The header ${header} is not valid`);
    }
    stated.push({ algorithm, hex: digest.toString("hex"), code: "BadDigest" });
  }
  for (const header of headers.keys()) {
    if (header.startsWith("x-amz-checksum-") && !inBase64.some(([known]) => known === header)) {
      throw new S3Error("NotImplemented", `The header ${header} is not provided`);
    }
  }
  return stated;
}

function writeCondition(headers: Headers): WriteCondition | null {
  const ifNoneMatch = headers.get("if-none-match");
  const ifMatch = headers.get("if-match");
  if (ifNoneMatch !== null && ifMatch !== null) throw new S3Error("InvalidRequest", "Only one condition may be given");
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.trim() !== "*") throw new S3Error("NotImplemented", "If-None-Match on a write must be *");
    return { absent: true };
  }
  return ifMatch === null ? null : { etag: ifMatch.trim().replace(/^"(.*)"$/, "$1") };
}

function contentLength(request: S3Request): number {
  const text = request.headers.get("content-length");
  if (text === null && request.body === null) return 0;
  if (text === null || !/^[0-9]{1,15}$/.test(text)) throw new S3Error("MissingContentLength");
  if (Number(text) > MAX_PUT_BYTES) throw new S3Error("InvalidRequest", "A single write is limited to 5 GiB");
  return Number(text);
}

function keptHeaders(headers: Headers): string | null {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (KEPT_HEADERS.includes(name) || name.startsWith("x-amz-meta-")) kept[name] = value;
  }
  return Object.keys(kept).length === 0 ? null : JSON.stringify(kept);
}

function versionParameter(request: S3Request): string | null {
  const version = request.parameter("versionId");
  if (version === "") throw new S3Error("InvalidArgument", "versionId must not be empty");
  return version;
}

function versionHeader(version: VersionId): Record<string, string> {
  return version === null ? {} : { "x-amz-version-id": version };
}

function contentRange({ first, last }: ByteRange, size: number): string {
  return `bytes ${first}-${last}/${size}`;
}
