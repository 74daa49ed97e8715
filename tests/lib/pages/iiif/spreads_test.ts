import assert from "node:assert/strict";
import fc from "fast-check";
import { type Behavior, type Spread, spreadsOf } from "@/lib/pages/iiif/manifest.ts";

const volume = (...behaviors: (Behavior | null)[]) =>
  behaviors.map((behavior) => ({ behaviors: behavior === null ? [] : [behavior] }));
const spreads = (canvases: ReturnType<typeof volume>, isRightToLeft = false): readonly Spread[] =>
  spreadsOf(canvases, canvases.map((_, i) => i), isRightToLeft);

Deno.test("spreads: the cover stands alone, then pages pair, from right to left where the volume is read so", () => {
  assert.deepEqual(spreads(volume(null, null, null, null)), [[0], [1, 2], [3]]);
  assert.deepEqual(spreads(volume(null, null, null, null), true), [[0], [2, 1], [3]]);
  assert.deepEqual(spreads(volume(null)), [[0]]);
  assert.deepEqual(spreads([]), []);
});

Deno.test("spreads: an opening on one canvas stands alone, and pages pair anew after it", () => {
  assert.deepEqual(spreads(volume(null, "facing-pages", null, null)), [[0], [1], [2, 3]]);
  assert.deepEqual(spreads(volume(null, null, "facing-pages", null, null)), [[0], [1], [2], [3, 4]]);
  assert.deepEqual(spreads(volume("facing-pages", null, null)), [[0], [1, 2]]);
});

Deno.test("spreads: what is no page of the binding does not part two pages", () => {
  assert.deepEqual(spreads(volume(null, null, "non-paged", null, "non-paged")), [[0], [1, 3], [2], [4]]);
  assert.deepEqual(spreads(volume("non-paged", null, null, null)), [[0], [1], [2, 3]]);
});

Deno.test("spreads: every canvas is shown once, at most two together", () => {
  const behavior = fc.constantFrom<Behavior | null>(null, null, "facing-pages", "non-paged");
  fc.assert(fc.property(fc.array(behavior), fc.boolean(), (behaviors, isRightToLeft) => {
    const found = spreads(volume(...behaviors), isRightToLeft);
    assert.deepEqual(found.flat().sort((a, b) => a - b), behaviors.map((_, i) => i));
    assert.ok(found.every(({ length }) => length === 1 || length === 2));
  }));
});
