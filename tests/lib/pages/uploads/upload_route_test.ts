import assert from "node:assert/strict";
import { withUploadRule } from "@/lib/pages/uploads/upload_route_client.ts";

const ORIGIN = "https://stackroom.example.org";

Deno.test("upload CORS rule: it is the first, replaces its predecessor, and leaves the others", () => {
  const other = { ID: "downloads", AllowedMethods: ["GET"], AllowedOrigins: ["*"] };
  const once = withUploadRule([other], ORIGIN);
  assert.deepEqual(once?.map(({ AllowedMethods }) => AllowedMethods), [["PUT"], ["GET"]]);
  assert.deepEqual(once?.[0].AllowedOrigins, [ORIGIN]);
  assert.deepEqual(once?.[0].ExposeHeaders, ["ETag"]);
  assert.deepEqual(withUploadRule(once ?? [], ORIGIN), once);
  assert.equal(withUploadRule(once ?? [], "https://other.example.org")?.length, 3);
});

Deno.test("upload CORS rule: a bucket with a hundred rules has no room for it", () => {
  const rules = Array.from({ length: 100 }, (_, index) => ({ ID: String(index) }));
  assert.equal(withUploadRule(rules, ORIGIN), null);
  assert.equal(withUploadRule(rules.slice(1), ORIGIN)?.length, 100);
});
