import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { compareText } from "@/lib/std/text_order.ts";

Deno.test("text order: characters beyond 16 bits come after all others", () => {
  assert.ok(compareText("\u{1F600}", "\uFB01") > 0);
  assert.ok(compareText("\uFB01", "\u{1F600}") < 0);
  assert.ok(compareText("a", "ab") < 0);
  assert.equal(compareText("å", "å"), 0);
});

Deno.test("text order: it agrees with the order of UTF-8 bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 6 });
  fc.assert(fc.property(text, text, (a, b) => {
    const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.equal(Math.sign(compareText(a, b)), Math.sign(bytes));
  }));
});
