import assert from "node:assert/strict";
import { publicOrigin, publicTenant } from "@/embedded/store/ports.ts";

Deno.test("public endpoint: a tenant's origin has its folded name, and its Host selects the tenant", () => {
  for (const template of ["https://{tenant}.s3.example.org", "https://s3-{tenant}.Example.org:8443"]) {
    const origin = publicOrigin(template, "Archive");
    assert.ok(origin?.includes("archive"));
    const { host } = new URL(origin ?? "");
    const tenantOf = publicTenant(template);
    assert.deepEqual([tenantOf(host), tenantOf(host.toUpperCase())], ["archive", "archive"]);
  }
  assert.equal(publicOrigin(null, "archive"), null);
});

Deno.test("public endpoint: other hosts belong to no tenant", () => {
  const tenantOf = publicTenant("https://{tenant}.s3.example.org");
  const others = [
    null,
    "",
    "s3.example.org",
    ".s3.example.org",
    "a.b.s3.example.org",
    "archive.s3.example.org.evil.example",
    "archive.s3.example.com",
    "127.0.0.1:8000",
    "[::1]:8000",
    "arc/ive.s3.example.org",
  ];
  for (const host of others) assert.equal(tenantOf(host), null, String(host));
  assert.equal(publicTenant(null)("archive.s3.example.org"), null);
  assert.equal(publicTenant("https://x-{tenant}-x.example.org")("x-x.example.org"), null);
});
