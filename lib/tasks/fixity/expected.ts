import { Buffer } from "node:buffer";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3, type S3 } from "@/lib/s3/s3_client.ts";
import type { VersionRef } from "@/lib/s3/objects.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import { type Digest, type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { compareText } from "@/lib/std/text.ts";
import { isTransient } from "@/lib/tasks/task_responses.ts";

/** Sources of expected digests. */
export const PROOFS = ["manifest", "baseline", "checksum", "checksum_of_parts", "etag", "etag_of_parts"] as const;

/** A digest that an object should have, with its source. */
export interface ExpectedDigest {
  readonly proof: (typeof PROOFS)[number];
  readonly algorithm: DigestAlgorithm;
  /** Hexadecimal in lower case. With parts: of the digests of the parts, one behind the other. */
  readonly expected: string;
  /** How many parts the object was uploaded in; null for a digest of all bytes. */
  readonly parts: number | null;
  /** Where it holds for an object with this ETag alone; null: for any. */
  readonly etag: string | null;
}

/** An object that was listed, or that is expected to be in the store. */
export interface Entry {
  readonly key: string;
  /** Null unless all versions are listed. */
  readonly versionId: string | null;
  readonly isListed: boolean;
  /** The listed ETag; null for an object that was not listed. */
  readonly etag: string | null;
  /** Digests from manifests and an earlier check. */
  readonly expectations: readonly ExpectedDigest[];
}

/** An object that is expected to be in the store. */
export function expectedEntry(key: string, expectations: readonly ExpectedDigest[]): Entry {
  return { key, versionId: null, isListed: false, etag: null, expectations };
}

/**
 * Entries of several sources, each in the order of keys, in one order. Those of a key become one, with the expectations
 * of all sources.
 *
 * @param sources the listing first
 */
export async function* mergedEntries(sources: readonly AsyncIterator<Entry>[]): AsyncGenerator<Entry> {
  const heads: IteratorResult<Entry>[] = [];
  for (const source of sources) heads.push(await source.next());
  for (;;) {
    let first: Entry | null = null;
    for (const { done, value } of heads) {
      if (!done && (first === null || compareText(value.key, first.key) < 0)) first = value;
    }
    if (first === null) return;
    const expectations: ExpectedDigest[] = [];
    for (const [at, { done, value }] of heads.entries()) {
      if (done || value.key !== first.key) continue;
      expectations.push(...value.expectations);
      heads[at] = await sources[at].next();
    }
    yield { ...first, expectations };
  }
}

/** Stored checksums from the strongest to the weakest, with their bytes. */
const CHECKSUMS: readonly (readonly [DigestAlgorithm, number])[] = [
  ["sha256", 32],
  ["sha1", 20],
  ["crc64nvme", 8],
  ["crc32c", 4],
  ["crc32", 4],
];
/** With SSE-KMS the ETag is not the MD5 of the object (S3 API, Object). */
const ETAG_IS_NO_MD5 = /^aws:kms/i;
const MAX_PARTS = 10_000;

/**
 * Digests in the response of the store, the best first: the checksum that was stored with the object, and its ETag if
 * that is an MD5.
 *
 * @param headers of a GET or HEAD with `x-amz-checksum-mode: ENABLED`
 */
export function storedDigests(headers: Headers): ExpectedDigest[] {
  const found: ExpectedDigest[] = [];
  for (const [algorithm, bytes] of CHECKSUMS) {
    const checksum = checksumOf(algorithm, bytes, headers.get(`x-amz-checksum-${algorithm}`));
    if (checksum) found.push(checksum);
  }
  const isEncrypted = headers.has("x-amz-server-side-encryption-customer-algorithm") ||
    ETAG_IS_NO_MD5.test(headers.get("x-amz-server-side-encryption") ?? "");
  const etag = isEncrypted ? null : etagDigest(headers.get("etag") ?? "");
  if (etag) found.push(etag);
  // A digest of all bytes needs no sizes of parts.
  const isOfParts = ({ proof }: ExpectedDigest) => Number(proof === "checksum_of_parts");
  return found.sort((a, b) => isOfParts(a) - isOfParts(b));
}

/** Whether a digest is that of an ETag. */
export function isOfEtag(proof: ExpectedDigest["proof"]): boolean {
  return proof === "etag" || proof === "etag_of_parts";
}

function checksumOf(algorithm: DigestAlgorithm, bytes: number, value: string | null): ExpectedDigest | null {
  const [, base64, parts] = /^([0-9A-Za-z+/]{6,86}={0,2})(?:-([1-9][0-9]{0,4}))?$/.exec(value ?? "") ?? [];
  if (base64 === undefined) return null;
  const digest = Buffer.from(base64, "base64");
  return digest.length === bytes ? ownDigest("checksum", algorithm, digest.toString("hex"), parts) : null;
}

function etagDigest(etag: string): ExpectedDigest | null {
  const [, md5, parts] = /^"?([0-9a-f]{32})(?:-([1-9][0-9]{0,4}))?"?$/i.exec(etag) ?? [];
  return md5 === undefined ? null : ownDigest("etag", "md5", md5.toLowerCase(), parts);
}

