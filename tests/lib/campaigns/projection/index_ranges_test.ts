import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_INDEX_RANGES, readIndexRanges } from "@/lib/campaigns/projection/index_ranges.ts";

function members(text: string | null | undefined, below = 20): number[] {
  const set = readIndexRanges(text);
  return Array.from({ length: below }, (_, index) => index).filter(set.has);
}

Deno.test("index ranges: single indexes, ranges and spaces are read", () => {
  const cases: [string | null | undefined, number[]][] = [
    ["", []],
    [null, []],
    [undefined, []],
    ["0", [0]],
    ["0-2,5", [0, 1, 2, 5]],
    [" 0 - 2 , 5 ", [0, 1, 2, 5]],
    ["5,0-2", [0, 1, 2, 5]],
    ["040,1", [1]],
    ["3-3", [3]],
    [",,7,", [7]],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(members(text), expected, `${text}`);
  }
  assert.ok(readIndexRanges("040").has(40));
});

Deno.test("index ranges: texts that are not ranges are skipped", () => {
  for (
    const piece of [
      "x",
      "-1",
      "1-",
      "5-2",
      "1-2-3",
      "1.5",
      "1e3",
      "0x4",
      "９",
      "9".repeat(30),
    ]
  ) {
    assert.deepEqual(members(`${piece},3`), [3], piece);
    assert.equal(readIndexRanges(`${piece},3`).size, 1, piece);
  }
});

Deno.test("index ranges: a huge range costs nothing and a text of endless ranges is cut", () => {
  const huge = readIndexRanges("0-999999999999999");
  assert.equal(huge.size, 1_000_000_000_000_000);
  assert.ok(huge.has(4_000_000_000));
  const text = Array.from({ length: MAX_INDEX_RANGES + 5 }, (_, i) => i * 2)
    .join(",");
  assert.equal(readIndexRanges(text).size, MAX_INDEX_RANGES);
});

Deno.test("index ranges: any set of indexes is read back from its ranges", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.nat(60), fc.nat(8)), { maxLength: 20 }),
    (pieces) => {
      const expected = new Set<number>();
      for (const [first, more] of pieces) {
        for (let i = first; i <= first + more; i++) {
          expected.add(i);
        }
      }
      const text = pieces.map(([first, more]) => more ? `${first}-${first + more}` : `${first}`).join(",");
      const set = readIndexRanges(text);
      assert.equal(set.size, expected.size);
      for (let i = 0; i < 80; i++) assert.equal(set.has(i), expected.has(i));
    },
  ));
});

Deno.test("index ranges: no text makes it throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.ok(readIndexRanges(text).size >= 0);
  }));
});
