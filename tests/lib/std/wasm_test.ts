import assert from "node:assert/strict";
import fc from "fast-check";
import { type Code, compileWasm, get, i32, repeatWhile, set, v128, VECTOR_BYTES } from "@/lib/std/wasm.ts";

const LANES = 4;
const ZERO = i32.constant(0);
const numbers = fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: LANES, maxLength: LANES });

/** A function that stores what `result` makes of the vectors at 0 and 16. */
function ofTwo(result: (x: Code, y: Code) => Code): (x: readonly number[], y: readonly number[]) => number[] {
  const [x, y] = [v128.load(ZERO, 0), v128.load(ZERO, VECTOR_BYTES)];
  const body = v128.store(ZERO, 2 * VECTOR_BYTES, result(x, y));
  const { run, memory } = compileWasm({ parameters: 0, numbers: 0, vectors: 0, body });
  const words = new Int32Array(memory);
  return (x, y) => {
    words.set([...x, ...y]);
    run();
    return [...words.subarray(2 * LANES, 3 * LANES)];
  };
}

Deno.test("WebAssembly: an operation on vectors does to each number what JavaScript does to one", () => {
  const operations: [(x: Code, y: Code) => Code, (x: number, y: number) => number][] = [
    [v128.add, (x, y) => (x + y) | 0],
    [v128.and, (x, y) => x & y],
    [v128.or, (x, y) => x | y],
    [v128.xor, (x, y) => x ^ y],
    [v128.isGreater, (x, y) => x > y ? -1 : 0],
    [(x) => v128.shiftLeft(x, 7), (x) => x << 7],
    [(x) => v128.shiftRight(x, 25), (x) => (x >>> 25) | 0],
  ];
  for (const [code, wanted] of operations) {
    const computed = ofTwo(code);
    fc.assert(fc.property(numbers, numbers, (x, y) => {
      assert.deepEqual(computed(x, y), x.map((number, index) => wanted(number, y[index])));
    }));
  }
});

Deno.test("WebAssembly: bytes are chosen from two vectors, and one number fills a vector", () => {
  const words = [16, 1, 18, 3].flatMap((byte) => [byte, byte, byte, byte]);
  assert.deepEqual(ofTwo((x, y) => v128.bytes(x, y, words))([0x0102_0304, 0, 0, 0], [5, 0, 0, 0]), [
    0x0505_0505,
    0x0303_0303,
    0,
    0x0101_0101,
  ]);
  assert.deepEqual(ofTwo(() => v128.loadSame(ZERO, 4))([6, 7, 8, 9], [0, 0, 0, 0]), [7, 7, 7, 7]);
});

Deno.test("WebAssembly: constants of any size are written as they are, and a loop ends with its condition", () => {
  fc.assert(fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (number) => {
    assert.deepEqual(ofTwo(() => v128.same(i32.constant(number)))([], []), Array(LANES).fill(number));
  }));
  // Counts from 0 to the parameter in steps of 3, at least once.
  const counting = compileWasm({
    parameters: 1,
    numbers: 1,
    vectors: 0,
    body: [
      ...repeatWhile(set(1, i32.add(get(1), i32.constant(3))), i32.isLess(get(1), get(0))),
      ...v128.store(ZERO, 0, v128.same(get(1))),
    ],
  });
  const [at0, at9, at10] = [0, 9, 10].map((end) => {
    counting.run(end);
    return new Int32Array(counting.memory)[0];
  });
  assert.deepEqual([at0, at9, at10], [3, 9, 12]);
});
