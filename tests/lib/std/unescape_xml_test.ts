import assert from "node:assert/strict";

import fc from "fast-check";

import { unescapeXml } from "@/lib/std/xml_scanner.ts";

Deno.test("XML entities: numbers of characters alone, however they are written", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const numbers = (write: (point: number) => string) =>
      Array.from(text, (character) => `&#${write(character.codePointAt(0)!)};`).join("");
    assert.equal(unescapeXml(numbers(String)), text);
    assert.equal(unescapeXml(numbers((point) => `x${point.toString(16)}`)), text);
  }));
  for (
    const text of ["&#xD800;", "&#57343;", "&#x110000;", "&#;", "&#x;", "&#-1;", "&constructor;", "&lt", "&#99999999;"]
  ) {
    assert.equal(unescapeXml(text), undefined, text);
  }
});
