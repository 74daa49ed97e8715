import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** A digest of bytes that arrive in chunks. */
export interface Digest {
  update(part: Uint8Array): void;
  /** Hexadecimal, in lower case. */
  hex(): string;
}

/** The digest algorithms of S3 and of BagIt. */
export type DigestAlgorithm = "md5" | "sha1" | "sha256" | "sha512" | "crc32" | "crc32c" | "crc64nvme";

/** Starts a digest. */
export function startDigest(algorithm: DigestAlgorithm): Digest {
  switch (algorithm) {
    case "crc32":
      return startCrc32();
    case "crc32c":
      return startCrc(CRC32C);
    case "crc64nvme":
      return startCrc(CRC64NVME);
  }
  const hash = createHash(algorithm);
  return { update: (part) => void hash.update(part), hex: () => hash.digest("hex") };
}

function startCrc32(): Digest {
  let value = 0;
  return { update: (part) => value = crc32(part, value), hex: () => word(value) };
}

/** Bytes processed at once; one table for each of them. */
const SLICES = 8;

/**
 * A CRC of at most 64 bits, the bits of each byte taken from the lowest on, in two halves: numbers of 64 bits would be an
 * order of magnitude slower. In a shorter one the upper half is 0.
 */
interface Crc {
  readonly bits: 32 | 64;
  readonly low: Int32Array;
  readonly high: Int32Array;
}

/** Castagnoli's polynomial (RFC 3720, appendix B.4). */
const CRC32C = crcOf(32, 0x82f63b78, 0);
/** NVM Express, NVM Command Set: 64b CRC. */
const CRC64NVME = crcOf(64, 0xac4bc9b5, 0x9a6c9329);

/** The tables of a polynomial, whose bits are reversed. */
function crcOf(bits: 32 | 64, polynomialLow: number, polynomialHigh: number): Crc {
  const tables = { bits, low: new Int32Array(SLICES * 256), high: new Int32Array(SLICES * 256) };
  for (let at = 0; at < tables.low.length; at++) {
    let low = at < 256 ? at : tables.low[at - 256];
    let high = at < 256 ? 0 : tables.high[at - 256];
    for (let bit = 0; bit < 8; bit++) {
      const carry = low & 1;
      low = low >>> 1 | high << 31;
      high >>>= 1;
      if (!carry) continue;
      low ^= polynomialLow;
      high ^= polynomialHigh;
    }
    tables.low[at] = low;
    tables.high[at] = high;
  }
  return tables;
}

function startCrc({ bits, low: l, high: h }: Crc): Digest {
  const state = [-1, bits === 64 ? -1 : 0];
  const update = (part: Uint8Array) => {
    let [low, high] = state;
    const whole = part.length - part.length % SLICES;
    let at = 0;
    for (; at < whole; at += SLICES) {
      low ^= part[at] | part[at + 1] << 8 | part[at + 2] << 16 | part[at + 3] << 24;
      high ^= part[at + 4] | part[at + 5] << 8 | part[at + 6] << 16 | part[at + 7] << 24;
      const a = 1792 + (low & 255),
        b = 1536 + (low >>> 8 & 255),
        c = 1280 + (low >>> 16 & 255),
        d = 1024 + (low >>> 24);
      const e = 768 + (high & 255), f = 512 + (high >>> 8 & 255), g = 256 + (high >>> 16 & 255), i = high >>> 24;
      low = l[a] ^ l[b] ^ l[c] ^ l[d] ^ l[e] ^ l[f] ^ l[g] ^ l[i];
      high = h[a] ^ h[b] ^ h[c] ^ h[d] ^ h[e] ^ h[f] ^ h[g] ^ h[i];
    }
    for (; at < part.length; at++) {
      const index = (low ^ part[at]) & 255;
      low = l[index] ^ (low >>> 8 | high << 24);
      high = h[index] ^ (high >>> 8);
    }
    state[0] = low;
    state[1] = high;
  };
  return { update, hex: () => (bits === 64 ? word(~state[1]) : "") + word(~state[0]) };
}

function word(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
