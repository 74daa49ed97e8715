import { type Code, compileWasm, get, i32, repeatWhile, set, v128, VECTOR_BYTES } from "./wasm.ts";

/**
 * The rounds of SHA-256 (FIPS 180-4, 6.2.2) for four messages at a time, each in a lane of its own: every variable of the
 * standard is a vector that has the variables of the four. One block of four messages takes less time than a block of one
 * does in JavaScript.
 */

/** How many messages are hashed at a time. */
export const LANES = 4;
export const BLOCK_BYTES = 64;
/** Longest part of a message that is taken at a time. */
export const LANE_BYTES = 8192;

const WORDS = 16;
const ROUNDS = 64;
const WORD_BYTES = 4;

/** Where things are in memory. */
const STATE = 0;
const ENDS = STATE + 8 * VECTOR_BYTES;
const CONSTANTS = ENDS + VECTOR_BYTES;
const MESSAGES = 1024;

/** The variables of the function: parameters, numbers, and then vectors. */
const END = 0;
const AT = 1;
const ACTIVE = 2;
/** a to h of the standard. */
const A = 3;
/** The sixteen words of the schedule that are still needed. */
const W = A + 8;
const SCRATCH = W + WORDS;
const VECTORS = SCRATCH + 4 - ACTIVE;

const { add, and, or, xor, shiftLeft, shiftRight } = v128;
const ZERO = i32.constant(0);

const { run, memory } = compileWasm({
  parameters: 1,
  numbers: 1,
  vectors: VECTORS,
  body: repeatWhile(
    [
      ...set(ACTIVE, v128.isGreater(v128.load(ZERO, ENDS), v128.same(get(AT)))),
      ...Array.from({ length: WORDS / 4 }, (_, quarter) => loadWords(quarter)).flat(),
      ...Array.from({ length: 8 }, (_, i) => set(A + i, v128.load(ZERO, STATE + i * VECTOR_BYTES))).flat(),
      ...Array.from({ length: ROUNDS }, (_, i) => round(i)).flat(),
      ...Array.from({ length: 8 }, (_, i) => addToState(i)).flat(),
      ...set(AT, i32.add(get(AT), i32.constant(BLOCK_BYTES))),
    ],
    i32.isLess(get(AT), get(END)),
  ),
});

/** The states: the first words of the four messages, their second words, and so on. */
export const states = new Int32Array(memory, STATE, 8 * LANES);
/** How many bytes of each lane are hashed: whole blocks. */
export const ends = new Int32Array(memory, ENDS, LANES);
/** The lanes, one after the other. */
export const messages = new Uint8Array(memory, MESSAGES, LANES * LANE_BYTES);

new Int32Array(memory, CONSTANTS, ROUNDS).set(Array.from(primes(ROUNDS), (prime) => fraction(Math.cbrt(prime))));

/** The state of a message of which nothing is hashed yet. */
export const INITIAL_STATE = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

/** Takes as much of each lane into its state as {@link ends} says, of which `end` is the largest. */
export function compress(end: number): void {
  run(end);
}

/** Four words of each message, which are bytes with the highest first, become four vectors. */
function loadWords(quarter: number): Code {
  const lane = (n: number) => v128.load(get(AT), MESSAGES + n * LANE_BYTES + quarter * VECTOR_BYTES);
  // Words of two messages side by side, then of all four.
  const two = (first: number, words: number[]) => v128.bytes(lane(first), lane(first + 1), bytesOf(words));
  const four = (word: number, x: number, words: number[]) =>
    set(W + 4 * quarter + word, v128.bytes(get(SCRATCH + x), get(SCRATCH + x + 1), reversed(bytesOf(words))));
  return [
    ...set(SCRATCH, two(0, [0, 4, 1, 5])),
    ...set(SCRATCH + 1, two(2, [0, 4, 1, 5])),
    ...set(SCRATCH + 2, two(0, [2, 6, 3, 7])),
    ...set(SCRATCH + 3, two(2, [2, 6, 3, 7])),
    ...four(0, 0, [0, 1, 4, 5]),
    ...four(1, 0, [2, 3, 6, 7]),
    ...four(2, 2, [0, 1, 4, 5]),
    ...four(3, 2, [2, 3, 6, 7]),
  ];
}

function bytesOf(words: readonly number[]): number[] {
  return words.flatMap((word) => [0, 1, 2, 3].map((byte) => word * WORD_BYTES + byte));
}

/** The bytes of each word in the other order. */
function reversed(bytes: readonly number[]): number[] {
  return bytes.map((_, index) => bytes[index ^ 3]);
}

/**
 * One round. The standard ends it by passing each variable on to the next one's name; here the names move instead: a of
 * this round is the variable that was h in the one before.
 */
function round(i: number): Code {
  const name = (letter: number) => A + (letter - i + ROUNDS) % 8;
  const [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map((letter) => get(name(letter)));
  const sum1 = xor(xor(rotated(e, 6), rotated(e, 11)), rotated(e, 25));
  const choice = xor(g, and(e, xor(f, g)));
  const constant = v128.loadSame(ZERO, CONSTANTS + i * WORD_BYTES);
  const sum0 = xor(xor(rotated(a, 2), rotated(a, 13)), rotated(a, 22));
  const majority = or(and(a, b), and(c, or(a, b)));
  return [
    ...i < WORDS ? [] : schedule(i),
    ...set(name(7), add(add(h, add(constant, get(W + i % WORDS))), add(sum1, choice))),
    ...set(name(3), add(d, h)),
    ...set(name(7), add(h, add(sum0, majority))),
  ];
}

/** The word of this round takes the place of the one sixteen rounds before. */
function schedule(i: number): Code {
  const word = (before: number) => get(W + (i - before) % WORDS);
  const x = word(15), y = word(2);
  const sigma0 = xor(xor(rotated(x, 7), rotated(x, 18)), shiftRight(x, 3));
  const sigma1 = xor(xor(rotated(y, 17), rotated(y, 19)), shiftRight(y, 10));
  return set(W + i % WORDS, add(add(word(16), sigma0), add(word(7), sigma1)));
}

/** Lanes that have ended add nothing. */
function addToState(i: number): Code {
  const offset = STATE + i * VECTOR_BYTES;
  return v128.store(ZERO, offset, add(v128.load(ZERO, offset), and(get(A + i), get(ACTIVE))));
}

function rotated(x: Code, bits: number): Code {
  return or(shiftRight(x, bits), shiftLeft(x, 32 - bits));
}

/** The first 32 bits of the fractional part: constants of the standard are those of roots of the first primes. */
function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

function primes(amount: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < amount; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}
