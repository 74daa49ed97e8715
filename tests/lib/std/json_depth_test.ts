import assert from "node:assert/strict";
import { readJson } from "@/lib/http/body.ts";

Deno.test("JSON body: too deep is 422, whatever is in it", async () => {
  const body = (depth: number) =>
    new Request("http://a/", { method: "POST", body: "[".repeat(depth) + "]".repeat(depth) });
  await assert.rejects(readJson(body(65)), { status: 422 });
  await assert.rejects(readJson(body(400_000)), { status: 422 });
  assert.ok(Array.isArray(await readJson(body(64))));
});
