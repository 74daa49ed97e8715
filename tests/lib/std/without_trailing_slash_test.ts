import assert from "node:assert/strict";
import fc from "fast-check";
import { withoutTrailingSlash } from "@/lib/std/text.ts";

Deno.test("without trailing slash: only the slashes at the end go, however many there are", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("/", "a") }), fc.nat(5), (text, more) => {
    assert.equal(withoutTrailingSlash(`${text}a${"/".repeat(more)}`), `${text}a`);
  }));
  assert.equal(withoutTrailingSlash("///"), "");
});
