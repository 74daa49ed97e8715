import assert from "node:assert/strict";
import { timedCache } from "@/lib/std/caches.ts";

Deno.test("timed cache: evicts the least recently used entry beyond its capacity", () => {
  const cache = timedCache<string, number>("test", 2, 1000, () => 1);
  cache.set("a", 1);
  cache.set("b", 2);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3);
  assert.equal(cache.get("b"), undefined);
  assert.deepEqual([cache.get("a"), cache.get("c"), cache.size], [1, 3, 2]);
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
