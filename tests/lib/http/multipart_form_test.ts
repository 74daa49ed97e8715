import assert from "node:assert/strict";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import { byteSearch } from "@/lib/http/multipart_form.ts";

Deno.test("byte search: finds the first place, as the runtime's own search does", () => {
  // Few different bytes make near misses likely.
  const bytes = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom(13, 10, 45, 98), { minLength, maxLength }).map((list) => Uint8Array.from(list));
  fc.assert(
    fc.property(bytes(1, 8), bytes(0, 200), (mark, text) => {
      assert.equal(byteSearch(mark)(text), Buffer.from(text).indexOf(Buffer.from(mark)));
    }),
    { numRuns: 2000 },
  );
  const long = new Uint8Array(400).fill(7);
  const text = new Uint8Array(1000).fill(7);
  text[300] = 8;
  assert.equal(byteSearch(long)(text), 301);
});
