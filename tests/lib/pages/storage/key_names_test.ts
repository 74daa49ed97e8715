import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  compareKeys,
  fitsUrl,
  folderOf,
  foldersOf,
  keyProblem,
  nameParts,
  nameProblem,
  plainName,
} from "@/lib/pages/storage/key_names.ts";
import { freeKey } from "@/lib/std/text.ts";

Deno.test("key names: what cannot be seen is written out, everything else is as it is", () => {
  const shown: Record<string, string> = {
    "Längdmått 1651.tif": "Längdmått 1651.tif",
    " a": "␣a",
    "a ": "a␣",
    "a  b": "a␣␣b",
    "line\nbreak\t\u0000\u007f": "line⟨U+000A⟩break⟨U+0009⟩⟨U+0000⟩⟨U+007F⟩",
    "invoice\u202Egpj.exe": "invoice⟨U+202E⟩gpj.exe",
    "zero\u200Bwidth": "zero⟨U+200B⟩width",
    "no\u00A0break": "no⟨U+00A0⟩break",
    "\u0301a": "⟨U+0301⟩a",
    "\u00e1": "\u00e1",
    "a\u0301": "a\u0301⟨NFD⟩",
    "Ra\u0308kning/b\u00e4.pdf": "Ra\u0308kning⟨NFD⟩/b\u00e4.pdf",
    "la\u0308s/": "la\u0308s⟨NFD⟩/",
    "\u212bngstro\u0308m.txt": "⟨U+212B⟩ngstro⟨U+0308⟩m.txt",
    "o\u0308\u00e5": "o⟨U+0308⟩⟨U+00E5⟩",
    "👩‍👩‍👧.png": "👩‍👩‍👧.png",
    "a\u200Db": "a⟨U+200D⟩b",
    "\uFFFFx": "⟨U+FFFF⟩x",
    "": "",
  };
  for (const [name, text] of Object.entries(shown)) assert.equal(plainName(name), text);
  assert.deepEqual(nameParts("a b\n"), [{ text: "a b", isStandIn: false }, { text: "⟨U+000A⟩", isStandIn: true }]);
});

Deno.test("key names: names that differ look different, unless one writes out what the other holds", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
    const isWrittenOut = /[␣⟨]/u;
    if (a === b || isWrittenOut.test(a) || isWrittenOut.test(b)) return;
    assert.notEqual(plainName(a), plainName(b));
  }));
});

Deno.test("key names: names of one normal form differ by printable ASCII or a written-out part", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "å", "a\u030a", "\u212b", "\uac00", "\u1100\u1161", "/") });
  fc.assert(fc.property(letters, letters, (a, b) => {
    if (a === b) return;
    assert.notEqual(plainName(a).normalize("NFC"), plainName(b).normalize("NFC"));
  }));
});

Deno.test("key names: the folders around a key, empty names included", () => {
  assert.deepEqual(foldersOf("a//b/"), [
    { name: "a", prefix: "a/" },
    { name: "", prefix: "a//" },
    { name: "b", prefix: "a//b/" },
  ]);
  assert.deepEqual(foldersOf(""), []);
  assert.deepEqual(foldersOf("/"), [{ name: "", prefix: "/" }]);
  assert.deepEqual(["a/b/c", "a/b/", "a", "a//", "/"].map(folderOf), ["a/b/", "a/", "", "a/", ""]);
});

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
