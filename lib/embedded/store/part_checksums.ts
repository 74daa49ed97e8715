import { Buffer } from "node:buffer";
import { type DigestAlgorithm, startDigest } from "@/lib/embedded/store/digests.ts";

/** Whether a checksum of an object in parts is one over the parts' checksums, or that of all bytes. */
export type ChecksumType = "COMPOSITE" | "FULL_OBJECT";

/** A part's checksum in base64, and its size in bytes. */
export interface PartChecksum {
  checksum: string;
  size: number;
}

/**
 * The checksum of an object made of parts, in base64, from those of its parts (S3 API, checking object integrity): the
 * digest of their digests with their number behind it, or, for the CRC family, that of the whole without reading it again.
 */
export function objectChecksum(algorithm: DigestAlgorithm, type: ChecksumType, parts: readonly PartChecksum[]): string {
  if (type === "COMPOSITE") {
    const digest = startDigest(algorithm);
    for (const { checksum } of parts) digest.update(Buffer.from(checksum, "base64"));
    return `${Buffer.from(digest.hex(), "hex").toString("base64")}-${parts.length}`;
  }
  const crc = CRCS[algorithm];
  if (!crc) throw new Error(`${algorithm} cannot be joined`);
  const powers = new Map<number, bigint>();
  let whole = 0n;
  for (const { checksum, size } of parts) {
    const power = powers.get(size) ?? shiftBy(crc, size);
    powers.set(size, power);
    whole = product(crc, power, whole) ^ BigInt(`0x${Buffer.from(checksum, "base64").toString("hex") || "0"}`);
  }
  return Buffer.from(whole.toString(16).padStart(Number(crc.bits) / 4, "0"), "hex").toString("base64");
}

/** Whether the parts' checksums can be joined to that of all bytes. */
export function canBeFullObject(algorithm: DigestAlgorithm): boolean {
  return algorithm in CRCS;
}

interface Crc {
  bits: bigint;
  /** The polynomial with its lowest power in the highest bit. */
  polynomial: bigint;
}

const CRCS: Partial<Record<string, Crc>> = {
  crc32: { bits: 32n, polynomial: 0xedb88320n },
  crc32c: { bits: 32n, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

/** What a CRC is multiplied with when `bytes` bytes follow: x to the power of their bits. */
function shiftBy(crc: Crc, bytes: number): bigint {
  let power = 1n << (crc.bits - 1n);
  let square = 1n << (crc.bits - 2n);
  for (let left = BigInt(bytes) * 8n; left > 0n; left >>= 1n) {
    if (left & 1n) power = product(crc, power, square);
    square = product(crc, square, square);
  }
  return power;
}

/** The product of two polynomials modulo the CRC's. */
function product({ bits, polynomial }: Crc, a: bigint, b: bigint): bigint {
  let sum = 0n;
  for (let bit = 1n << (bits - 1n); bit > 0n; bit >>= 1n) {
    if (a & bit) sum ^= b;
    b = b & 1n ? (b >> 1n) ^ polynomial : b >> 1n;
  }
  return sum;
}
