import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeRfc3986 } from "@/lib/std/text.ts";

Deno.test("RFC 3986 encoding: only unreserved characters stay, and any text can be decoded again", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const encoded = encodeRfc3986(text);
    assert.match(encoded, /^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/);
    assert.equal(decodeURIComponent(encoded), text);
  }));
  assert.equal(encodeRfc3986("Az09-._~"), "Az09-._~");
  assert.equal(encodeRfc3986("!'()*/ å"), "%21%27%28%29%2A%2F%20%C3%A5");
});
