import assert from "node:assert/strict";
import { BoundedCache } from "@/lib/std/bounded_cache.ts";

Deno.test("bounded cache: forgets what was used least recently, never holds more than its capacity", () => {
  const cache = new BoundedCache<string, number>(2);
  cache.set("a", 1);
  cache.set("b", 2);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3);
  assert.equal(cache.get("b"), undefined);
  assert.deepEqual([cache.get("a"), cache.get("c"), cache.size], [1, 3, 2]);
  cache.set("a", 4);
  assert.deepEqual([cache.get("a"), cache.size], [4, 2]);
  cache.delete("a");
  assert.deepEqual([cache.get("a"), cache.size], [undefined, 1]);
});
