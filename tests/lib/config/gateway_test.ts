import assert from "node:assert/strict";
import { GENERIC, KEY, read, REAL_STORE, refused, RESULTS } from "./settings.ts";

Deno.test("token key: required without an embedded store, and the known example counts as unset", () => {
  const { API_SECRET_KEY: _, ...without } = REAL_STORE;
  refused(without, "API_SECRET_KEY", /is required: set a long random value/);
  refused({ ...without, API_SECRET_KEY: "change-me-in-production" }, "API_SECRET_KEY", /well-known example/);
  assert.equal(read({ API_SECRET_KEY: "change-me-in-production" }).gateway?.tokenKey, null);
  assert.equal(read({ API_SECRET_KEY: KEY }).gateway?.tokenKey, KEY);
  refused({ ...without, EMBEDDED: "cluster" }, "API_SECRET_KEY", /is required/);
});

Deno.test("token key: a second one is accepted, which is not the first and no known example", () => {
  const previous = (API_SECRET_KEY_PREVIOUS: string) => ({ ...REAL_STORE, API_SECRET_KEY_PREVIOUS });
  assert.equal(read(REAL_STORE).gateway?.previousTokenKey, null);
  assert.equal(read(previous(`${KEY}x`)).gateway?.previousTokenKey, `${KEY}x`);
  refused(previous(KEY), "API_SECRET_KEY_PREVIOUS", /must be the key before or after/);
  refused(previous("change-me-in-production"), "API_SECRET_KEY_PREVIOUS", /must be the key before or after/);
  assert.match(read(previous("short")).warnings.join(), /^API_SECRET_KEY_PREVIOUS: shorter than 32 bytes/);
  assert.equal(read({ ...REAL_STORE, API_TOKEN_FORMAT: "encrypted" }).gateway?.tokenFormat, "encrypted");
});

Deno.test("CORS_ORIGINS: our own origin only with an embedded part, any without, or those listed", () => {
  assert.deepEqual(read({}).gateway?.corsOrigins, []);
  assert.equal(read(REAL_STORE).gateway?.corsOrigins, "*");
  const listed = read({ ...REAL_STORE, CORS_ORIGINS: "https://A.example.org/, http://localhost:3000" });
  assert.deepEqual(listed.gateway?.corsOrigins, ["https://a.example.org", "http://localhost:3000"]);
  assert.match(read({ CORS_ORIGINS: "*" }).warnings.join(), /^CORS_ORIGINS: \* lets any page/);
});

Deno.test("hcp backend: addresses come from the domain, or from a MAPI host and an S3 endpoint", () => {
  const store = read({ ...REAL_STORE, S3_PUBLIC_ENDPOINT_URL: "https://{tenant}.public.example.org/" }).gateway?.store;
  assert.deepEqual(store?.addresses, {
    domain: "store.example.org",
    host: null,
    mapiPort: 9090,
    s3Endpoint: null,
    s3PublicEndpoint: "https://{tenant}.public.example.org",
    virtualHosts: false,
  });
  assert.deepEqual(store?.identity, { kind: "derived" });
  assert.equal(read({ ...GENERIC, S3_ADDRESSING_STYLE: "virtual" }).gateway?.store?.addresses.virtualHosts, true);
  const { HCP_DOMAIN: _, ...without } = REAL_STORE;
  refused(without, "HCP_DOMAIN", /is required.*EMBEDDED=on/);
  refused({ ...without, HCP_HOST: "admin.example.org" }, "HCP_DOMAIN", /HCP_HOST and S3_ENDPOINT_URL/);
  read({ ...without, HCP_HOST: "admin.example.org", S3_ENDPOINT_URL: "https://s3.example.org" });
  read({ ...without, MAPI_ENABLED: "false", S3_ENDPOINT_URL: "https://s3.example.org" });
});

Deno.test("hcp backend: settings of a generic store are ignored with a line each", () => {
  const { warnings } = read({ ...REAL_STORE, S3_ACCESS_KEY: "a", GATEWAY_USERS_FILE: "/users" });
  assert.deepEqual(warnings.map((line) => line.split(":")[0]), ["S3_ACCESS_KEY", "GATEWAY_USERS_FILE"]);
});

