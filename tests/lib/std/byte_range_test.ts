import assert from "node:assert/strict";
import fc from "fast-check";
import { parseByteRange } from "@/lib/std/header_encoding.ts";

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
