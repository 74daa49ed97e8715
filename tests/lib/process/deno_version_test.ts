import assert from "node:assert/strict";
import { OLDEST_DENO, unsupportedDeno } from "@/lib/process/deno.ts";

Deno.test("deno version: older ones are refused with both versions and the way out, others are not", () => {
  for (const version of ["1.46.3", "2.4.0", "2.8.3", "2.9.5", "2.9.0-rc.1"]) {
    const message = unsupportedDeno(version) ?? "";
    assert.ok(message.includes(OLDEST_DENO) && message.includes(`Deno ${version}:`), version);
    assert.match(message, /deno upgrade/);
  }
  for (const version of [OLDEST_DENO, "2.9.7", "2.10.0", "3.0.0", "2.9.6+abc", Deno.version.deno]) {
    assert.equal(unsupportedDeno(version), null, version);
  }
});

Deno.test("deno version: README names the oldest one", async () => {
  assert.ok((await Deno.readTextFile("README.md")).includes(`Deno ${OLDEST_DENO}`));
});
