import assert from "node:assert/strict";
import { timedCache } from "@/lib/std/timed_cache.ts";

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
