import assert from "node:assert/strict";
import { sharedBody } from "@/lib/http/header_values.ts";
import { gatewayTest } from "./gateway_fixture.ts";

Deno.test("shared answers: kept bytes go out as they are, as often as they are asked for", async () => {
  const bytes = new Uint8Array(100_000).fill(7);
  for (let n = 0; n < 2; n++) {
    const { value } = await sharedBody(bytes).getReader().read();
    assert.equal(value, bytes);
  }
});

gatewayTest(
  "shared answers: the long ones that are open to everybody say their length, by which their reading is bounded",
  async ({ call }) => {
    for (const path of ["/openapi.json", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"]) {
      const response = await call(path, { headers: { "Accept-Encoding": "identity" } });
      assert.equal(response.headers.get("content-length"), String((await response.bytes()).length), path);
    }
  },
);
