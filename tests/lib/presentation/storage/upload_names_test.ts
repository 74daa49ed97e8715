import fc from "fast-check";
import { Buffer } from "node:buffer";
import assert from "node:assert/strict";

import { compareKeys, fitsUrl, keyProblem, nameProblem } from "@/lib/presentation/storage/upload_names.ts";
import { freeKey } from "@/lib/std/free_key.ts";

Deno.test("upload names: keys are ordered as a store lists them", () => {
  assert.ok(compareKeys("\u{1f600}", "\uffee") > 0, "beyond the first plane");
  fc.assert(fc.property(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "binary" }),
    (a, b) => assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b))),
  ));
});

Deno.test("upload names: a number before the extension makes a free key", () => {
  const taken = new Set(["a/scan.tif", "a/scan (2).tif"]);
  assert.equal(freeKey("a/scan.tif", (key) => taken.has(key)), "a/scan (3).tif");
  assert.equal(freeKey("a.b/scan", () => false), "a.b/scan (2)");
  assert.equal(freeKey("a/.profile", () => false), "a/.profile (2)");
});

Deno.test("upload names: what cannot be a key, and what no URL can carry", () => {
  assert.equal(keyProblem("å".repeat(512)), null);
  assert.equal(keyProblem(`${"å".repeat(512)}x`), "too long");
  assert.equal(keyProblem("a\ud800"), "half a character");
  for (const key of [".", "..", "a/./b", "../a", "a/.."]) assert.equal(fitsUrl(key), false, key);
  for (const key of ["a", ".a", "a..", "a/...", "a//b"]) assert.equal(fitsUrl(key), true, key);
});

Deno.test("upload names: a name in a folder has no slash, and fits with its folders", () => {
  assert.deepEqual(
    ["", "a/b", "\ud800", "é".repeat(511), "Åkta <b>"].map((name) => nameProblem("x/", name)),
    ["empty", "slash", "half a character", "too long", null],
  );
});
