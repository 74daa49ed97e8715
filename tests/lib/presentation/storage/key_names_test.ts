import assert from "node:assert/strict";
import fc from "fast-check";
import { folderOf, foldersOf, nameParts, plainName } from "@/lib/presentation/storage/key_names.ts";

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
    "a\u0301": "a\u0301",
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
