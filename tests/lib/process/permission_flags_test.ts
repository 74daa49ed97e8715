import assert from "node:assert/strict";
import { PermissionError, permissionFlags } from "@/lib/process/permission_flags.ts";

const NONE = { read: [], write: [], env: [], net: [], run: [], authorities: false };

Deno.test("permission flags: what is not listed is not allowed, and nothing is asked for on a terminal", () => {
  assert.deepEqual(permissionFlags(NONE), ["--no-prompt", "--ignore-env"]);
});

Deno.test("permission flags: values of a kind share one flag, each once, and `all` has no value", () => {
  assert.deepEqual(
    permissionFlags({ ...NONE, read: ["/a b", "/c", "/c"], write: ["/a b"], env: "all", net: ["[::1]"], run: ["aws"] }),
    [
      "--no-prompt",
      "--allow-net=[::1]",
      "--allow-env",
      "--allow-read=/a b,/c",
      "--allow-write=/a b",
      "--allow-run=aws",
    ],
  );
  assert.deepEqual(permissionFlags({ ...NONE, env: ["PORT"], net: "all" }), [
    "--no-prompt",
    "--allow-net",
    "--allow-env=PORT",
    "--ignore-env",
  ]);
});

Deno.test("permission flags: a comma would name a second path, so it is refused with one line", () => {
  for (const access of [{ read: ["/data,/etc"] }, { write: ["/data,/etc"] }, { run: ["/data,/etc"] }]) {
    assert.throws(() => permissionFlags({ ...NONE, ...access }), (error) => {
      assert.ok(error instanceof PermissionError);
      assert.match(error.message, /^"\/data,\/etc" has a comma[^\n]+$/);
      return true;
    });
  }
});

Deno.test("permission flags: the authorities of the runtime can be read without any other question to the system", async () => {
  const script = `
    const { rootCertificates } = await import("node:tls");
    const os = await import("node:os");
    const refused = [];
    for (const name of ["hostname", "release", "uptime", "networkInterfaces", "totalmem", "homedir", "userInfo"]) {
      try { os[name](); } catch { refused.push(name); }
    }
    console.log(JSON.stringify([rootCertificates.length > 0, refused.length]));`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...permissionFlags({ ...NONE, authorities: true }),
      `data:text/javascript,${encodeURIComponent(script)}`,
    ],
  }).output();
  assert.equal(new TextDecoder().decode(stdout).trim(), "[true,7]");
});
