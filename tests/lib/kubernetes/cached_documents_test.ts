import assert from "node:assert/strict";
import { CachedDocuments } from "@/lib/kubernetes/cached_documents.ts";

function counted(size = 1) {
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
  const { reads, of } = counted();
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
  const { reads, of } = counted(4);
  await documents.read("a", "1", of("a"));
  await documents.read("b", "1", of("b"));
  await documents.read("a", "1", of("never"));
  await documents.read("c", "1", of("c"));
  assert.equal(documents.size, 8);
  await documents.read("a", "1", of("never"));
  await documents.read("b", "1", of("b again"));
  assert.deepEqual(reads, ["a", "b", "c", "b again"]);
  assert.equal(await documents.read("huge", "1", counted(11).of("huge")), "huge");
  assert.equal(documents.size, 8);
});

Deno.test("cached documents: an error reaches all who wait and is not cached", async () => {
  const documents = new CachedDocuments<string>("test", 10);
  const failing = () => Promise.reject(new Error("away"));
  const both = await Promise.allSettled([documents.read("a", "1", failing), documents.read("a", "1", failing)]);
  assert.deepEqual(both.map(({ status }) => status), ["rejected", "rejected"]);
  assert.equal(await documents.read("a", "1", counted().of("x")), "x");
});

Deno.test("cached documents: one that came with an event is not read", async () => {
  const documents = new CachedDocuments<string>("test", 10);
  documents.put("a", "2", { value: "x", size: 3 });
  documents.put("a", "3", { value: "y", size: 4 });
  assert.equal(await documents.read("a", "3", () => Promise.reject(new Error("read"))), "y");
  assert.equal(documents.size, 4);
});
