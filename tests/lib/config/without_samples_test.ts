import assert from "node:assert/strict";
import { readConfig } from "@/lib/config/mod.ts";
import { NO_DISK, refusalLines } from "./settings.ts";

const WITHOUT_SAMPLES = {
  EMBEDDED: "store",
  EMBEDDED_SAMPLES: "off",
  CAMPAIGN_WEB_SITE_ONLY: "1",
  EMBEDDED_ADMIN_PASSWORD_FILE: "/admin",
};
const PUBLIC = {
  ...WITHOUT_SAMPLES,
  EMBEDDED_TENANT: "archive",
  EMBEDDED_TENANT_PASSWORD_FILE: "/archive",
  CAMPAIGN_RESULTS_URL: "https://store.example.org/results",
  S3_PUBLIC_ENDPOINT_URL: "https://{tenant}.s3.example.org",
  TRUSTED_HOPS: "1",
};

const read = (env: Record<string, string>) => readConfig(env, NO_DISK);
const refusal = (env: Record<string, string>) => refusalLines(env, NO_DISK).join("\n");

Deno.test("without samples: the first accounts, and nothing beyond loopback by itself", () => {
  const { embedded, server, warnings } = read(WITHOUT_SAMPLES);
  assert.deepEqual(embedded.administrators, {
    system: { variable: "EMBEDDED_ADMIN_PASSWORD_FILE", path: "/admin" },
    tenant: null,
    isPublic: false,
  });
  assert.deepEqual([embedded.publicEndpoint, server.host, warnings], [null, "127.0.0.1", []]);
});

Deno.test("without samples: behind a proxy with TLS, tenants have public names and no warning is due", () => {
  const { embedded, server, warnings } = read(PUBLIC);
  assert.deepEqual(embedded.administrators?.tenant, {
    name: "archive",
    password: { variable: "EMBEDDED_TENANT_PASSWORD_FILE", path: "/archive" },
  });
  assert.equal(embedded.publicEndpoint, "https://{tenant}.s3.example.org");
  assert.deepEqual(server.allowedHosts, ["localhost", "127.0.0.1", "[::1]", "store.example.org"]);
  assert.equal(server.publicOrigin, "https://store.example.org");
  assert.deepEqual(warnings, []);
});

Deno.test("without samples: whatever lets others in makes the store public", () => {
  const isPublic = (env: Record<string, string>) =>
    read({ ...WITHOUT_SAMPLES, ...env }).embedded.administrators?.isPublic;
  assert.equal(isPublic({}), false);
  assert.equal(isPublic({ HOST: "192.0.2.1" }), true);
  assert.equal(isPublic({ EMBEDDED_HOST: "192.0.2.1" }), true);
  assert.equal(isPublic({ TRUSTED_HOPS: "1" }), true);
  assert.equal(isPublic({ S3_PUBLIC_ENDPOINT_URL: "https://{tenant}.s3.example.org" }), true);
  assert.equal(isPublic({ CAMPAIGN_RESULTS_URL: "https://store.example.org/results" }), true);
  assert.equal(isPublic({ CAMPAIGN_RESULTS_URL: "http://localhost:9000/results" }), false);
});

Deno.test("without samples: beyond loopback without TLS it warns of that, and of no public passwords", () => {
  const { warnings } = read({ ...WITHOUT_SAMPLES, HOST: "192.0.2.1", EMBEDDED_HOST: "192.0.2.1" });
  assert.deepEqual(warnings.map((line) => line.split(":")[0]), ["EMBEDDED_HOST", "HOST"]);
  for (const line of warnings) assert.match(line, /192\.0\.2\.1 is served without TLS/);
});

Deno.test("without samples: contradictions end the start with a line", () => {
  const { EMBEDDED: _, ...on } = WITHOUT_SAMPLES;
  assert.match(refusal(on), /^EMBEDDED_SAMPLES: off is for an embedded store.*: set EMBEDDED=store$/);
  assert.match(refusal({ ...on, EMBEDDED: "cluster", API_SECRET_KEY: "k".repeat(32) }), /EMBEDDED_SAMPLES: off is for/);
  const { EMBEDDED_SAMPLES: _samples, ...samples } = WITHOUT_SAMPLES;
  assert.match(refusal(samples), /^EMBEDDED_ADMIN_PASSWORD_FILE: has no meaning beside samples/);
  for (const name of ["a".repeat(64), "xn--archive", "-archive", "an.archive"]) {
    assert.match(refusal({ ...PUBLIC, EMBEDDED_TENANT: name }), /^EMBEDDED_TENANT: .*host label/, name);
  }
  const { EMBEDDED_TENANT: _tenant, ...noTenant } = PUBLIC;
  assert.match(refusal(noTenant), /^EMBEDDED_TENANT_PASSWORD_FILE: is of the tenant of EMBEDDED_TENANT/);
  assert.match(refusal({ ...PUBLIC, STORAGE_BACKEND: "hcp" }), /^STORAGE_BACKEND: .*embedded store is on/);
  for (const url of ["https://s3.example.org", "https://{tenant}.{tenant}.example.org"]) {
    assert.match(refusal({ ...PUBLIC, S3_PUBLIC_ENDPOINT_URL: url }), /^S3_PUBLIC_ENDPOINT_URL: must have \{tenant\}/);
  }
  const beside = { EMBEDDED: "store", CAMPAIGN_WEB_SITE_ONLY: "1", S3_PUBLIC_ENDPOINT_URL: "https://{tenant}.x.org" };
  assert.match(refusal(beside), /^S3_PUBLIC_ENDPOINT_URL: .*embedded store is on/, "with samples");
});
