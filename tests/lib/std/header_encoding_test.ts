import assert from "node:assert/strict";
import fc from "fast-check";
import {
  asciiDisposition,
  decodeWords,
  encodeWords,
  parseByteRange,
  utf8Text,
  utf8Value,
} from "@/lib/std/header_encoding.ts";

const text = fc.string({ unit: "grapheme" }).filter((value) => value.isWellFormed());

Deno.test("encoded words: any text comes back, in ASCII and in words of at most 75 characters", () => {
  fc.assert(fc.property(fc.oneof(text, fc.string(), text.map((value) => `=?UTF-8?B?${value}?=`)), (value) => {
    const encoded = encodeWords(value);
    assert.match(encoded, /^[\t\x20-\x7e]*$/);
    assert.equal(decodeWords(encoded), value);
    if (encoded !== value) { for (const word of encoded.split(" ")) assert.ok(word.length <= 75, word); }
  }));
  assert.equal(encodeWords("plain =? text"), "plain =? text");
});

Deno.test("encoded words: other charsets, the Q encoding, languages and cut characters are read", () => {
  const cases: Record<string, string> = {
    "=?utf-8?Q?=C3=85bo_stad?=": "Åbo stad",
    "=?ISO-8859-1?q?=C5bo?=": "Åbo",
    "=?UTF-8*sv?B?w4Vibw==?= (1794)": "Åbo (1794)",
    "=?UTF-8?B?w4U=?= \t=?UTF-8?B?Ym8=?=": "Åbo",
    "=?UTF-8?B?ww==?= =?UTF-8?B?hWJv?=": "Åbo",
    "=?UTF-8?Q?a?= b =?UTF-8?Q?c?=": "a b c",
  };
  for (const [value, wanted] of Object.entries(cases)) assert.equal(decodeWords(value), wanted, value);
  // Unknown charsets and malformed content stay.
  for (const value of ["=?none?Q?a?=", "=?UTF-8?B?*?=", "=?UTF-8?Q?=C3?=", "=?UTF-8?Q?=zz?=", "=?UTF-8?X?a?="]) {
    assert.equal(decodeWords(value), value);
  }
});

Deno.test("header bytes: UTF-8 is read as its text, anything else as Latin-1", () => {
  fc.assert(fc.property(text, (value) => assert.equal(utf8Text(utf8Value(value)), value)));
  assert.equal(utf8Text("\xc5bo"), "Åbo");
  assert.equal(utf8Text("日本å"), "日本å");
});

Deno.test("content disposition: a name beyond ASCII comes in filename*, whatever form it had", () => {
  const cases: Record<string, string> = {
    'attachment; filename="a.pdf"': 'attachment; filename="a.pdf"',
    'attachment; filename="å.pdf"; size=1': `attachment; filename="_.pdf"; filename*=UTF-8''%C3%A5.pdf; size=1`,
    "inline;filename=å.pdf": `inline; filename="_.pdf"; filename*=UTF-8''%C3%A5.pdf`,
    'attachment; filename="\xc3\xa5\\".pdf"': `attachment; filename="__.pdf"; filename*=UTF-8''%C3%A5%22.pdf`,
    'attachment; filename="=?UTF-8?Q?=C3=A5.pdf?="': `attachment; filename="_.pdf"; filename*=UTF-8''%C3%A5.pdf`,
    "attachment; filename=\"å.pdf\"; filename*=UTF-8''%C3%A4.pdf":
      "attachment; filename=\"_.pdf\"; filename*=UTF-8''%C3%A4.pdf",
    "å": "%C3%A5",
  };
  for (const [value, wanted] of Object.entries(cases)) assert.equal(asciiDisposition(value), wanted, value);
  fc.assert(fc.property(fc.oneof(text, text.map((name) => `attachment; filename="${name}`)), (value) => {
    assert.match(asciiDisposition(value), /^[\t\x20-\x7e]*$/);
  }));
});

Deno.test("byte range: contains exactly the selected bytes for any ends", () => {
  const end = fc.option(fc.nat(40), { nil: null });
  fc.assert(fc.property(end, end, fc.nat(30), (from, to, size) => {
    const range = parseByteRange(`bytes=${from ?? ""}-${to ?? ""}`, size);
    const asked = (i: number) => from === null ? i >= size - (to ?? 0) : i >= from && i <= (to ?? size);
    const wanted = [...Array(size).keys()].filter(asked);
    const isRange = from === null ? to !== null : to === null || to >= from;
    if (!isRange) return assert.equal(range, null);
    if (wanted.length === 0) return assert.equal(range, "unsatisfiable");
    assert.deepEqual(range, { first: wanted[0], last: wanted.at(-1) });
  }));
});
