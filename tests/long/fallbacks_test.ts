import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { FREES_WRITTEN_CHUNKS } from "@/lib/runtime/http.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Tests of HTTP that hold for either way. Limits of connections hold for the private function alone. */
const TESTS = [
  "tests/lib/http/body_test.ts",
  "tests/lib/http/upstream",
  "tests/lib/http/watched_upload_test.ts",
  "tests/lib/process/listener_test.ts",
];

Deno.test("runtime: tests of HTTP pass on the runtime's public API alone", async () => {
  assert.ok(FREES_WRITTEN_CHUNKS, "this process uses what is undocumented");
  const preload = fileURLToPath(new URL("./public_api_only.ts", import.meta.url));
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--config", "deno.test.json", "-A", "--no-check", `--preload=${preload}`, ...TESTS],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assert.ok(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
});
