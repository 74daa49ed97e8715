import assert from "node:assert/strict";
import fc from "fast-check";
import { parseByteRange } from "@/lib/std/byte_range.ts";

Deno.test("byte range: the named forms, and nothing else", () => {
  assert.deepEqual(parseByteRange("bytes=0-0", 10), { first: 0, last: 0 });
  assert.deepEqual(parseByteRange("bytes=5-", 10), { first: 5, last: 9 });
  assert.deepEqual(parseByteRange("bytes=-3", 10), { first: 7, last: 9 });
  assert.deepEqual(parseByteRange("bytes=-30", 10), { first: 0, last: 9 });
  assert.deepEqual(parseByteRange("bytes=2-99", 10), { first: 2, last: 9 });
  assert.equal(parseByteRange("bytes=10-", 10), "unsatisfiable");
  assert.equal(parseByteRange("bytes=-0", 10), "unsatisfiable");
  assert.equal(parseByteRange("bytes=0-", 0), "unsatisfiable");
  for (const ignored of [null, "", "bytes=", "bytes=-", "bytes=3-1", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b"]) {
    assert.equal(parseByteRange(ignored, 10), null);
  }
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

Deno.test("byte range: any text is read or passed over, and never leads outside the body", () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9]{0,30}[-,]?[0-9]{0,30}$/));
  fc.assert(fc.property(text, fc.nat(1000), (text, size) => {
    const range = parseByteRange(`bytes=${text}`, size);
    if (range === null || range === "unsatisfiable") return;
    assert.ok(range.first >= 0 && range.first <= range.last && range.last < size);
  }));
});
