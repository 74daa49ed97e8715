import assert from "node:assert/strict";
import { SharedReads } from "@/lib/std/caches.ts";

function counted() {
  let reads = 0;
  return { work: () => Promise.resolve(++reads), count: () => reads };
}

Deno.test("shared reads: a result is shown until it is as old as its lifetime, counted from the read's start", async () => {
  let now = 0;
  const shared = new SharedReads<number>(2000, () => now, 100);
  const { work } = counted();
  const slow = Promise.withResolvers<number>();
  const first = shared.read("a", () => slow.promise);
  now = 1500;
  slow.resolve(100);
  assert.equal(await first, 100);
  now = 2000;
  assert.equal(await shared.read("a", work), 100);
  now = 2001;
  assert.equal(await shared.read("a", work), 1);
});

Deno.test("shared reads: a read that takes longer than the lifetime is joined, and not shown again", async () => {
  let now = 0;
  const shared = new SharedReads<number>(2000, () => now, 100);
  const { work, count } = counted();
  const slow = Promise.withResolvers<number>();
  const first = shared.read("a", () => slow.promise);
  now = 9000;
  const joined = shared.read("a", work);
  slow.resolve(100);
  assert.deepEqual(await Promise.all([first, joined]), [100, 100]);
  assert.equal(count(), 0);
  assert.equal(await shared.read("a", work), 1);
});

Deno.test("shared reads: only so many results are cached, and reads under way are always joined", async () => {
  const shared = new SharedReads<number>(2000, () => 0, 2);
  const slow = Promise.withResolvers<number>();
  const first = shared.read("slow", () => slow.promise);
  for (let i = 0; i < 10; i++) await shared.read(String(i), () => Promise.resolve(i));
  assert.ok(shared.size <= 4, String(shared.size));
  const joined = shared.read("slow", () => Promise.resolve(-1));
  slow.resolve(5);
  assert.deepEqual(await Promise.all([first, joined]), [5, 5]);
});
