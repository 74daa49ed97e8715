import assert from "node:assert/strict";
import { PermissionError, permissionFlags } from "@/lib/process/deno.ts";

const NONE = { read: [], write: [], env: [], net: [], run: [], sys: [] };

Deno.test("permission flags: what is not listed is denied without a prompt on the terminal", () => {
  assert.deepEqual(permissionFlags(NONE), ["--no-prompt", "--ignore-env"]);
});

Deno.test("permission flags: values of a kind share one flag, each once, and `all` has no value", () => {
  assert.deepEqual(
    permissionFlags({
      ...NONE,
      read: ["/a b", "/c", "/c"],
      write: ["/a b"],
      env: "all",
      net: ["[::1]"],
      run: ["aws"],
      sys: ["statfs"],
    }),
    [
      "--no-prompt",
      "--allow-net=[::1]",
      "--allow-env",
      "--allow-read=/a b,/c",
      "--allow-write=/a b",
      "--allow-run=aws",
      "--allow-sys=statfs",
    ],
  );
  assert.deepEqual(permissionFlags({ ...NONE, env: ["PORT"], net: "all" }), [
    "--no-prompt",
    "--allow-net",
    "--allow-env=PORT",
    "--ignore-env",
  ]);
});

Deno.test("permission flags: a path with a comma is rejected with one line, since it would name a second path", () => {
  for (const access of [{ read: ["/data,/etc"] }, { write: ["/data,/etc"] }, { run: ["/data,/etc"] }]) {
    assert.throws(() => permissionFlags({ ...NONE, ...access }), (error) => {
      assert.ok(error instanceof PermissionError);
      assert.match(error.message, /^"\/data,\/etc" has a comma[^\n]+$/);
      return true;
    });
  }
});
