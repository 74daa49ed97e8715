import assert from "node:assert/strict";
import fc from "fast-check";

import { CardHeights, listEntries, type ListEntry, runsOf, sightOf } from "@/lib/pages/campaigns/windows_client.ts";

const keysOf = (count: number) => Array.from({ length: count }, (_, i) => `c${i}`);
const cardsOf = (entries: readonly ListEntry[]) =>
  entries.flatMap((entry) => entry.kind === "card" ? [entry.index] : []);
const spaceOf = (entries: readonly ListEntry[]) =>
  entries.reduce((sum, entry) => sum + (entry.kind === "space" ? entry.height : 0), 0);

function heightsOf(height: number, keys: readonly string[] = [""]): CardHeights {
  const heights = new CardHeights();
  for (const key of keys) heights.set(key, height, true);
  return heights;
}

const sight = { top: 10_000, bottom: 11_000 };

Deno.test("list window: ten thousand cards take no more entries than a hundred, and one that must stay does", () => {
  assert.equal(cardsOf(listEntries(keysOf(1000), heightsOf(100), { sight, stays: new Set([3]) }))[0], 3);
  const of = (count: number) => listEntries(keysOf(count), heightsOf(100), { sight, stays: new Set([0]) }).length;
  assert.ok(of(10_000) <= 34);
});

Deno.test("list window: cards and spaces together are as high as the list, whatever is measured", () => {
  const measured = fc.array(fc.integer({ min: 40, max: 3000 }), { maxLength: 60 });
  fc.assert(fc.property(measured, fc.nat(100_000), fc.nat(60), fc.nat(20), (sizes, top, stay, unread) => {
    const heights = new CardHeights();
    for (const [i, size] of sizes.entries()) heights.set(`c${i}`, size, false);
    const keys = keysOf(sizes.length);
    const entries = listEntries(keys, heights, { sight: { top, bottom: top + 800 }, stays: new Set([stay]), unread });
    const cards = cardsOf(entries);
    const total = sizes.reduce((sum, size) => sum + size, 0) + unread * heights.of("");
    assert.equal(cards.reduce((sum, index) => sum + sizes[index], 0) + spaceOf(entries), total);
    assert.deepEqual(cards, cards.toSorted((a, b) => a - b));
    if (sizes.length > 0) assert.ok(cards.length > 0, "a list is never empty on the screen");
    if (stay < sizes.length) assert.ok(cards.includes(stay));
  }));
});

Deno.test("list window: a list that became shorter than the place is seen from its end", () => {
  const entries = listEntries(keysOf(50), heightsOf(100), { sight, stays: new Set() });
  assert.deepEqual(cardsOf(entries), Array.from({ length: 20 }, (_, i) => i + 30));
});

Deno.test("list window: a short list is rendered as a whole, for the browser's own search", () => {
  const entries = listEntries(keysOf(30), heightsOf(1000), { sight: { top: 0, bottom: 500 }, stays: new Set() });
  assert.equal(cardsOf(entries).length, 30);
});

Deno.test("list window: before anything is known all cards are rendered, and space is left for the unread ones", () => {
  const entries = listEntries(keysOf(50), heightsOf(90), { sight: null, stays: new Set(), unread: 10 });
  assert.equal(cardsOf(entries).length, 50);
  assert.equal(spaceOf(entries), 900);
});

Deno.test("list window: a height is news once", () => {
  const heights = new CardHeights();
  assert.equal(heights.set("a", 500, false), true);
  assert.equal(heights.set("a", 500, false), false);
  assert.notEqual(heights.of("b"), 500, "an open card is no measure of folded ones");
  for (let i = 0; i < 20; i++) heights.set(`folded ${i}`, i % 2 === 0 ? 70 : 80, true);
  assert.equal(heights.of("b"), 75);
  heights.set("another", 400, true);
  assert.equal(heights.of("b"), 75, "the estimate stays");
  heights.clear();
  assert.notEqual(heights.of("a"), 500);
});

Deno.test("list window: scrolling by a few px is the same sight", () => {
  const listAt = (top: number) => ({ getBoundingClientRect: () => ({ top }) as DOMRect });
  globalThis.innerHeight = 850;
  assert.deepEqual(sightOf(listAt(-1010)), sightOf(listAt(-1140)));
  assert.notDeepEqual(sightOf(listAt(-1010)), sightOf(listAt(-1210)));
});

const CHUNKS = [100, 200, 100, 300, 100];
const NONE: ReadonlySet<number> = new Set();
const shownOf = (top: number, bottom: number) =>
  runsOf(CHUNKS, { top, bottom }, 0, NONE).filter(({ isShown }) => isShown).map(({ first, end }) => [first, end]);

Deno.test("runs: far above or below the nearest item is shown, so that heights are measured", () => {
  assert.deepEqual(shownOf(-900, -100), [[0, 1]]);
  assert.deepEqual(shownOf(5000, 5050), [[4, 5]]);
});

Deno.test("runs: the item with the focus stays, and what is left out keeps its height", () => {
  const runs = runsOf(CHUNKS, { top: 420, bottom: 430 }, 0, new Set([0]));
  assert.deepEqual(runs.map(({ first, end, isShown, height }) => [first, end, isShown, height]), [
    [0, 1, true, 100],
    [1, 3, false, 300],
    [3, 4, true, 300],
    [4, 5, false, 100],
  ]);
});

Deno.test("runs: they hold every item once, in order, at its whole height", () => {
  const any = fc.tuple(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1 }), fc.integer(), fc.nat(3000));
  fc.assert(fc.property(any, ([heights, top, size]) => {
    const runs = runsOf(heights, { top, bottom: top + size }, 0, NONE);
    assert.deepEqual(runs.flatMap(({ first, end }) => Array.from({ length: end - first }, (_, n) => first + n)), [
      ...heights.keys(),
    ]);
    assert.equal(runs.reduce((sum, { height }) => sum + height, 0), heights.reduce((sum, height) => sum + height, 0));
    assert.ok(runs.some(({ isShown }) => isShown));
  }));
});
