import assert from "node:assert/strict";
import { JsonText } from "@/lib/http/json_text.ts";

Deno.test("JSON text: comes out whole with its length, however long and whatever its characters", async () => {
  for (const count of [0, 1, 50_000]) {
    const text = new JsonText();
    const values = Array.from({ length: count }, (_, i) => `å😀${i}`);
    text.add("[");
    for (const [index, value] of values.entries()) text.add((index > 0 ? "," : "") + JSON.stringify(value));
    text.add("]");
    const response = text.response();
    assert.equal(response.headers.get("content-type"), "application/json");
    const bytes = await response.arrayBuffer();
    assert.equal(response.headers.get("content-length"), String(bytes.byteLength));
    assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), values);
  }
});
