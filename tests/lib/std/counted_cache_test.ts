import assert from "node:assert/strict";
import { cacheFigures, CountedCache } from "@/lib/std/caches.ts";

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
