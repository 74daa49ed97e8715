import type { Digest } from "./digest.ts";

/** Starts a CRC-64/NVME (NVM Express, NVM Command Set: 64b CRC) of bytes that arrive in chunks. */
export function startCrc64nvme(): Digest {
  const state = new Int32Array([-1, -1]);
  return {
    update: (part) => advance(state, part),
    hex: () => word(~state[1]) + word(~state[0]),
  };
}

/** The two halves of the polynomial with its bits reversed. */
const POLYNOMIAL_LOW = 0xac4bc9b5;
const POLYNOMIAL_HIGH = 0x9a6c9329;

/** Bytes processed at once; one table for each of them. */
const SLICES = 8;

/** Lower halves, then upper halves: numbers of 64 bits would be an order of magnitude slower. */
const LOW = new Int32Array(SLICES * 256);
const HIGH = new Int32Array(SLICES * 256);
fillTables();

function fillTables(): void {
  for (let byte = 0; byte < 256; byte++) {
    let low = byte;
    let high = 0;
    for (let bit = 0; bit < 8; bit++) {
      const carry = low & 1;
      low = low >>> 1 | high << 31;
      high >>>= 1;
      if (!carry) continue;
      low ^= POLYNOMIAL_LOW;
      high ^= POLYNOMIAL_HIGH;
    }
    LOW[byte] = low;
    HIGH[byte] = high;
  }
  for (let at = 256; at < LOW.length; at++) {
    const low = LOW[at - 256];
    const high = HIGH[at - 256];
    LOW[at] = LOW[low & 255] ^ (low >>> 8 | high << 24);
    HIGH[at] = HIGH[low & 255] ^ (high >>> 8);
  }
}

function advance(state: Int32Array, part: Uint8Array): void {
  const l = LOW;
  const h = HIGH;
  let low = state[0];
  let high = state[1];
  const whole = part.length - part.length % SLICES;
  let at = 0;
  for (; at < whole; at += SLICES) {
    low ^= part[at] | part[at + 1] << 8 | part[at + 2] << 16 | part[at + 3] << 24;
    high ^= part[at + 4] | part[at + 5] << 8 | part[at + 6] << 16 | part[at + 7] << 24;
    const a = 1792 + (low & 255), b = 1536 + (low >>> 8 & 255), c = 1280 + (low >>> 16 & 255), d = 1024 + (low >>> 24);
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
}

function word(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
