import assert from "node:assert/strict";
import fc from "fast-check";
import { readJson } from "@/lib/http/body.ts";
import { jsonDepth } from "@/lib/std/json_depth.ts";

Deno.test("JSON depth: as deep as the value that the text is of", () => {
  const depth = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
    assert.equal(jsonDepth(JSON.stringify(value)), depth(value));
  }));
});

Deno.test("JSON body: too deep is 422, whatever is in it", async () => {
  const body = (depth: number) =>
    new Request("http://a/", { method: "POST", body: "[".repeat(depth) + "]".repeat(depth) });
  await assert.rejects(readJson(body(65)), { status: 422 });
  await assert.rejects(readJson(body(400_000)), { status: 422 });
  assert.ok(Array.isArray(await readJson(body(64))));
});
