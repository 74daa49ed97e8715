import { Buffer } from "node:buffer";
import { BLOCK_BYTES, compress, ends, INITIAL_STATE, LANE_BYTES, LANES, messages, states } from "./sha256_lanes.ts";

/**
 * SHA-256 (FIPS 180-4) of byte strings, with states that can be continued. Thousands of signatures share most of what
 * they hash, and four at a time take as long as one: 1 µs for each against 20 with the objects of node:crypto.
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

/** A message whose digest is wanted. Its parts are in this order. */
export interface Message {
  readonly prefix: HashedPrefix;
  /** Its characters are bytes (0 to 255). */
  readonly text: string;
  readonly end: Uint8Array;
}

/** Most messages of a batch. */
export const MAX_BATCH = LANES;
/** Of a digest in hexadecimal. */
export const HEX_BYTES = 64;

const DIGEST_BYTES = 32;
/** At the end of the last block. */
const LENGTH_BYTES = 8;
/** What fits a lane behind the rest of a prefix, and leaves room to end the message. */
const MAX_ADDED_BYTES = LANE_BYTES - 3 * BLOCK_BYTES;
const NO_BYTES = new Uint8Array(0);
const NOTHING: HashedPrefix = { state: INITIAL_STATE, length: 0, rest: NO_BYTES };
const HEX_DIGITS = "0123456789abcdef";
const HIGH_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => HEX_DIGITS.charCodeAt(byte >>> 4));
const LOW_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => HEX_DIGITS.charCodeAt(byte & 15));

/** Where the message of each lane ends, within {@link messages}. */
const filled = new Int32Array(LANES);
const digests = new Uint8Array(MAX_BATCH * HEX_BYTES);

/** The state after `text`, whose characters are bytes (0 to 255). */
export function hashPrefix(text: string, after: HashedPrefix = NOTHING): HashedPrefix {
  let prefix = after;
  for (let at = 0; at < text.length; at += MAX_ADDED_BYTES) {
    prefix = shortPrefix(text.slice(at, at + MAX_ADDED_BYTES), prefix);
  }
  return prefix;
}

function shortPrefix(text: string, after: HashedPrefix): HashedPrefix {
  begin(0, after);
  addText(0, text);
  const whole = filled[0] - filled[0] % BLOCK_BYTES;
  const rest = messages.slice(whole, filled[0]);
  filled[0] = whole;
  compressLanes(1);
  return {
    state: Int32Array.from(INITIAL_STATE, (_, i) => states[i * LANES]),
    length: after.length + text.length,
    rest,
  };
}

/**
 * The digest of a text whose characters are bytes (0 to 255), in lower-case hexadecimal; meant for short ones. `hash` of
 * node:crypto takes a third of the time, but leaves a native object whose collection takes several times as long.
 */
export function digestHex(text: string): string {
  addMessage(0, shortened({ prefix: NOTHING, text, end: NO_BYTES }));
  compressLanes(1);
  writeWords(0, 0);
  return messages.subarray(0, DIGEST_BYTES).toHex();
}

/** An HMAC (RFC 2104) whose key is at most a block long and whose messages begin alike, in lower-case hexadecimal. */
export class Hmac {
  readonly #inner: HashedPrefix;
  readonly #outer: HashedPrefix;

  constructor(key: Uint8Array, beginning: string) {
    const pad = (mask: number) =>
      Array.from({ length: BLOCK_BYTES }, (_, i) => String.fromCharCode((key[i] ?? 0) ^ mask)).join("");
    this.#inner = hashPrefix(pad(0x36) + beginning);
    this.#outer = hashPrefix(pad(0x5c));
  }

