import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { justBefore, readBuckets, readFolderPage } from "@/lib/presentation/storage/listing.ts";

const TEXT = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
const inBytes = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

Deno.test("listing: rows come in the order of the store, without the folder's own marker", () => {
  const answer = {
    objects: [
      { Key: "a/", Size: 0, LastModified: "2026-11-23T11:15:24Z" },
      { Key: "a/b.txt", Size: 3, LastModified: null },
      { Key: "a/\u{1F600}", Size: 1 },
      { Key: "a/\uFFFD", Size: 1 },
      { Size: 4 },
    ],
    common_prefixes: ["a/b/", 7],
    is_truncated: true,
    next_continuation_token: "t",
  };
  const page = readFolderPage(answer, "a/");
  assert.deepEqual(page?.rows.map(({ kind, key }) => `${kind} ${key}`), [
    "object a/b.txt",
    "folder a/b/",
    "object a/\uFFFD",
    "object a/\u{1F600}",
  ]);
  assert.equal(page?.next, "t");
  assert.equal(readFolderPage({ ...answer, is_truncated: false }, "a/")?.next, null);
  assert.equal(readFolderPage({ ...answer, objects: [{ Key: "a/", Size: 5 }] }, "a/")?.rows.at(-1)?.key, "a/b/");
  for (const other of [null, [], {}, { objects: [] }, "x"]) assert.equal(readFolderPage(other, ""), null);
});

Deno.test("listing: rows are sorted by the bytes of their keys", () => {
  fc.assert(fc.property(fc.uniqueArray(TEXT, { minLength: 1 }), (keys) => {
    const objects = keys.map((Key) => ({ Key, Size: 1 }));
    const page = readFolderPage({ objects, common_prefixes: [], is_truncated: false }, "");
    assert.deepEqual(page?.rows.map(({ key }) => key), [...keys].sort(inBytes));
  }));
});

Deno.test("listing: a listing that begins just before a name holds all that begin with it, and little before", () => {
  fc.assert(fc.property(TEXT, TEXT, (name, rest) => {
    const before = justBefore(name);
    assert.equal(inBytes(before, name), -1);
    assert.equal(inBytes(before, name + rest), -1);
  }));
  assert.equal(justBefore("ab"), "aa\u{10FFFD}");
  assert.equal(justBefore("a\uE000"), "a\uD7FF\u{10FFFD}");
  assert.equal(justBefore("a\u0001"), "a");
});

Deno.test("listing: buckets without a name are left out", () => {
  const answer = { buckets: [{ Name: "maps", CreationDate: "2026-11-23T11:15:24Z" }, {}, { Name: "x" }] };
  assert.deepEqual(readBuckets(answer), [
    { name: "maps", created: "2026-11-23T11:15:24Z" },
    { name: "x", created: null },
  ]);
  assert.equal(readBuckets({ detail: "no" }), null);
});
