import assert from "node:assert/strict";
import fc from "fast-check";

import { chunkRuns, chunksBetween } from "@/lib/client/row_window.ts";

const heights = [100, 200, 100, 300, 100];

Deno.test("row window: the chunks of which something is seen", () => {
  assert.deepEqual(chunksBetween(heights, 0, 100), { first: 0, last: 1 });
  assert.deepEqual(chunksBetween(heights, 99, 301), { first: 0, last: 3 });
  assert.deepEqual(chunksBetween(heights, 350, 650), { first: 2, last: 4 });
});

Deno.test("row window: far above or below the nearest chunk is drawn, so that heights are measured", () => {
  assert.deepEqual(chunksBetween(heights, -900, -100), { first: 0, last: 1 });
  assert.deepEqual(chunksBetween(heights, 5000, 6000), { first: 4, last: 5 });
});

Deno.test("row window: the chunk with the focus stays drawn, and what is left out keeps its height", () => {
  const runs = chunkRuns(heights, { first: 3, last: 4 }, 0);
  assert.deepEqual(runs.map(({ first, last, isDrawn, height }) => [first, last, isDrawn, height]), [
    [0, 1, true, 100],
    [1, 3, false, 300],
    [3, 4, true, 300],
    [4, 5, false, 100],
  ]);
});

Deno.test("row window: runs hold every chunk once, in order, at its whole height", () => {
  const any = fc.tuple(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1 }), fc.integer(), fc.nat(3000));
  fc.assert(fc.property(any, ([heights, top, size]) => {
    const runs = chunkRuns(heights, chunksBetween(heights, top, top + size), null);
    assert.deepEqual(runs.flatMap(({ first, last }) => Array.from({ length: last - first }, (_, n) => first + n)), [
      ...heights.keys(),
    ]);
    assert.equal(runs.reduce((sum, { height }) => sum + height, 0), heights.reduce((sum, height) => sum + height, 0));
    assert.ok(runs.some(({ isDrawn }) => isDrawn));
  }));
});
