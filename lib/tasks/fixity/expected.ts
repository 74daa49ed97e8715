import { Buffer } from "node:buffer";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { compareText } from "@/lib/std/text_order.ts";

/** What the bytes of an object are compared with. */
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
  /** Of a listing of versions. */
  readonly versionId: string | null;
  readonly isListed: boolean;
  /** As listed; null where it was not. */
  readonly etag: string | null;
  /** From manifests and an earlier check. */
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
const PLAIN_ETAG = /^"?([0-9a-f]{32})"?$/i;
const PARTS_ETAG = /^"?([0-9a-f]{32})-([1-9][0-9]{0,4})"?$/i;
/** With keys of its own or of a key service, a store does not say the MD5 of the bytes (S3 API, Object). */
const ETAG_IS_NO_MD5 = /^aws:kms/i;
const MAX_PARTS = 10_000;

/**
 * What an object can be compared with by itself, the best first: the checksum that was stored with it, and its ETag where
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
  return found.sort((a, b) => Number(isOfParts(a)) - Number(isOfParts(b)));
}

function isOfParts({ proof }: ExpectedDigest): boolean {
  return proof === "checksum_of_parts";
}

function checksumOf(algorithm: DigestAlgorithm, bytes: number, value: string | null): ExpectedDigest | null {
  const [, base64, count] = /^([0-9A-Za-z+/]{6,86}={0,2})(?:-([1-9][0-9]{0,4}))?$/.exec(value ?? "") ?? [];
  if (base64 === undefined) return null;
  const digest = Buffer.from(base64, "base64");
  if (digest.length !== bytes) return null;
  const expected = digest.toString("hex");
  if (count === undefined) return { proof: "checksum", algorithm, expected, parts: null, etag: null };
  return digestOfParts("checksum_of_parts", algorithm, expected, Number(count));
}

function etagDigest(etag: string): ExpectedDigest | null {
  const plain = PLAIN_ETAG.exec(etag);
  if (plain) return { proof: "etag", algorithm: "md5", expected: plain[1].toLowerCase(), parts: null, etag: null };
  const inParts = PARTS_ETAG.exec(etag);
  return inParts ? digestOfParts("etag_of_parts", "md5", inParts[1].toLowerCase(), Number(inParts[2])) : null;
}

function digestOfParts(
  proof: ExpectedDigest["proof"],
  algorithm: DigestAlgorithm,
  expected: string,
  parts: number,
): ExpectedDigest | null {
  return parts <= MAX_PARTS ? { proof, algorithm, expected, parts, etag: null } : null;
}
