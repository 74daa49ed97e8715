import assert from "node:assert/strict";
import { PageCache } from "@/embedded/archive/page_cache.ts";

Deno.test("page cache: draws once for concurrent requests and evicts the least recently used image", async () => {
  const cache = new PageCache(25);
  let drawn = 0;
  const draw = () => {
    drawn++;
    return Promise.resolve(new Uint8Array(10));
  };
  await Promise.all([cache.get("a", draw), cache.get("a", draw), cache.get("b", draw)]);
  assert.equal(drawn, 2);
  await assert.rejects(cache.get("bad", () => Promise.reject(new Error("no"))), /no/);
  await cache.get("a", draw);
  assert.equal(drawn, 2);
  await cache.get("c", draw);
  assert.equal(cache.bytes, 20);
  await cache.get("a", draw);
  assert.equal(drawn, 3);
  await cache.get("b", draw);
  assert.equal(drawn, 4);
});

Deno.test("page cache: draws two images at a time and completes all", async () => {
  const cache = new PageCache(1000);
  let now = 0;
  let most = 0;
  const pages = await Promise.all(Array.from({ length: 9 }, (_, index) =>
    cache.get(String(index), async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      return Uint8Array.of(index);
    })));
  assert.deepEqual(pages.map(([first]) => first), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(most, 2);
});
