/**
 * Writes a function of WebAssembly as a list of its instructions (WebAssembly Core Specification, Binary Format), for
 * computations on vectors: JavaScript has no instruction that adds four numbers at once. Only what is used is here.
 *
 * WebAssembly is a stack machine: instructions take their operands from a stack and leave their result there. So the code
 * of `x + y` is that of x, that of y and the addition.
 */
export type Code = readonly number[];

/** Bytes of a vector, which is four numbers of 32 bits. */
export const VECTOR_BYTES = 16;

const I32 = 0x7f;
const V128 = 0x7b;
const NO_RESULT = 0x40;
const END = 0x0b;

/** Numbers that are not vectors. */
export const i32 = {
  constant: (value: number): Code => [0x41, ...signed(value)],
  add: (x: Code, y: Code): Code => [...x, ...y, 0x6a],
  /** 1 where x < y, else 0. */
  isLess: (x: Code, y: Code): Code => [...x, ...y, 0x48],
};

/** Vectors. What is computed of two is computed of each of their four numbers. */
export const v128 = {
  /** The 16 bytes at `address + offset`. */
  load: (address: Code, offset: number): Code => [...address, ...vector(0), ...inMemory(offset)],
  /** The number at `address + offset`, four times. */
  loadSame: (address: Code, offset: number): Code => [...address, ...vector(9), ...inMemory(offset)],
  store: (
    address: Code,
    offset: number,
    value: Code,
  ): Code => [...address, ...value, ...vector(11), ...inMemory(offset)],
  /** A number, four times. */
  same: (x: Code): Code => [...x, ...vector(17)],
  /** Of the 32 bytes of x and y those with these indices. */
  bytes: (x: Code, y: Code, indices: readonly number[]): Code => [...x, ...y, ...vector(13), ...indices],
  add: (x: Code, y: Code): Code => [...x, ...y, ...vector(174)],
  and: (x: Code, y: Code): Code => [...x, ...y, ...vector(78)],
  or: (x: Code, y: Code): Code => [...x, ...y, ...vector(80)],
  xor: (x: Code, y: Code): Code => [...x, ...y, ...vector(81)],
  shiftLeft: (x: Code, bits: number): Code => [...x, ...i32.constant(bits), ...vector(171)],
  /** Fills up with zeros. */
  shiftRight: (x: Code, bits: number): Code => [...x, ...i32.constant(bits), ...vector(173)],
  /** All bits set where x > y, else none. */
  isGreater: (x: Code, y: Code): Code => [...x, ...y, ...vector(59)],
};

/** The value of a variable: parameters come first, then numbers, then vectors. */
export function get(variable: number): Code {
  return [0x20, ...unsigned(variable)];
}

export function set(variable: number, value: Code): Code {
  return [...value, 0x21, ...unsigned(variable)];
}

/** Runs once, and again as long as `condition` is not 0. */
export function repeatWhile(body: Code, condition: Code): Code {
  return [0x03, NO_RESULT, ...body, ...condition, 0x0d, 0, END];
}

interface VectorFunction {
  /** How many numbers it takes. It returns nothing. */
  readonly parameters: number;
  /** How many further variables it has, which begin as 0. */
  readonly numbers: number;
  readonly vectors: number;
  readonly body: Code;
}

/** Compiles a function with one page of memory of its own. */
export function compileWasm(
  { parameters, numbers, vectors, body }: VectorFunction,
): { readonly run: (...parameters: number[]) => void; readonly memory: ArrayBuffer } {
  const type = [0x60, ...list(Array(parameters).fill([I32])), ...list([])];
  const variables = list([[...unsigned(numbers), I32], [...unsigned(vectors), V128]]);
  const code = [...variables, ...body, END];
  const module = Uint8Array.from([
    ...[0, ...ascii("asm")],
    // The version of the format.
    ...[1, 0, 0, 0],
    ...section(1, [type]),
    // The function is of type 0, the memory has one page at least and at most.
    ...section(3, [[0]]),
    ...section(5, [[1, 1, 1]]),
    ...section(7, [[...text("memory"), 2, 0], [...text("run"), 0, 0]]),
    ...section(10, [[...unsigned(code.length), ...code]]),
  ]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module));
  const { run, memory } = exports as { run: (...parameters: number[]) => void; memory: WebAssembly.Memory };
  return { run, memory: memory.buffer as ArrayBuffer };
}

function section(id: number, items: readonly Code[]): Code {
  const content = list(items);
  return [id, ...unsigned(content.length), ...content];
}

function list(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function text(value: string): Code {
  return [...unsigned(value.length), ...ascii(value)];
}

function ascii(value: string): Code {
  return Array.from(value, (character) => character.charCodeAt(0));
}

function vector(operation: number): Code {
  return [0xfd, ...unsigned(operation)];
}

/** Aligned to single bytes, at so many from the address. */
function inMemory(offset: number): Code {
  return [0, ...unsigned(offset)];
}

/** LEB128: seven bits a byte, the lowest first; the highest bit says that more follow. */
function unsigned(value: number): Code {
  return value < 128 ? [value] : [value % 128 + 128, ...unsigned(Math.floor(value / 128))];
}

/** The same in two's complement. */
function signed(value: number): Code {
  return value >= -64 && value < 64 ? [value & 127] : [value & 127 | 128, ...signed(value >> 7)];
}