  /** Of a message that goes on with `text`. */
  hex(text: string): string {
    addMessage(0, shortened({ prefix: this.#inner, text, end: NO_BYTES }));
    compressLanes(1);
    this.#computeOuter(1);
    writeWords(0, 0);
    return messages.subarray(0, DIGEST_BYTES).toHex();
  }

  /**
   * Of up to {@link MAX_BATCH} messages that go on with a digest in hexadecimal, each of one of these.
   *
   * @returns the HMACs one after the other, {@link HEX_BYTES} each, until the next call
   */
  hexOfDigests(hashed: readonly Message[]): Uint8Array {
    const count = hashed.length;
    const fitting = hashed.some(isLong) ? hashed.map(shortened) : hashed;
    for (let lane = 0; lane < count; lane++) addMessage(lane, fitting[lane]);
    compressLanes(count);
    for (let lane = 0; lane < count; lane++) {
      const start = lane * LANE_BYTES + this.#inner.rest.length;
      writeHex(lane, messages, start);
      begin(lane, this.#inner);
      filled[lane] = start + HEX_BYTES;
      finish(lane, this.#inner.length + HEX_BYTES);
    }
    compressLanes(count);
    this.#computeOuter(count);
    for (let lane = 0; lane < count; lane++) writeHex(lane, digests, lane * HEX_BYTES);
    return digests;
  }

  /** The states of the first lanes, which are those of the inner digests, become those of the HMACs. */
  #computeOuter(count: number): void {
    for (let lane = 0; lane < count; lane++) {
      const start = lane * LANE_BYTES;
      writeWords(lane, start);
      begin(lane, this.#outer);
      filled[lane] = start + DIGEST_BYTES;
      finish(lane, BLOCK_BYTES + DIGEST_BYTES);
    }
    compressLanes(count);
  }
}

/** Whether a message does not fit a lane. */
function isLong({ text, end }: Message): boolean {
  return text.length + end.length > MAX_ADDED_BYTES;
}

/** The same message, hashed where it is long. */
function shortened(message: Message): Message {
  if (!isLong(message)) return message;
  const { prefix, text, end } = message;
  return { prefix: hashPrefix(text + Buffer.from(end).toString("latin1"), prefix), text: "", end: NO_BYTES };
}

/** Puts a whole message into a lane. */
function addMessage(lane: number, { prefix, text, end }: Message): void {
  begin(lane, prefix);
  addText(lane, text);
  messages.set(end, filled[lane]);
  filled[lane] += end.length;
  finish(lane, prefix.length + text.length + end.length);
}

/** Goes on from a prefix. */
function begin(lane: number, { state, rest }: HashedPrefix): void {
  const start = lane * LANE_BYTES;
  for (let i = 0; i < state.length; i++) states[i * LANES + lane] = state[i];
  for (let i = 0; i < rest.length; i++) messages[start + i] = rest[i];
  filled[lane] = start + rest.length;
}

function addText(lane: number, text: string): void {
  const start = filled[lane];
  for (let i = 0; i < text.length; i++) messages[start + i] = text.charCodeAt(i);
  filled[lane] = start + text.length;
}

/** Ends a message of so many bytes in all. */
function finish(lane: number, bytes: number): void {
  const at = filled[lane];
  const blockEnd = Math.ceil((at + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  messages[at] = 0x80;
  messages.fill(0, at + 1, blockEnd - LENGTH_BYTES);
  writeWord(blockEnd - LENGTH_BYTES, Math.floor(bytes / 2 ** 29));
  writeWord(blockEnd - LENGTH_BYTES / 2, bytes << 3);
  filled[lane] = blockEnd;
}

/** Takes the first lanes, which hold whole blocks, into their states. */
function compressLanes(count: number): void {
  let end = 0;
  for (let lane = 0; lane < LANES; lane++) {
    ends[lane] = lane < count ? filled[lane] - lane * LANE_BYTES : 0;
    end = Math.max(end, ends[lane]);
  }
  if (end > 0) compress(end);
}

function writeWords(lane: number, start: number): void {
  for (let i = 0; i < 8; i++) writeWord(start + 4 * i, states[i * LANES + lane]);
}

function writeWord(at: number, word: number): void {
  messages[at] = word >>> 24;
  messages[at + 1] = word >>> 16;
  messages[at + 2] = word >>> 8;
  messages[at + 3] = word;
}

function writeHex(lane: number, target: Uint8Array, start: number): void {
  let at = start;
  for (let i = 0; i < 8; i++) {
    const word = states[i * LANES + lane];
    for (let shift = 24; shift >= 0; shift -= 8) {
      const byte = (word >>> shift) & 255;
      target[at++] = HIGH_DIGIT[byte];
      target[at++] = LOW_DIGIT[byte];
    }
  }
}
