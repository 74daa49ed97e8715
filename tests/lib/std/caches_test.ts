import assert from "node:assert/strict";
import { cacheFigures, CountedCache, timedCache } from "@/lib/std/caches.ts";

const figures = (name: string) => cacheFigures().find((figures) => figures.name === name);

Deno.test("counted cache: look-ups are counted, caches of a name together", () => {
  const one = new CountedCache<string, number>("one name", { max: 2 });
  const other = new CountedCache<string, number>("one name", { max: 3 });
  one.set("a", 1);
  other.set("a", 1);
  assert.equal(one.get("a"), 1);
  assert.equal(other.get("b"), undefined);
  assert.equal(one.get("b"), undefined);
  const name = "one name";
  assert.deepEqual(figures(name), { name, hits: 1, misses: 2, unit: "entries", size: 2, max: 5 });
});

Deno.test("counted cache: an entry that does not fit is a miss", () => {
  const name = "fitting";
  const cache = new CountedCache<string, number>(name, { max: 2 });
  cache.set("a", 1);
  assert.equal(cache.getFitting("a", (value) => value === 2), undefined);
  assert.equal(cache.getFitting("b", () => true), undefined);
  assert.equal(cache.getFitting("a", (value) => value === 1), 1);
  assert.deepEqual(figures(name), { name, hits: 1, misses: 2, unit: "entries", size: 1, max: 2 });
});

Deno.test("timed cache: expires an entry by the clock that was passed in, counted from the last set", () => {
  let now = 1;
  const cache = timedCache<string, number>("test", 2, 1000, () => now);
  cache.set("a", 1);
  now += 999;
  assert.equal(cache.get("a"), 1);
  now += 1;
  assert.equal(cache.get("a"), undefined);
  cache.set("a", 2);
  now += 600;
  cache.set("a", 3);
  now += 600;
  assert.equal(cache.get("a"), 3);
});

Deno.test("timed cache: expired entries that are not looked up again leave memory while others are added", () => {
  let now = 1;
  const cache = timedCache<string, number>("test", 10_000, 1000, () => now);
  const largest = { size: 0 };
  for (let n = 0; n < 5000; n++) {
    cache.set(`k${n}`, n);
    now += 10;
    largest.size = Math.max(largest.size, cache.size);
  }
  // A hundred are alive at a time.
  assert.ok(largest.size <= 201, `${largest.size} entries`);
  assert.equal(cache.get("k4999"), 4999);
  assert.equal(cache.get("k4850"), undefined);
});
