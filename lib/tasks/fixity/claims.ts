import { Buffer } from "node:buffer";
import type { Digest } from "@/lib/std/digest.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";

/** What the bytes of an object are compared with. */
export const PROOFS = ["manifest", "baseline", "checksum", "checksum_of_parts", "etag", "etag_of_parts"] as const;
/** What is stored with an object. */
type Proof = Exclude<(typeof PROOFS)[number], "manifest" | "baseline">;

/** A digest that an object is said to have. */
export interface Claim {
  readonly proof: Proof;
  readonly algorithm: DigestAlgorithm;
  /** Hexadecimal in lower case. With parts: of the digests of the parts, one behind the other. */
  readonly expected: string;
  /** How many parts the object was uploaded in; null for a digest of all bytes. */
  readonly parts: number | null;
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
export function ownClaims(headers: Headers): Claim[] {
  const claims: Claim[] = [];
  for (const [algorithm, bytes] of CHECKSUMS) {
    const claim = checksumClaim(algorithm, bytes, headers.get(`x-amz-checksum-${algorithm}`));
    if (claim) claims.push(claim);
  }
  const isEncrypted = headers.has("x-amz-server-side-encryption-customer-algorithm") ||
    ETAG_IS_NO_MD5.test(headers.get("x-amz-server-side-encryption") ?? "");
  const etag = isEncrypted ? null : etagClaim(headers.get("etag") ?? "");
  if (etag) claims.push(etag);
  // A digest of all bytes needs no sizes of parts.
  return claims.sort((a, b) => Number(isOfParts(a)) - Number(isOfParts(b)));
}

function isOfParts({ proof }: Claim): boolean {
  return proof === "checksum_of_parts";
}

function checksumClaim(algorithm: DigestAlgorithm, bytes: number, value: string | null): Claim | null {
  const [, base64, count] = /^([0-9A-Za-z+/]{6,86}={0,2})(?:-([1-9][0-9]{0,4}))?$/.exec(value ?? "") ?? [];
  if (base64 === undefined) return null;
  const digest = Buffer.from(base64, "base64");
  if (digest.length !== bytes) return null;
  const expected = digest.toString("hex");
  if (count === undefined) return { proof: "checksum", algorithm, expected, parts: null };
  return partsClaim("checksum_of_parts", algorithm, expected, Number(count));
}

function etagClaim(etag: string): Claim | null {
  const plain = PLAIN_ETAG.exec(etag);
  if (plain) return { proof: "etag", algorithm: "md5", expected: plain[1].toLowerCase(), parts: null };
  const inParts = PARTS_ETAG.exec(etag);
  return inParts ? partsClaim("etag_of_parts", "md5", inParts[1].toLowerCase(), Number(inParts[2])) : null;
}

function partsClaim(proof: Proof, algorithm: DigestAlgorithm, expected: string, parts: number): Claim | null {
  return parts <= MAX_PARTS ? { proof, algorithm, expected, parts } : null;
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
