/**
 * SHA-256 (FIPS 180-4) of byte strings, with states that can be continued. Thousands of signatures share most of what
 * they hash; continuing from the shared part costs a third of what a digest made anew by node:crypto costs.
 *
 * All of it happens in memory of this module: digests that were arrays of their own kept V8 collecting garbage for as
 * long as they took to compute. Each exported function begins and ends in one turn of the event loop.
 */
export interface HashedPrefix {
  readonly state: Int32Array;
  /** Bytes so far. */
  readonly length: number;
  /** Those that do not fill a block yet. */
  readonly rest: Uint8Array;
}

const BLOCK = 64;
const DIGEST_BYTES = 32;
/** At the end of the last block. */
const LENGTH_BYTES = 8;
const NO_BYTES = new Uint8Array(0);
const NOTHING: HashedPrefix = { state: initialState(), length: 0, rest: NO_BYTES };
const ROUND_CONSTANTS = roundConstants();
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const HEX_DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** What is being hashed: the state, what follows it, and how many bytes that is. */
const state = new Int32Array(8);
let message = new Uint8Array(16 * BLOCK);
let filled = 0;
/** The block at hand, and what is made of it. */
const words = new Int32Array(64);

/** The state after `text`, whose characters are bytes (0 to 255). */
export function hashPrefix(text: string, after: HashedPrefix = NOTHING): HashedPrefix {
  begin(after);
  add(text);
  const whole = filled - filled % BLOCK;
  compressBlocks(whole);
  return { state: state.slice(), length: after.length + text.length, rest: message.slice(whole, filled) };
}

/** An HMAC (RFC 2104) whose key is at most a block long and whose messages begin alike, in lower-case hexadecimal. */
export class Hmac {
  readonly #inner: HashedPrefix;
  readonly #outer: HashedPrefix;

  constructor(key: Uint8Array, beginning: string) {
    const pad = (mask: number) =>
      Array.from({ length: BLOCK }, (_, i) => String.fromCharCode((key[i] ?? 0) ^ mask)).join("");
    this.#inner = hashPrefix(pad(0x36) + beginning);
    this.#outer = hashPrefix(pad(0x5c));
  }

