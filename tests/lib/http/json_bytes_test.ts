import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonBytes } from "@/lib/http/json_bytes.ts";

Deno.test("JSON bytes: come out whole with their length, however many and whatever their characters", async () => {
  for (const count of [0, 1, 50_000]) {
    const json = new JsonBytes();
    const values = Array.from({ length: count }, (_, i) => `å😀${i}`);
    json.text("[");
    for (const [index, value] of values.entries()) json.text(index > 0 ? "," : "").string(value);
    json.text("]");
    const response = json.response();
    assert.equal(response.headers.get("content-type"), "application/json");
    const bytes = await response.arrayBuffer();
    assert.equal(response.headers.get("content-length"), String(bytes.byteLength));
    assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), values);
  }
});

Deno.test("JSON bytes: are those of JSON.stringify for any texts, in one writer or in two", async () => {
  const long = fc.constantFrom("x".repeat(70_000), `${"å".repeat(40_000)}"`);
  const texts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.string(), long), { maxLength: 20 });
  await fc.assert(fc.asyncProperty(texts, texts, async (first, second) => {
    const [json, other] = [new JsonBytes(), new JsonBytes()];
    json.text("[0");
    for (const text of first) json.text(",").string(text);
    for (const text of second) other.bytes(new TextEncoder().encode(`,${JSON.stringify(text)}`));
    json.append(other);
    json.text("]");
    assert.equal(await json.response().text(), JSON.stringify([0, ...first, ...second]));
  }));
});
