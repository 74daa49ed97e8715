import assert from "node:assert/strict";
import { CachedDocuments, SharedReads } from "@/lib/std/caches.ts";

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

function documentOf(size = 1) {
  const reads: string[] = [];
  return {
    reads,
    of: (value: string) => () => {
      reads.push(value);
      return Promise.resolve({ value, size });
    },
  };
}

Deno.test("cached documents: one read for a version, another for the next", async () => {
  const documents = new CachedDocuments<string>("test", 10);
  const { reads, of } = documentOf();
  assert.deepEqual(await Promise.all([documents.read("a", "1", of("x")), documents.read("a", "1", of("x"))]), [
    "x",
    "x",
  ]);
  assert.equal(await documents.read("a", "1", of("never")), "x");
  assert.equal(await documents.read("a", "2", of("y")), "y");
  assert.deepEqual(reads, ["x", "y"]);
  assert.equal(documents.size, 1);
});

Deno.test("cached documents: within the budget the last used stay, and one beyond it is not cached", async () => {
  const documents = new CachedDocuments<string>("test", 10);
  const { reads, of } = documentOf(4);
  await documents.read("a", "1", of("a"));
  await documents.read("b", "1", of("b"));
  await documents.read("a", "1", of("never"));
  await documents.read("c", "1", of("c"));
  assert.equal(documents.size, 8);
  await documents.read("a", "1", of("never"));
  await documents.read("b", "1", of("b again"));
  assert.deepEqual(reads, ["a", "b", "c", "b again"]);
  assert.equal(await documents.read("huge", "1", documentOf(11).of("huge")), "huge");
  assert.equal(documents.size, 8);
});

Deno.test("cached documents: an error reaches all who wait and is not cached", async () => {
  const documents = new CachedDocuments<string>("test", 10);
  const failing = () => Promise.reject(new Error("away"));
  const both = await Promise.allSettled([documents.read("a", "1", failing), documents.read("a", "1", failing)]);
  assert.deepEqual(both.map(({ status }) => status), ["rejected", "rejected"]);
  assert.equal(await documents.read("a", "1", documentOf().of("x")), "x");
});

Deno.test("cached documents: one that came with an event is not read", async () => {
  const documents = new CachedDocuments<string>("test", 10);
  documents.put("a", "2", { value: "x", size: 3 });
  documents.put("a", "3", { value: "y", size: 4 });
  assert.equal(await documents.read("a", "3", () => Promise.reject(new Error("read"))), "y");
  assert.equal(documents.size, 4);
});
