import assert from "node:assert/strict";
import fc from "fast-check";

import { readTextBeginning } from "@/lib/pages/storage/preview/text_beginning.ts";

const bytes = (...values: number[]) => new Uint8Array(values);
const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("text: UTF-8, UTF-16 by its mark, else Windows-1252", () => {
  assert.deepEqual(readTextBeginning(utf8("\ufeffå\r\nb\rc"), false), { text: "å\nb\nc", encoding: "UTF-8" });
  assert.deepEqual(readTextBeginning(bytes(0xff, 0xfe, 0xe5, 0), false), { text: "å", encoding: "UTF-16" });
  assert.deepEqual(readTextBeginning(bytes(0xfe, 0xff, 0, 0xe5), false), { text: "å", encoding: "UTF-16" });
  assert.deepEqual(readTextBeginning(bytes(0xe5, 0x20, 0x61), false), { text: "å a", encoding: "Windows-1252" });
});

Deno.test("text: a character that is cut at the end is left out, one that is broken is not UTF-8", () => {
  const cut = utf8("abå").subarray(0, 3);
  assert.deepEqual(readTextBeginning(cut, true), { text: "ab", encoding: "UTF-8" });
  assert.equal(readTextBeginning(cut, false)?.encoding, "Windows-1252");
});

Deno.test("text: what cannot be seen or turns the text around is written out", () => {
  assert.equal(
    readTextBeginning(utf8(`${"a".repeat(100)}\u0007\u202e\u001b\tb`), false)?.text.slice(100),
    "⟨U+0007⟩⟨U+202E⟩⟨U+001B⟩\tb",
  );
});

Deno.test("text: bytes of other files are none", () => {
  assert.equal(readTextBeginning(bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0), false), null);
  assert.equal(readTextBeginning(bytes(1, 2, 3, 4, 0x61), false), null);
});

Deno.test("text: any bytes are read without an error and without a control that is not written out", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (any, isCut) => {
    const text = readTextBeginning(any, isCut)?.text ?? "";
    assert.doesNotMatch(text, /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u);
  }));
});

Deno.test("text: what was written as UTF-8 is read as it was, wherever it is cut", () => {
  const words = fc.string({ unit: fc.constantFrom("a", "å", "語", "🎉", "\n", " ") });
  fc.assert(fc.property(words, fc.nat(), (text, at) => {
    const all = utf8(text);
    const read = readTextBeginning(all.subarray(0, at % (all.length + 1)), true);
    assert.equal(read?.encoding, "UTF-8");
    assert.ok(text.startsWith(read?.text ?? "-"));
  }));
});