  /** Of a message that goes on with `text`. */
  hex(text: string): string {
    begin(this.#inner);
    add(text);
    return this.#hex(this.#inner.length + text.length);
  }

  /** Of a message that goes on with the digest of `after`, `text` and `more`, in hexadecimal, which is never a text. */
  hexOfDigest(after: HashedPrefix, text: string, more: string): string {
    begin(after);
    add(text);
    add(more);
    finish(after.length + text.length + more.length);
    begin(this.#inner, addStateAsHex);
    return this.#hex(this.#inner.length + 2 * DIGEST_BYTES);
  }

  #hex(innerBytes: number): string {
    finish(innerBytes);
    begin(this.#outer, addState);
    finish(BLOCK + DIGEST_BYTES);
    return stateAsHex();
  }
}

/** Goes on from a prefix. `add` takes what the state was until then into the message. */
function begin(after: HashedPrefix, add?: () => void): void {
  filled = after.rest.length;
  for (let i = 0; i < filled; i++) message[i] = after.rest[i];
  add?.();
  for (let i = 0; i < state.length; i++) state[i] = after.state[i];
}

function add(text: string): void {
  const { length } = text;
  if (filled + length + 2 * BLOCK > message.length) {
    const larger = new Uint8Array(2 * (filled + length + BLOCK));
    larger.set(message.subarray(0, filled));
    message = larger;
  }
  const bytes = message;
  const start = filled;
  for (let i = 0; i < length; i++) bytes[start + i] = text.charCodeAt(i);
  filled += length;
}

function addState(): void {
  for (let i = 0; i < state.length; i++) addWord(state[i]);
}

function addStateAsHex(): void {
  for (let i = 0; i < state.length; i++) {
    for (let shift = 28; shift >= 0; shift -= 4) message[filled++] = HEX_DIGITS[(state[i] >>> shift) & 15];
  }
}

function addWord(word: number): void {
  message[filled++] = word >>> 24;
  message[filled++] = word >>> 16;
  message[filled++] = word >>> 8;
  message[filled++] = word;
}

/** Ends a message of so many bytes in all. */
function finish(bytes: number): void {
  message[filled++] = 0x80;
  while (filled % BLOCK !== BLOCK - LENGTH_BYTES) message[filled++] = 0;
  addWord(Math.floor(bytes / 2 ** 29));
  addWord(bytes << 3);
  compressBlocks(filled);
}

function stateAsHex(): string {
  let text = "";
  for (let i = 0; i < state.length; i++) {
    const word = state[i];
    text += HEX[word >>> 24] + HEX[(word >>> 16) & 255] + HEX[(word >>> 8) & 255] + HEX[word & 255];
  }
  return text;
}

/** Takes so many bytes of the message, which are whole blocks. */
function compressBlocks(end: number): void {
  const bytes = message;
  for (let at = 0; at < end;) {
    for (let i = 0; i < 16; i++, at += 4) {
      words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    compress();
  }
}

/**
 * Takes the block that the first 16 of {@link words} are. Four rounds stand in a row: each would pass its eight values on
 * to the next one's variables, and moving them takes as long as computing them. The functions of the standard are
 * written out, since V8 inlines only so many calls.
 */
function compress(): void {
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16] + small0 + words[i - 7] + small1) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i += 4) {
    const sum0 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const turn0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    h = (h + sum0 + (g ^ (e & (f ^ g))) + ROUND_CONSTANTS[i] + words[i]) | 0;
    d = (d + h) | 0;
    h = (h + turn0 + ((a & b) | (c & (a | b)))) | 0;
    const sum1 = ((d >>> 6) | (d << 26)) ^ ((d >>> 11) | (d << 21)) ^ ((d >>> 25) | (d << 7));
    const turn1 = ((h >>> 2) | (h << 30)) ^ ((h >>> 13) | (h << 19)) ^ ((h >>> 22) | (h << 10));
    g = (g + sum1 + (f ^ (d & (e ^ f))) + ROUND_CONSTANTS[i + 1] + words[i + 1]) | 0;
    c = (c + g) | 0;
    g = (g + turn1 + ((h & a) | (b & (h | a)))) | 0;
    const sum2 = ((c >>> 6) | (c << 26)) ^ ((c >>> 11) | (c << 21)) ^ ((c >>> 25) | (c << 7));
    const turn2 = ((g >>> 2) | (g << 30)) ^ ((g >>> 13) | (g << 19)) ^ ((g >>> 22) | (g << 10));
    f = (f + sum2 + (e ^ (c & (d ^ e))) + ROUND_CONSTANTS[i + 2] + words[i + 2]) | 0;
    b = (b + f) | 0;
    f = (f + turn2 + ((g & h) | (a & (g | h)))) | 0;
    const sum3 = ((b >>> 6) | (b << 26)) ^ ((b >>> 11) | (b << 21)) ^ ((b >>> 25) | (b << 7));
    const turn3 = ((f >>> 2) | (f << 30)) ^ ((f >>> 13) | (f << 19)) ^ ((f >>> 22) | (f << 10));
    e = (e + sum3 + (d ^ (b & (c ^ d))) + ROUND_CONSTANTS[i + 3] + words[i + 3]) | 0;
    a = (a + e) | 0;
    e = (e + turn3 + ((f & g) | (h & (f | g)))) | 0;
    // After four rounds, each value is four places further.
    const a0 = a, b0 = b, c0 = c, d0 = d;
    a = e;
    b = f;
    c = g;
    d = h;
    e = a0;
    f = b0;
    g = c0;
    h = d0;
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