/** @param parts undefined for a digest of all bytes */
function ownDigest(
  proof: "checksum" | "etag",
  algorithm: DigestAlgorithm,
  expected: string,
  parts: string | undefined,
): ExpectedDigest | null {
  if (parts === undefined) return { proof, algorithm, expected, parts: null, etag: null };
  if (Number(parts) > MAX_PARTS) return null;
  return { proof: `${proof}_of_parts`, algorithm, expected, parts: Number(parts), etag: null };
}

const MIB = 1024 * 1024;
/** Sizes of parts that clients use, where a store does not say them, bytes. */
const USUAL_SIZES = [5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 250, 256, 500, 512, 1024].map((mib) => mib * MIB);
/** So many of them are tried at once. */
const MAX_GUESSES = 3;

/**
 * The sizes of the parts of an object: ways in which it may have been cut, of which one is right, and whether they are guessed
 * since the store does not say them. Then a digest that differs proves nothing.
 */
export type PartSizes = ReturnType<typeof guessed>;

interface PartedObject extends VersionRef {
  readonly size: number;
  readonly parts: number;
}

/**
 * The sizes of the parts that an object was uploaded in (S3 API, HeadObject with partNumber). Those of the first and the
 * last part say all of them where they are equal, as those of nearly all clients.
 *
 * @param isExact looks at every part: for an object whose digest differs
 * @throws HttpError for errors that may pass, and for rejected credentials
 */
export async function partSizes(s3: S3, caller: Caller, object: PartedObject, isExact: boolean): Promise<PartSizes> {
  const { size, parts } = object;
  if (parts === 1) return said([size]);
  const first = await sizeOfPart(s3, caller, object, 1);
  if (first === null || first > size) return guessed(size, parts);
  if (!isExact) {
    const last = await sizeOfPart(s3, caller, object, parts);
    if (last !== null && last <= first && first * (parts - 1) + last === size) return said(equalParts(first, size));
  }
  const sizes = [first];
  for (let number = 2; number <= parts; number++) {
    const one = await sizeOfPart(s3, caller, object, number);
    if (one === null) return guessed(size, parts);
    sizes.push(one);
  }
  return sizes.reduce((sum, one) => sum + one, 0) === size ? said(sizes) : guessed(size, parts);
}

function said(sizes: Iterable<number>): PartSizes {
  return { layouts: [sizes], isGuessed: false };
}

function guessed(size: number, parts: number) {
  const possible = USUAL_SIZES.filter((one) => Math.ceil(size / one) === parts);
  return { layouts: possible.slice(0, MAX_GUESSES).map((one) => equalParts(one, size)), isGuessed: true };
}

/** Parts of one size, but for the last one. */
function equalParts(partBytes: number, size: number): Iterable<number> {
  return {
    *[Symbol.iterator]() {
      for (let left = size; left > 0; left -= partBytes) yield Math.min(left, partBytes);
    },
  };
}

/** The size of one part; null where the store does not say it. */
async function sizeOfPart(s3: S3, caller: Caller, object: PartedObject, number: number): Promise<number | null> {
  const { bucket, key, versionId, size } = object;
  const query: [string, string][] = [["partNumber", String(number)]];
  if (versionId !== undefined) query.push(["versionId", versionId]);
  try {
    const response = await callS3(s3, caller, { operation: "HeadObject", method: "HEAD", bucket, key, query });
    await response.body?.cancel();
    const range = /^bytes \d{1,16}-\d{1,16}\/(\d{1,16})$/.exec(response.headers.get("content-range") ?? "");
    if (range && Number(range[1]) !== size) return null;
    // A store that ignores the number sends the size of the whole object.
    return response.status === 206 || response.headers.has("x-amz-mp-parts-count") ? announcedLength(response) : null;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const passes = isTransient(error) && error.status !== 500 && error.status !== 502;
    if (passes || error.status === 401 || error.status === 499) throw error;
    return null;
  }
}

/**
 * The digest of the digests of parts, of bytes that arrive in chunks (S3 API, checking object integrity).
 *
 * @param sizes of the parts in their order, bytes
 */
export function startPartsDigest(algorithm: DigestAlgorithm, sizes: Iterable<number>): Digest {
  const whole = startDigest(algorithm);
  const rest = sizes[Symbol.iterator]();
  let part = startDigest(algorithm);
  let next = rest.next();
  let left = next.done ? Infinity : next.value;
  const close = () => {
    whole.update(Buffer.from(part.hex(), "hex"));
    part = startDigest(algorithm);
    next = rest.next();
    left = next.done ? Infinity : next.value;
  };
  return {
    update(bytes) {
      let at = 0;
      while (at < bytes.length) {
        while (left === 0) close();
        const end = Math.min(bytes.length, at + left);
        part.update(bytes.subarray(at, end));
        left -= end - at;
        at = end;
      }
    },
    hex() {
      while (!next.done) close();
      return whole.hex();
    },
  };
}
