import assert from "node:assert/strict";
import fc from "fast-check";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";

Deno.test("percent decoding: any text comes back, decoded exactly once", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    assert.equal(percentDecoded(encodeURIComponent(text)), text);
  }));
  assert.equal(percentDecoded("a+b%2520"), "a+b%20");
});

Deno.test("percent decoding: what is cut, no number or not UTF-8 is null", () => {
  for (const text of ["%", "%4", "%zz", "%ff", "%c3", "%c3%28", "%ed%a0%80"]) {
    assert.equal(percentDecoded(text), null, text);
  }
});
