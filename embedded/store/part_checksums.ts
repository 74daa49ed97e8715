import { Buffer } from "node:buffer";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";

/** The checksum of objects whose writer states none (S3 API, checking object integrity). */
export const DEFAULT_CHECKSUM = "crc64nvme";

/** Whether a checksum of an object in parts is one over the parts' checksums, or that of all bytes. */
export type ChecksumType = "COMPOSITE" | "FULL_OBJECT";

/**
 * The checksum of an object that consists of parts, from those of its parts, all in base64 (S3 API, checking object
 * integrity): the digest of their digests followed by their number, or, for the CRC family, that of the whole without
 * reading it again.
 */
export function objectChecksum(
  algorithm: DigestAlgorithm,
  type: ChecksumType,
  parts: readonly { readonly checksum: string; readonly size: number }[],
): string {
  if (type === "COMPOSITE") {
    const digest = startDigest(algorithm);
    for (const { checksum } of parts) digest.update(Buffer.from(checksum, "base64"));
    return `${Buffer.from(digest.hex(), "hex").toString("base64")}-${parts.length}`;
  }
  const crc = CRCS[algorithm];
  if (!crc) throw new Error(`${algorithm} cannot be joined`);
  const shifts = new Shifts(crc);
  let whole: Polynomial = { high: 0, low: 0 };
  for (const { checksum, size } of parts) {
    const shifted = product(crc, shifts.by(size), whole);
    const own = fromBytes(Buffer.from(checksum, "base64"));
    whole = { high: shifted.high ^ own.high, low: shifted.low ^ own.low };
  }
  return toBytes(whole, crc.bits / 8).toString("base64");
}

/** Whether the parts' checksums can be joined to that of all bytes. */
export function canBeFullObject(algorithm: DigestAlgorithm): boolean {
  return algorithm in CRCS;
}

/** A polynomial of up to 64 bits with its lowest power in the highest bit: numbers of 64 bits would be far slower. */
interface Polynomial {
  high: number;
  low: number;
}

interface Crc {
  bits: 32 | 64;
  polynomial: Polynomial;
}

const CRCS: Partial<Record<string, Crc>> = {
  crc32: { bits: 32, polynomial: { high: 0, low: 0xedb88320 } },
  crc32c: { bits: 32, polynomial: { high: 0, low: 0x82f63b78 } },
  crc64nvme: { bits: 64, polynomial: { high: 0x9a6c9329, low: 0xac4bc9b5 } },
};

/** The factor of a CRC when bytes follow: x to the power of their bits. Cached, because sizes repeat. */
class Shifts {
  readonly #known = new Map<number, Polynomial>();
  readonly #squares: Polynomial[];

  constructor(private readonly crc: Crc) {
    this.#squares = [power(crc, 8)];
  }

  by(bytes: number): Polynomial {
    let shift = this.#known.get(bytes);
    if (shift) return shift;
    shift = power(this.crc, 0);
    for (let left = bytes, i = 0; left > 0; left = Math.floor(left / 2), i++) {
      this.#squares[i] ??= product(this.crc, this.#squares[i - 1], this.#squares[i - 1]);
      if (left % 2 === 1) shift = product(this.crc, shift, this.#squares[i]);
    }
    this.#known.set(bytes, shift);
    return shift;
  }
}

/** A power of x below 32. */
function power({ bits }: Crc, exponent: number): Polynomial {
  const bit = 1 << (31 - exponent);
  return bits === 64 ? { high: bit, low: 0 } : { high: 0, low: bit };
}

/** The product of two polynomials modulo the CRC's. */
function product({ bits, polynomial }: Crc, a: Polynomial, b: Polynomial): Polynomial {
  let [high, low] = [0, 0];
  let [bHigh, bLow] = [b.high, b.low];
  for (let at = bits - 1; at >= 0; at--) {
    const bit = at >= 32 ? a.high >>> (at - 32) & 1 : a.low >>> at & 1;
    if (bit) {
      high ^= bHigh;
      low ^= bLow;
    }
    const carry = bLow & 1;
    bLow = bLow >>> 1 | bHigh << 31;
    bHigh >>>= 1;
    if (!carry) continue;
    bHigh ^= polynomial.high;
    bLow ^= polynomial.low;
  }
  return { high, low };
}

function fromBytes(bytes: Buffer): Polynomial {
  return { high: bytes.length > 4 ? bytes.readInt32BE(0) : 0, low: bytes.readInt32BE(bytes.length - 4) };
}

function toBytes({ high, low }: Polynomial, size: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(high | 0, 0);
  bytes.writeInt32BE(low | 0, 4);
  return bytes.subarray(8 - size);
}
