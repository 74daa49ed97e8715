import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { compareText } from "@/lib/std/text.ts";

Deno.test("text order: it agrees with the order of UTF-8 bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 6 });
  fc.assert(fc.property(text, text, (a, b) => {
    const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.equal(Math.sign(compareText(a, b)), Math.sign(bytes));
  }));
});
