import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonBytes } from "@/lib/http/compressible.ts";

Deno.test("JSON bytes: are those of the pieces, of one writer or of two, with their length", async () => {
  const long = fc.constantFrom("x".repeat(70_000), "å😀".repeat(20_000));
  const pieces = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), long), { maxLength: 20 });
  await fc.assert(fc.asyncProperty(pieces, pieces, async (first, second) => {
    const [json, other] = [new JsonBytes(), new JsonBytes()];
    for (const piece of first) json.text(piece);
    for (const piece of second) other.text(piece);
    json.append(other);
    json.text("]");
    const response = json.response();
    assert.equal(response.headers.get("content-type"), "application/json");
    const bytes = await response.arrayBuffer();
    assert.equal(response.headers.get("content-length"), String(bytes.byteLength));
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), [...first, ...second, "]"].join(""));
  }));
});