Deno.test("TLS: checked unless switched off, which is logged", () => {
  assert.deepEqual(read(REAL_STORE).gateway?.store?.verifyTls, { mapi: true, s3: true });
  const off = read({ ...REAL_STORE, HCP_VERIFY_SSL: "False" });
  assert.deepEqual(off.gateway?.store?.verifyTls, { mapi: false, s3: false });
  assert.match(off.warnings.join(), /^HCP_VERIFY_SSL: false/);
  const s3 = read({ ...GENERIC, S3_VERIFY_SSL: "false" });
  assert.deepEqual(s3.gateway?.store?.verifyTls, { mapi: true, s3: false });
  assert.match(s3.warnings.join(), /^S3_VERIFY_SSL: false/);
  assert.match(read({ ...RESULTS, RESULTS_S3_VERIFY_TLS: "0" }).warnings.join(), /^RESULTS_S3_VERIFY_TLS: false/);
});

Deno.test("generic backend: without keys, the callers bring their own", () => {
  const { gateway } = read(GENERIC);
  assert.deepEqual(gateway?.store?.identity, { kind: "own" });
  assert.equal(gateway?.mapiEnabled, false);
  assert.equal(read({ ...GENERIC, HCP_HOST: "admin.example.org" }).gateway?.mapiEnabled, true);
  const { S3_ENDPOINT_URL: _, ...without } = GENERIC;
  refused({ ...without, STORAGE_BACKEND: "minio" }, "S3_ENDPOINT_URL", /is required.*minio/);
});

Deno.test("generic backend: truncated uploads are allowed by a setting alone, which is logged", () => {
  assert.equal(read(GENERIC).gateway?.store?.allowsTruncation, false);
  const allowed = read({ ...GENERIC, S3_ALLOW_TRUNCATED_UPLOADS: "true" });
  assert.equal(allowed.gateway?.store?.allowsTruncation, true);
  assert.match(allowed.warnings.join(), /^S3_ALLOW_TRUNCATED_UPLOADS: true/);
});

Deno.test("generic backend: keys for all callers need a users file, or the setting that allows them without", () => {
  const keys = { ...GENERIC, S3_ACCESS_KEY: "key", S3_SECRET_KEY: "secret" };
  const disk = { exists: (path: string) => path === "/users" };
  const line = refused(keys, "S3_ACCESS_KEY", /GATEWAY_USERS_FILE.*S3_SHARED_WITHOUT_LOGIN=true/);
  assert(!line.includes("secret"));
  const identity = { kind: "shared", accessKey: "key", secretKey: "secret" };
  assert.deepEqual(read({ ...keys, GATEWAY_USERS_FILE: "/users" }, disk).gateway?.store?.identity, {
    ...identity,
    users: { path: "/users" },
  });
  const meant = read({ ...keys, S3_SHARED_WITHOUT_LOGIN: "true" });
  assert.deepEqual(meant.gateway?.store?.identity, { ...identity, users: null });
  assert.match(meant.warnings.join(), /^S3_SHARED_WITHOUT_LOGIN: true/);
  refused({ ...keys, S3_SHARED_WITHOUT_LOGIN: "false" }, "S3_ACCESS_KEY", /GATEWAY_USERS_FILE/);
  refused({ ...keys, GATEWAY_USERS_FILE: "/gone" }, "GATEWAY_USERS_FILE", /there is no file "\/gone"/, disk);
  const both = { ...keys, GATEWAY_USERS_FILE: "/users", S3_SHARED_WITHOUT_LOGIN: "true" };
  refused(both, "S3_SHARED_WITHOUT_LOGIN", /contradicts GATEWAY_USERS_FILE/, disk);
  refused({ ...GENERIC, GATEWAY_USERS_FILE: "/users" }, "GATEWAY_USERS_FILE", /set S3_ACCESS_KEY/, disk);
  refused({ ...GENERIC, S3_ACCESS_KEY: "key" }, "S3_SECRET_KEY", /set both or neither/);
});
