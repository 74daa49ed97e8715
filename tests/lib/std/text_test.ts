import assert from "node:assert/strict";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import { compareText, csvField, withoutTrailingSlash } from "@/lib/std/text.ts";

/** A field's text as a reader of RFC 4180 sees it. */
function readBack(field: string): string {
  return /^"(.*)"$/s.exec(field)?.[1].replaceAll('""', '"') ?? field;
}

Deno.test("csv field: no text is run as a formula, whatever stands before its sign", () => {
  const before = ["", " ", "\t", "\r", "\n", "\u00a0", "\u3000", "\ufeff", "\u200b", "\u0000", " \u2003\u202e "];
  for (const sign of "=+-@＝＋－＠﹦﹢﹣﹫−") {
    for (const blank of before) {
      const text = `${blank}${sign}1+1|A1`;
      assert.equal(readBack(csvField(text)), `'${text}`, JSON.stringify(text));
    }
  }
  for (const text of ["a=1", "1-1", "x@y", "", "'=1", "åäö"]) assert.equal(readBack(csvField(text)), text);
  assert.deepEqual([-1, 0.5, true, null, undefined].map(csvField), ["-1", "0.5", "true", "", ""]);
});

Deno.test("csv field: any text is one field, and comes back behind its apostrophe", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const field = csvField(text);
    if (!field.startsWith('"')) assert.doesNotMatch(field, /[",;\t\r\n]/);
    assert.ok([text, `'${text}`].includes(readBack(field)));
    assert.doesNotMatch(readBack(field), /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u);
  }));
});

Deno.test("text order: it agrees with the order of UTF-8 bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 6 });
  fc.assert(fc.property(text, text, (a, b) => {
    const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.equal(Math.sign(compareText(a, b)), Math.sign(bytes));
  }));
});

Deno.test("without trailing slash: only the slashes at the end go, however many there are", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("/", "a") }), fc.nat(5), (text, more) => {
    assert.equal(withoutTrailingSlash(`${text}a${"/".repeat(more)}`), `${text}a`);
  }));
  assert.equal(withoutTrailingSlash("///"), "");
});
