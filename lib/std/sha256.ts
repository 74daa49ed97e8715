/**
 * SHA-256 (FIPS 180-4) of byte strings, with states that can be continued. Thousands of signatures share most of what
 * they hash; continuing from the shared part costs a third of what a digest made anew by node:crypto costs.
 */
interface HashedPrefix {
  readonly state: Int32Array;
  /** Bytes so far. */
  readonly length: number;
  /** Those that do not fill a block yet. */
  readonly rest: string;
}

const BLOCK = 64;
/** At the end of the last block. */
const LENGTH_BYTES = 8;
const NOTHING: HashedPrefix = { state: initialState(), length: 0, rest: "" };
const ROUND_CONSTANTS = roundConstants();
/** The block at hand, and what is made of it. */
const words = new Int32Array(64);
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The state after `text`, whose characters are bytes (0 to 255). */
export function hashPrefix(text: string, after: HashedPrefix = NOTHING): HashedPrefix {
  const state = after.state.slice();
  const all = after.rest + text;
  return { state, length: after.length + text.length, rest: all.slice(compressBlocks(state, all)) };
}

/** The digest of what came before and `text`, as eight 32-bit words. */
export function digestWords(text: string, after: HashedPrefix = NOTHING): Int32Array {
  const state = after.state.slice();
  const all = after.rest + text;
  let at = compressBlocks(state, all);
  words.fill(0, 0, 16);
  let byte = 0;
  for (; at < all.length; at++, byte++) words[byte >> 2] |= all.charCodeAt(at) << (24 - 8 * (byte & 3));
  words[byte >> 2] |= 0x80 << (24 - 8 * (byte & 3));
  if (byte >= BLOCK - LENGTH_BYTES) {
    compress(state);
    words.fill(0, 0, 16);
  }
  compressLast(state, after.length + text.length);
  return state;
}

/** Words as lower-case hexadecimal. */
export function hexOf(digest: Int32Array): string {
  let text = "";
  for (let i = 0; i < digest.length; i++) {
    const word = digest[i];
    text += HEX[word >>> 24] + HEX[(word >>> 16) & 255] + HEX[(word >>> 8) & 255] + HEX[word & 255];
  }
  return text;
}

/** An HMAC (RFC 2104) whose key is at most a block long and whose messages begin alike. */
export function hmacAfter(key: Uint8Array, beginning: string): (rest: string) => Int32Array {
  const pad = (mask: number) =>
    Array.from({ length: BLOCK }, (_, i) => String.fromCharCode((key[i] ?? 0) ^ mask)).join("");
  const inner = hashPrefix(pad(0x36) + beginning);
  const outer = hashPrefix(pad(0x5c));
  return (rest) => {
    const digest = digestWords(rest, inner);
    const state = outer.state.slice();
    words.fill(0, 8, 16);
    words.set(digest);
    words[8] = 0x80 << 24;
    compressLast(state, BLOCK + digest.byteLength);
    return state;
  };
}

/** Takes the whole blocks of a text; returns where the rest of it begins. */
function compressBlocks(state: Int32Array, text: string): number {
  const end = text.length - text.length % BLOCK;
  for (let at = 0; at < end;) {
    for (let i = 0; i < 16; i++, at += 4) {
      words[i] = (text.charCodeAt(at) << 24) | (text.charCodeAt(at + 1) << 16) | (text.charCodeAt(at + 2) << 8) |
        text.charCodeAt(at + 3);
    }
    compress(state);
  }
  return end;
}

/** Takes the block in {@link words}, the last one of a message of so many bytes. */
function compressLast(state: Int32Array, bytes: number): void {
  words[14] = Math.floor(bytes / 2 ** 29);
  words[15] = bytes << 3;
  compress(state);
}

/** Takes the block that the first 16 of {@link words} are. */
function compress(state: Int32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16] + small0 + words[i - 7] + small1) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const big1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + big1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + words[i]) | 0;
    const big0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
function initialState(): Int32Array {
  return Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));
}

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
function roundConstants(): Int32Array {
  return Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

function primes(amount: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < amount; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}
