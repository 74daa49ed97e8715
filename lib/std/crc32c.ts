import type { Digest } from "./digest.ts";

/** Starts a CRC-32C, Castagnoli's polynomial (RFC 3720, appendix B.4), of bytes that arrive in chunks. */
export function startCrc32c(): Digest {
  let state = -1;
  return {
    update: (part) => state = advance(state, part),
    hex: () => (~state >>> 0).toString(16).padStart(8, "0"),
  };
}

/** The polynomial with its bits reversed, since the bits of each byte are taken from the lowest on. */
const POLYNOMIAL = 0x82f63b78;

/** Bytes processed at once; one table for each of them. */
const SLICES = 8;

const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(SLICES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    tables[byte] = value;
  }
  for (let at = 256; at < tables.length; at++) {
    const shorter = tables[at - 256];
    tables[at] = tables[shorter & 255] ^ (shorter >>> 8);
  }
  return tables;
}

function advance(state: number, part: Uint8Array): number {
  const t = TABLES;
  const whole = part.length - part.length % SLICES;
  let at = 0;
  for (; at < whole; at += SLICES) {
    const low = state ^ (part[at] | part[at + 1] << 8 | part[at + 2] << 16 | part[at + 3] << 24);
    state = t[1792 + (low & 255)] ^ t[1536 + (low >>> 8 & 255)] ^ t[1280 + (low >>> 16 & 255)] ^
      t[1024 + (low >>> 24)] ^
      t[768 + part[at + 4]] ^ t[512 + part[at + 5]] ^ t[256 + part[at + 6]] ^ t[part[at + 7]];
  }
  for (; at < part.length; at++) state = t[(state ^ part[at]) & 255] ^ (state >>> 8);
  return state;
}
