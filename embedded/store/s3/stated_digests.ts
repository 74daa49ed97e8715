import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import type { Caller } from "./caller.ts";
import {
  ABOUT_CHECKSUMS,
  algorithmOf,
  CHECKSUM_BYTES,
  type ChecksumAlgorithm,
  checksumAlgorithm,
  digestFromBase64,
  statedType,
} from "./checksums.ts";
import { S3Error } from "./s3_error.ts";

/** A digest that the sender states of a body. */
interface StatedDigest {
  algorithm: DigestAlgorithm;
  hex: string;
  code: "BadDigest" | "XAmzContentSHA256Mismatch";
}

/** What the sender states of a body, in headers or in the trailer. */
interface StatedDigests {
  /** Those that are known before the body. */
  digests: StatedDigest[];
  /** The checksum that is stored with the object. */
  checksum: ChecksumAlgorithm | null;
  /** An algorithm that is named by x-amz-checksum-algorithm, with or without its checksum. */
  named: ChecksumAlgorithm | null;
  /** The headers that follow the body, in lower case. */
  trailers: string[];
}

const MD5_BYTES = 16;

/**
 * The digests that the client states of its body.
 *
 * @throws {S3Error} for malformed ones, for contradictions (S3 takes one checksum), and for unsupported ones
 */
export function statedDigests(headers: Headers, caller: Caller): StatedDigests {
  const digests: StatedDigest[] = [];
  if (caller.payloadSha256) {
    digests.push({ algorithm: "sha256", hex: caller.payloadSha256, code: "XAmzContentSHA256Mismatch" });
  }
  const md5 = headers.get("content-md5");
  if (md5 !== null) {
    const hex = digestFromBase64(md5, MD5_BYTES);
    if (hex === null) throw new S3Error("InvalidDigest", "The header content-md5 is not valid");
    digests.push({ algorithm: "md5", hex, code: "BadDigest" });
  }
  const checksums: ChecksumAlgorithm[] = [];
  for (const [header, value] of headers) {
    if (!header.startsWith("x-amz-checksum-") || ABOUT_CHECKSUMS.test(header)) continue;
    const algorithm = checksumAlgorithm(header);
    if (!algorithm) throw new S3Error("NotImplemented", `The header ${header} is not provided`);
    digests.push(statedChecksum(header, algorithm, value));
    checksums.push(algorithm);
  }
  const trailers = statedTrailers(headers, caller);
  for (const trailer of trailers) checksums.push(requireChecksum(trailer));
  if (checksums.length > 1) throw new S3Error("InvalidRequest", "A body may have only one x-amz-checksum header");
  const checksum = checksums.at(0) ?? null;
  requireAnnounced(headers.get("x-amz-sdk-checksum-algorithm"), checksum);
  statedType(headers);
  return { digests, checksum, named: namedAlgorithm(headers, checksum), trailers };
}

/**
 * The digests that followed a body.
 *
 * @throws {S3Error} for values that are malformed
 */
export function trailingDigests(trailers: ReadonlyMap<string, string>): StatedDigest[] {
  return [...trailers].map(([name, value]) => statedChecksum(name, requireChecksum(name), value));
}

function statedChecksum(header: string, algorithm: ChecksumAlgorithm, value: string): StatedDigest {
  const hex = digestFromBase64(value, CHECKSUM_BYTES[algorithm]);
  if (hex === null) throw new S3Error("InvalidRequest", `The value of ${header} is not valid`);
  return { algorithm, hex, code: "BadDigest" };
}

function statedTrailers(headers: Headers, caller: Caller): string[] {
  const text = headers.get("x-amz-trailer");
  if (text === null) return [];
  if (!caller.chunked?.hasTrailer) {
    throw new S3Error("InvalidRequest", "x-amz-trailer needs a body that is sent with a trailer");
  }
  return text.split(",").map((name) => name.trim().toLowerCase());
}

function requireChecksum(trailer: string): ChecksumAlgorithm {
  const algorithm = checksumAlgorithm(trailer);
  if (algorithm) return algorithm;
  throw trailer.startsWith("x-amz-checksum-")
    ? new S3Error("NotImplemented", `The trailer ${trailer} is not provided`)
    : new S3Error("InvalidRequest", "x-amz-trailer may name a checksum, and nothing else");
}

function namedAlgorithm(headers: Headers, checksum: ChecksumAlgorithm | null): ChecksumAlgorithm | null {
  const name = headers.get("x-amz-checksum-algorithm");
  if (name === null) return null;
  const algorithm = algorithmOf(name);
  if (!algorithm) throw new S3Error("NotImplemented", "This x-amz-checksum-algorithm is not provided");
  if (checksum === null || checksum === algorithm) return algorithm;
  throw new S3Error("InvalidRequest", "x-amz-checksum-algorithm names another checksum than the one that is stated");
}

function requireAnnounced(announced: string | null, checksum: ChecksumAlgorithm | null): void {
  if (announced === null || announced.toLowerCase() === checksum) return;
  throw new S3Error(
    "InvalidRequest",
    "x-amz-sdk-checksum-algorithm names no checksum that comes in a header or in the trailer",
  );
}
