import assert from "node:assert/strict";
import { mapiPath } from "@/lib/mapi/client.ts";

Deno.test("path: whatever a name holds, it stays one segment", () => {
  assert.equal(mapiPath`/tenants/${"a/b?c#d%e f"}/cors`, "/tenants/a%2Fb%3Fc%23d%25e%20f/cors");
  assert.equal(mapiPath`/tenants/${"..."}`, "/tenants/...");
  for (const name of ["", ".", "..", "\ud800"]) assert.throws(() => mapiPath`/tenants/${name}/cors`, { status: 400 });
});
