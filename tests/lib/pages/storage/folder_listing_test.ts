import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { folderPageOf, justBefore } from "@/lib/pages/storage/folder_listing.ts";

const TEXT = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
const inBytes = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

function pageOf(keys: readonly (readonly [key: string, size: number])[], common_prefixes: string[] = []) {
  const objects = keys.map(([Key, Size]) => ({
    Key,
    Size,
    LastModified: null,
    ETag: null,
    StorageClass: null,
    Owner: null,
  }));
  return { objects, common_prefixes, is_truncated: true, next_continuation_token: "t", key_count: keys.length };
}

Deno.test("listing: rows come in the order of the store, without the folder's own marker", () => {
  const page = pageOf([["a/", 0], ["a/b.txt", 3], ["a/\u{1F600}", 1], ["a/\uFFFD", 1]], ["a/b/"]);
  const { rows, next } = folderPageOf(page, "a/");
  assert.deepEqual(rows.map(({ kind, key }) => `${kind} ${key}`), [
    "object a/b.txt",
    "folder a/b/",
    "object a/\uFFFD",
    "object a/\u{1F600}",
  ]);
  assert.equal(next, "t");
  assert.equal(folderPageOf({ ...page, is_truncated: false }, "a/").next, null);
  assert.equal(folderPageOf(pageOf([["a/", 5]]), "a/").rows.length, 1, "an object of that name");
});

Deno.test("listing: rows are sorted by the bytes of their keys", () => {
  fc.assert(fc.property(fc.uniqueArray(TEXT, { minLength: 1 }), (keys) => {
    const { rows } = folderPageOf(pageOf(keys.map((key) => [key, 1])), "");
    assert.deepEqual(rows.map(({ key }) => key), [...keys].sort(inBytes));
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
