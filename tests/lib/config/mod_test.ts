import assert from "node:assert/strict";

import fc from "fast-check";

import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { type Config, ConfigError, type Files, readConfig } from "@/lib/config/mod.ts";

const KEY = "0123456789abcdef0123456789abcdef";
/** What deployments mount: a session key, and a pod's token. */
const MOUNTED = ["/secrets/session/key", "/var/run/secrets/kubernetes.io/serviceaccount/token"];
const emptyDisk: Files = { exists: (path) => MOUNTED.includes(path), read: () => null };

function read(env: Record<string, string | undefined>, files: Partial<Files> = {}): Config {
  return readConfig(env, { ...emptyDisk, ...files });
}

/** Expects the start to end with one line about this variable. */
function refused(env: Record<string, string>, variable: string, words: RegExp, files: Partial<Files> = {}): string {
  try {
    read(env, files);
  } catch (error) {
    assert(error instanceof ConfigError, String(error));
    assert.equal(error.variable, variable, error.message);
    assert(error.message.startsWith(`${variable}: `), error.message);
    assert.match(error.message, words);
    assert.equal(error.message.split(/[\r\n]/).length, 1);
    return error.message;
  }
  assert.fail(`${JSON.stringify(env)} was accepted`);
}

const REAL_STORE = {
  EMBEDDED: "off",
  ROLES: "gateway",
  API_SECRET_KEY: KEY,
  HCP_DOMAIN: "store.example.org",
  TRUSTED_HOPS: "1",
};
const GENERIC = {
  EMBEDDED: "off",
  ROLES: "gateway",
  API_SECRET_KEY: KEY,
  STORAGE_BACKEND: "generic",
  S3_ENDPOINT_URL: "https://s3.example.org",
  TRUSTED_HOPS: "1",
};
const WEB = {
  EMBEDDED: "off",
  ROLES: "web",
  CAMPAIGN_RESULTS_URL: "https://c.example.org/results",
  CAMPAIGN_RESULTS_PROXY: "http://results:8082/results",
};
const RESULTS = {
  EMBEDDED: "off",
  ROLES: "results",
  RESULTS_S3_ENDPOINT: "https://archive.store.example.org",
  RESULTS_S3_BUCKET: "campaigns",
};

Deno.test("config: an empty environment plays all roles on loopback with everything embedded", () => {
  const config = read({});
  assert.deepEqual(config.roles, new Set(["gateway", "web", "results"]));
  assert.deepEqual(config.embedded, { store: true, cluster: true, host: "127.0.0.1" });
  const { connections: _, ...server } = config.server;
  assert.deepEqual(server, {
    host: "127.0.0.1",
    port: 8000,
    allowedHosts: ["localhost", "127.0.0.1", "[::1]"],
    certificate: null,
  });
  assert.equal(config.dataFolder, ".data");
  assert.equal(config.gateway?.tokenKey, null);
  assert.equal(config.gateway?.tokenMinutes, 480);
  assert.equal(config.gateway?.store, null);
  assert.deepEqual(config.gateway?.corsOrigins, []);
  assert.deepEqual(config.web?.resultsUrl, null);
  assert.equal(config.web?.resultsProxy, null);
  assert.equal(config.results?.sessionKey, null);
  assert.equal(config.results?.store, null);
  assert.deepEqual(config.campaigns, { conventions: CONVENTIONS.stackroom, namespaces: ["batch-default"] });
  assert.deepEqual(config.warnings, []);
});

Deno.test("config: an empty or blank value is an unset one", () => {
  assert.deepEqual(read({ PORT: "", HOST: "  ", EMBEDDED: "", HCP_DOMAIN: "", PATH: undefined }), read({}));
});

Deno.test("config: names compare without case, and the upper-case spelling wins", () => {
  assert.equal(read({ port: "9001" }).server.port, 9001);
  assert.equal(read({ PORT: "9002", port: "9001" }).server.port, 9002);
  assert.equal(read({ port: "9001", PORT: "9002" }).server.port, 9002);
});

Deno.test("config: aliases are read, and the variable's own name wins", () => {
  assert.equal(read({ ...REAL_STORE, HCP_AUTH_TYPE: "ad" }).gateway?.authType, "ad");
  assert.equal(read({ ...REAL_STORE, HCP_AUTH_TYPE: "hcp" }).gateway?.authType, "native");
  assert.equal(read({ ...REAL_STORE, HCP_AUTH_TYPE: "ad", STORE_AUTH_TYPE: "native" }).gateway?.authType, "native");
  const web = read({
    ...{ EMBEDDED: "off", ROLES: "web", HTRFLOW_PUBLIC_RESULTS_BASE: "https://old.example.org/results" },
    HTRFLOW_RESULTS_PROXY: "http://results:8082/results/",
    HTRFLOW_BATCH_VERSION: "v7",
    HTRFLOW_NAMESPACES: " one, ,two,",
  });
  assert.deepEqual(web.web?.resultsUrl, "https://old.example.org/results");
  assert.equal(web.web?.resultsProxy, "http://results:8082/results");
  assert.equal(web.web?.version, "v7");
  assert.deepEqual(web.campaigns.namespaces, ["one", "two"]);
});

Deno.test("config: a refused alias is named as it was set", () => {
  refused({ ...REAL_STORE, HCP_AUTH_TYPE: "kerberos" }, "HCP_AUTH_TYPE", /must be native or ad, not "kerberos"/);
});

Deno.test("config: bad values end the start with a line that names the variable", () => {
  refused({ PORT: "80a" }, "PORT", /whole number from 0 to 65535, not "80a"/);
  refused({ PORT: "65536" }, "PORT", /from 0 to 65535/);
  refused({ PORT: "-1" }, "PORT", /from 0 to 65535/);
  refused({ PORT: "8e3" }, "PORT", /whole number/);
  refused({ EMBEDDED: "yes" }, "EMBEDDED", /on, store, cluster or off, not "yes"/);
  refused({ ROLES: "gateway,worker" }, "ROLES", /gateway, web or results/);
  refused({ ROLES: "," }, "ROLES", /gateway, web or results/);
  refused({ API_TOKEN_EXPIRE_MINUTES: "0" }, "API_TOKEN_EXPIRE_MINUTES", /minutes from 1/);
  refused({ HOST: "http://x" }, "HOST", /without scheme/);
  refused({ CORS_ORIGINS: "https://a.example/path" }, "CORS_ORIGINS", /origins/);
  refused({ CORS_ORIGINS: "null" }, "CORS_ORIGINS", /origins/);
  refused({ CAMPAIGN_NAMESPACES: "Batch" }, "CAMPAIGN_NAMESPACES", /namespaces/);
  refused({ CAMPAIGN_RESULTS_URL: "/results" }, "CAMPAIGN_RESULTS_URL", /http or https address/);
  refused({ CAMPAIGN_RESULTS_URL: "http://x/a?b" }, "CAMPAIGN_RESULTS_URL", /http or https address/);
  refused({ CAMPAIGN_RESULTS_PROXY: "http://x/" }, "CAMPAIGN_RESULTS_PROXY", /ends in \/results/);
  refused({ MAPI_ENABLED: "maybe" }, "MAPI_ENABLED", /true or false/);
  refused({ SIMULATOR_SPEED: "-1" }, "SIMULATOR_SPEED", /number from 0.1/);
  refused({ RESULTS_SESSION_HOURS: "0" }, "RESULTS_SESSION_HOURS", /number of hours/);
  refused({ TRUSTED_HOPS: "-1" }, "TRUSTED_HOPS", /whole number from 0/);
  refused({ ...REAL_STORE, HCP_DOMAIN: "https://store.example.org" }, "HCP_DOMAIN", /without scheme/);
  refused({ ...GENERIC, S3_ENDPOINT_URL: "s3.example.org" }, "S3_ENDPOINT_URL", /address/);
  refused({ DATA_DIR: "a\0b" }, "DATA_DIR", /a path/);
});

Deno.test("config: any environment is either read or refused with a line for each variable", () => {
  const names = ["PORT", "HOST", "ROLES", "EMBEDDED", "CORS_ORIGINS", "CAMPAIGN_CONVENTIONS", "CAMPAIGN_RESULTS_URL"];
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.webUrl(), fc.ipV6());
  fc.assert(fc.property(fc.dictionary(fc.constantFrom(...names), text), (env) => {
    try {
      read(env);
    } catch (error) {
      assert(error instanceof ConfigError, String(error));
      for (const line of error.message.split("\n")) assert.match(line, /^[A-Z_]+: [^\r\n]+$/);
    }
  }));
});

Deno.test("config: secrets never appear in a refusal", () => {
  const secret = "s3cr3t-value";
  const lines = [
    refused(
      { ...WEB, CAMPAIGN_RESULTS_PROXY: `ftp://:${secret}@results/results` },
      "CAMPAIGN_RESULTS_PROXY",
      /address/,
    ),
    refused({ ...GENERIC, S3_ENDPOINT_URL: `https://user:${secret}@s3.example.org` }, "S3_ENDPOINT_URL", /address/),
    refused({ ...GENERIC, S3_SECRET_KEY: secret }, "S3_ACCESS_KEY", /set both or neither/),
    refused({ ...REAL_STORE, API_SECRET_KEY: `${secret}\n${secret}` }, "API_SECRET_KEY", /one line/),
    refused({ ...REAL_STORE, REDIS_URL: `http://:${secret}@redis` }, "REDIS_URL", /rediss:\/\//),
    refused({ ...REAL_STORE, REDIS_URL: `redis://:${secret}/x@redis` }, "REDIS_URL", /rediss:\/\//),
  ];
  for (const line of lines) assert(!line.includes(secret), line);
  const { warnings } = read({ ...REAL_STORE, API_SECRET_KEY: secret });
  assert.match(warnings.join(), /API_SECRET_KEY: shorter than 32 bytes/);
  assert(!warnings.join().includes(secret));
  assert(!read({ ...REAL_STORE, REDIS_URL: `redis://:${secret}@redis` }).warnings.join().includes(secret));
});

Deno.test("config: only the variables of the roles played are required", () => {
  assert.equal(read(WEB).gateway, null);
  assert.equal(read(WEB).results, null);
  assert.equal(read(RESULTS).web, null);
  assert.equal(read(REAL_STORE).web, null);
});

Deno.test("config: store settings beside an embedded store end the start", () => {
  for (const EMBEDDED of ["on", "store"]) {
    refused({ ...REAL_STORE, EMBEDDED }, "HCP_DOMAIN", /embedded store is on: set EMBEDDED=off/);
    refused({ EMBEDDED, S3_ENDPOINT_URL: "https://s3.example.org" }, "S3_ENDPOINT_URL", /embedded store is on/);
    refused({ EMBEDDED, RESULTS_S3_BUCKET: "b" }, "RESULTS_S3_BUCKET", /embedded store is on/);
    refused({ EMBEDDED, STORAGE_BACKEND: "hcp" }, "STORAGE_BACKEND", /embedded store is on/);
  }
});

Deno.test("config: KUBECONFIG beside an embedded cluster is ignored with one line", () => {
  const config = read({ KUBECONFIG: "/home/me/.kube/config" });
  assert.equal(config.web?.kubeconfig, null);
  assert.equal(config.warnings.length, 1);
  assert.match(config.warnings[0], /^KUBECONFIG: ignored/);
  assert.deepEqual(read({ EMBEDDED: "store", KUBECONFIG: "/k" }, { exists: () => true }).web?.kubeconfig, {
    path: "/k",
  });
});

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

Deno.test("HOST: every interface without an embedded part, and then any Host name", () => {
  const { connections: _, ...server } = read(REAL_STORE).server;
  assert.deepEqual(server, { host: "0.0.0.0", port: 8000, allowedHosts: null, certificate: null });
  assert.equal(read({ ...REAL_STORE, HOST: "[::1]" }).server.host, "::1");
});

Deno.test("HOST: every interface beside an embedded part demands CAMPAIGN_RESULTS_URL and warns", () => {
  for (const HOST of ["0.0.0.0", "::", "[::]", "0", "0x0", "::0", "::ffff:0.0.0.0"]) {
    refused({ HOST }, "CAMPAIGN_RESULTS_URL", /HOST is every interface/);
  }
  const config = read({
    HOST: "0.0.0.0",
    CAMPAIGN_RESULTS_URL: "http://box.example.org:8000/results/",
    TRUSTED_HOPS: "1",
  });
  assert.deepEqual(config.server.allowedHosts, ["localhost", "127.0.0.1", "[::1]", "box.example.org"]);
  assert.deepEqual(config.web?.resultsUrl, "http://box.example.org:8000/results");
  assert.match(config.warnings.join(), /^HOST: 0\.0\.0\.0 lets others reach/);
});

Deno.test("HOST: a name of its own is answered beside the loopback names, and warns where others reach it", () => {
  assert.deepEqual(read({ HOST: "127.0.0.5" }).warnings, []);
  const { server, warnings } = read({ HOST: "Box.example.org", TRUSTED_HOPS: "1" });
  assert.deepEqual(server.allowedHosts, ["localhost", "127.0.0.1", "[::1]", "box.example.org"]);
  assert.equal(warnings.length, 1);
});

Deno.test("EMBEDDED_HOST: shown in addresses, so no wildcard", () => {
  refused({ EMBEDDED_HOST: "0.0.0.0" }, "EMBEDDED_HOST", /not a wildcard/);
  assert.equal(read({ EMBEDDED_HOST: "::1" }).embedded.host, "::1");
  assert.match(read({ EMBEDDED_HOST: "10.0.0.7" }).warnings.join(), /^EMBEDDED_HOST: 10\.0\.0\.7 lets others/);
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
  });
  assert.deepEqual(store?.identity, { kind: "derived" });
  assert.equal(store?.addressingStyle, "path");
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

Deno.test("generic backend: keys for everybody need a users file, or to be meant", () => {
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

Deno.test("CA_FILE: must be there and hold a certificate", () => {
  refused({ CA_FILE: "/ca.pem" }, "CA_FILE", /there is no file "\/ca\.pem"/);
  const holding = (text: string | null) => ({ exists: () => true, read: () => text });
  refused({ CA_FILE: "/ca.pem" }, "CA_FILE", /holds no PEM certificate/, holding("nonsense"));
  refused({ CA_FILE: "/folder" }, "CA_FILE", /"\/folder" cannot be read/, holding(null));
  const pem = "-----BEGIN CERTIFICATE-----\n";
  assert.deepEqual(read({ CA_FILE: "/ca.pem" }, holding(pem)).ca, { path: "/ca.pem" });
});

const PEM_DISK = { exists: () => true, read: () => "-----BEGIN CERTIFICATE-----\n" };

Deno.test("HOST: off loopback without TLS it warns, unless proxies in front are counted", () => {
  const { TRUSTED_HOPS: _, ...direct } = REAL_STORE;
  assert.match(read(direct).warnings.join(), /^HOST: 0\.0\.0\.0 is served without TLS.*TLS_CERT_FILE.*TRUSTED_HOPS/);
  assert.deepEqual(read({ ...direct, HOST: "127.0.0.1" }).warnings, []);
  assert.deepEqual(read({ ...direct, TRUSTED_HOPS: "2" }).warnings, []);
  assert.deepEqual(read({ ...direct, TLS_CERT_FILE: "/c", TLS_KEY_FILE: "/k" }, PEM_DISK).warnings, []);
  // The pass-through of a web role is in front of it.
  assert.deepEqual(read(RESULTS).warnings, []);
});

Deno.test("TLS_CERT_FILE: both files or neither, and the first holds a certificate", () => {
  assert.deepEqual(read({ TLS_CERT_FILE: "/c", TLS_KEY_FILE: "/k" }, PEM_DISK).server.certificate, {
    certFile: "/c",
    keyFile: "/k",
  });
  refused({ TLS_CERT_FILE: "/c" }, "TLS_KEY_FILE", /is required: TLS_CERT_FILE is set/, PEM_DISK);
  refused({ TLS_KEY_FILE: "/k" }, "TLS_CERT_FILE", /is required: TLS_KEY_FILE is set/, PEM_DISK);
  refused({ TLS_CERT_FILE: "/c", TLS_KEY_FILE: "/k" }, "TLS_CERT_FILE", /there is no file/);
  const noPem = { exists: () => true, read: () => "nonsense" };
  refused({ TLS_CERT_FILE: "/c", TLS_KEY_FILE: "/k" }, "TLS_CERT_FILE", /holds no PEM certificate/, noPem);
});

Deno.test("REDIS_URL: without TLS it warns off loopback", () => {
  const warnings = (REDIS_URL: string) => read({ ...REAL_STORE, REDIS_URL }).warnings.join();
  for (const url of ["redis://localhost", "rediss://redis.example.org", "redis://[::1]:6379/"]) {
    assert.equal(warnings(url), "");
  }
  assert.match(warnings("redis://:hushed@redis:6379"), /^REDIS_URL: redis:\/\/ leaves this machine without TLS/);
  assert.ok(!warnings("redis://:hushed@redis:6379").includes("hushed"));
});

Deno.test("REDIS_URL: an address of Redis, read by the gateway and results roles, and never repeated", () => {
  assert.equal(read(REAL_STORE).redisUrl, null);
  for (
    const url of [
      "redis://redis",
      "rediss://redis.example.org:6380/3",
      "redis://:p%2Fw@127.0.0.1:6379/0",
      "redis://user:pw@[::1]:6379",
    ]
  ) {
    assert.equal(read({ ...REAL_STORE, REDIS_URL: url }).redisUrl, url);
    assert.equal(read({ ...WEB, REDIS_URL: url }).redisUrl, null);
  }
  for (
    const url of [
      "redis",
      "redis://",
      "redis:///0",
      "http://hushed",
      "redis://hushed/db",
      "redis://a b",
      "redis://h?db=1",
    ]
      .concat("redis://:%hushed@h", "redis://h/0/1")
  ) {
    const line = refused({ ...REAL_STORE, REDIS_URL: url }, "REDIS_URL", /must be an address such as redis:/);
    assert.ok(!line.includes("hushed"));
  }
});

Deno.test("web role: needs its results URL and its results service", () => {
  const { CAMPAIGN_RESULTS_URL: _url, ...noUrl } = WEB;
  refused(noUrl, "CAMPAIGN_RESULTS_URL", /is required/);
  const { CAMPAIGN_RESULTS_PROXY: _proxy, ...noProxy } = WEB;
  refused(noProxy, "CAMPAIGN_RESULTS_PROXY", /is required/);
  assert.equal(read({ ...noProxy, ...RESULTS, ROLES: "web,results" }).web?.resultsProxy, null);
  assert.equal(read({ ...WEB, ...RESULTS, ROLES: "web,results" }).web?.resultsProxy, WEB.CAMPAIGN_RESULTS_PROXY);
  assert.equal(read(WEB).web?.progressBase, WEB.CAMPAIGN_RESULTS_PROXY);
  const inner = read({ ...WEB, CAMPAIGN_INTERNAL_RESULTS_BASE: "http://inner:1/results//" });
  assert.equal(inner.web?.progressBase, "http://inner:1/results");
});

Deno.test("web role: needs a cluster, by a kubeconfig that is there, as a pod or by the user's own file", () => {
  const nothing = { exists: () => false };
  refused(WEB, "KUBECONFIG", /is required/, nothing);
  refused({ ...WEB, HOME: "/home/me" }, "KUBECONFIG", /is required/, nothing);
  refused({ ...WEB, KUBECONFIG: "/a:/b" }, "KUBECONFIG", /no file "\/b"/, { exists: (path) => path === "/a" });
  const own = { exists: (path: string) => path === "/home/me/.kube/config" };
  assert.equal(read({ ...WEB, HOME: "/home/me" }, own).web?.kubeconfig, null);
  assert.deepEqual(read({ ...WEB, KUBECONFIG: "/a" }, { exists: () => true }).web?.kubeconfig, { path: "/a" });
  assert.equal(read({ KUBECONFIG: "/none" }, nothing).web?.kubeconfig, null);
});

Deno.test("site only: any value switches it on, and it needs neither URL nor results service", () => {
  const config = read({ EMBEDDED: "off", ROLES: "web", CAMPAIGN_WEB_SITE_ONLY: "0" });
  assert.equal(config.web?.siteOnly, true);
  assert.deepEqual(config.web?.resultsUrl, "");
  assert.equal(config.web?.resultsProxy, null);
});

Deno.test("static folder: the image's where it exists, else our own; a missing one means API only", () => {
  assert.match(read({}).web?.staticFolder ?? "", /\/static$/);
  assert.notEqual(read({}).web?.staticFolder, "/app/static");
  assert.equal(read({}, { exists: (path) => path === "/app/static" }).web?.staticFolder, "/app/static");
  assert.equal(read({ CAMPAIGN_WEB_STATIC: "/gone" }).web?.staticFolder, null);
  assert.equal(read({ CAMPAIGN_WEB_STATIC: "/site" }, { exists: () => true }).web?.staticFolder, "/site");
});

Deno.test("namespaces: the pod's own in a cluster, the conventions' default outside or beside an embedded one", () => {
  const pod = { read: (path: string) => path.endsWith("/serviceaccount/namespace") ? "htr-prod\n" : null };
  assert.deepEqual(read(WEB, pod).campaigns.namespaces, ["htr-prod"]);
  assert.deepEqual(read(WEB).campaigns.namespaces, ["batch-default"]);
  assert.deepEqual(read({ ...WEB, CAMPAIGN_CONVENTIONS: "htrflow" }).campaigns.namespaces, ["htr-batch"]);
  assert.deepEqual(read({}, pod).campaigns.namespaces, ["batch-default"]);
});

Deno.test("conventions: a preset, or strict overrides of one", () => {
  const conventions = (CAMPAIGN_CONVENTIONS: string) => read({ CAMPAIGN_CONVENTIONS }).campaigns.conventions;
  assert.equal(conventions("htrflow").cookieStem, "htr_session");
  assert.deepEqual(conventions('{"pipelinePrefix":"p-"}'), { ...CONVENTIONS.stackroom, pipelinePrefix: "p-" });
  assert.deepEqual(conventions('{"preset":"htrflow","campaignApp":"x"}'), { ...CONVENTIONS.htrflow, campaignApp: "x" });
  const variable = "CAMPAIGN_CONVENTIONS";
  refused({ [variable]: '{"labeldomain":"x/"}' }, variable, /unknown member "labeldomain"; known are .*labelDomain/);
  refused({ [variable]: '{"__proto__":{}}' }, variable, /unknown member/);
  refused({ [variable]: '{"labelDomain":"no-slash"}' }, variable, /member labelDomain/);
  refused({ [variable]: '{"cookieStem":"a=b"}' }, variable, /member cookieStem/);
  refused({ [variable]: '{"warmupApp":"campaign-batch"}' }, variable, /different values for campaignApp, warmupApp/);
  refused({ [variable]: '{"failuresManager":"stackroom-web"}' }, variable, /different values for summaryManager/);
  refused({ [variable]: '{"preset":"htrflow","summaryManager":"htrflow-campaigns"}' }, variable, /different values/);
  for (const value of ["other", "[]", "null", "3", '{"a"']) refused({ [variable]: value }, variable, /JSON object/);
});

Deno.test("results role: store, session key and tenant", () => {
  const { results } = read(RESULTS);
  assert.deepEqual(results, {
    store: { endpoint: "https://archive.store.example.org", bucket: "campaigns", verifyTls: true },
    region: "us-east-1",
    keyDerivation: "hcp",
    tenant: "archive",
    sessionKey: { path: "/secrets/session/key" },
    sessionHours: 8,
    trustedHops: 1,
  });
  const { RESULTS_S3_BUCKET: _bucket, ...noBucket } = RESULTS;
  refused(noBucket, "RESULTS_S3_BUCKET", /is required/);
  const { RESULTS_S3_ENDPOINT: _endpoint, ...noEndpoint } = RESULTS;
  refused(noEndpoint, "RESULTS_S3_ENDPOINT", /is required/);
  const address = { ...RESULTS, RESULTS_S3_ENDPOINT: "http://10.0.0.3:9000" };
  assert.equal(read(address).results?.tenant, null);
  assert.equal(read({ ...address, RESULTS_TENANT: "archive" }).results?.tenant, "archive");
  const keyFile = { RESULTS_SESSION_KEY_FILE: "/key" };
  assert.deepEqual(read(keyFile, { exists: () => true }).results?.sessionKey, { path: "/key" });
});

Deno.test("results role: a login's keys follow the store's kind, unless told otherwise", () => {
  const derivation = (env: Record<string, string>) => read({ ...RESULTS, ...env }).results?.keyDerivation;
  assert.equal(derivation({}), "hcp");
  assert.equal(derivation({ STORAGE_BACKEND: "hcp" }), "hcp");
  assert.equal(derivation({ STORAGE_BACKEND: "generic" }), "none");
  assert.equal(derivation({ STORAGE_BACKEND: "minio" }), "none");
  assert.equal(derivation({ STORAGE_BACKEND: "generic", RESULTS_KEY_DERIVATION: "hcp" }), "hcp");
  assert.equal(derivation({ RESULTS_KEY_DERIVATION: "none" }), "none");
  assert.equal(read({}).results?.keyDerivation, "hcp");
});

/** The lines with which a start ends. */
function lines(env: Record<string, string>, files: Partial<Files> = {}): string[] {
  try {
    read(env, files);
  } catch (error) {
    assert(error instanceof ConfigError, String(error));
    return error.message.split("\n");
  }
  return [];
}

const names = (found: readonly string[]) => found.map((line) => line.slice(0, line.indexOf(":")));

Deno.test("config: all missing variables are named at once, the session key's among them, each with the way out", () => {
  const everywhere = lines({ EMBEDDED: "off" }, { exists: () => false });
  assert.deepEqual(
    new Set(names(everywhere)),
    new Set([
      "API_SECRET_KEY",
      "HCP_DOMAIN",
      "CAMPAIGN_RESULTS_URL",
      "KUBECONFIG",
      "RESULTS_S3_ENDPOINT",
      "RESULTS_S3_BUCKET",
      "RESULTS_SESSION_KEY_FILE",
    ]),
  );
  for (const line of everywhere) assert.match(line, /: is required[,:] .*(?:set|write) /);
  assert.deepEqual(names(lines({ EMBEDDED: "off", STORAGE_BACKEND: "generic" }, { exists: () => false })), [
    "API_SECRET_KEY",
    "S3_ENDPOINT_URL",
    "CAMPAIGN_RESULTS_URL",
    "KUBECONFIG",
    "RESULTS_S3_ENDPOINT",
    "RESULTS_S3_BUCKET",
    "RESULTS_SESSION_KEY_FILE",
  ]);
  assert.deepEqual(names(lines({ EMBEDDED: "off", ROLES: "web" })), ["CAMPAIGN_RESULTS_PROXY", "CAMPAIGN_RESULTS_URL"]);
});

Deno.test("config: all bad values are named at once, and so are all settings that contradict others", () => {
  assert.deepEqual(names(lines({ PORT: "x", ROLES: "y", EMBEDDED: "z" })), ["ROLES", "PORT", "EMBEDDED"]);
  assert.deepEqual(names(lines({ HCP_DOMAIN: "a.b", S3_ENDPOINT_URL: "https://c", CA_FILE: "/none" })), [
    "HCP_DOMAIN",
    "S3_ENDPOINT_URL",
    "CA_FILE",
  ]);
  const generic = { ...GENERIC, S3_ENDPOINT_URL: "", S3_ACCESS_KEY: "a", API_SECRET_KEY: "" };
  assert.deepEqual(names(lines(generic)), ["API_SECRET_KEY", "S3_ENDPOINT_URL", "S3_SECRET_KEY"]);
});

Deno.test("results role: a session key that is not there is named by its variable, whoever chose the path", () => {
  const files = { exists: () => false };
  refused(RESULTS, "RESULTS_SESSION_KEY_FILE", /required.*"\/secrets\/session\/key".*openssl rand -base64 32/, files);
  refused({ ...RESULTS, RESULTS_SESSION_KEY_FILE: "/k" }, "RESULTS_SESSION_KEY_FILE", /no file "\/k"/, files);
  refused({ ...RESULTS, HTRFLOW_SESSION_KEY_FILE: "/k" }, "HTRFLOW_SESSION_KEY_FILE", /no file "\/k"/, files);
  assert.equal(read({}, files).results?.sessionKey, null);
});

Deno.test("trusted hops: none before the process, one more before results where the pass-through is in front", () => {
  const hops = (env: Record<string, string>) => {
    const { trustedHops, results } = read(env);
    return [trustedHops, results?.trustedHops];
  };
  assert.deepEqual(hops({}), [0, 1]);
  assert.deepEqual(hops({ TRUSTED_HOPS: "1" }), [1, 2]);
  assert.deepEqual(hops(RESULTS), [0, 1]);
  assert.deepEqual(hops({ ...RESULTS, TRUSTED_HOPS: "0" }), [0, 0]);
  assert.deepEqual(hops({ ...RESULTS, HTRFLOW_TRUSTED_HOPS: "2" }), [2, 2]);
});

Deno.test("bounds: requests at a time have defaults, and no bound is unlimited", () => {
  assert.equal(read({}).maxRequests, 1024);
  assert.equal(read({}).gateway?.maxTenantRequests, 512);
  const given = read({ MAX_REQUESTS: "10", MAX_TENANT_REQUESTS: "2" });
  assert.deepEqual([given.maxRequests, given.gateway?.maxTenantRequests], [10, 2]);
  for (const name of ["MAX_REQUESTS", "MAX_TENANT_REQUESTS"]) refused({ [name]: "0" }, name, /from 1 to/);
});

Deno.test("bounds: connections have defaults, and none by address where a proxy of our own is in front", () => {
  const bounds = (settings: Record<string, string>) => read(settings).server.connections;
  assert.deepEqual(bounds({}), { max: 4096, maxPerAddress: 384, headMs: 30_000, idleMs: 120_000 });
  const given = { MAX_CONNECTIONS: "9", MAX_CONNECTIONS_PER_ADDRESS: "8", HEAD_TIMEOUT: "7", KEEP_ALIVE_TIMEOUT: "6" };
  assert.deepEqual(bounds(given), { max: 9, maxPerAddress: 8, headMs: 7000, idleMs: 6000 });
  assert.equal(bounds({ TRUSTED_HOPS: "1" }).maxPerAddress, null);
  assert.equal(bounds(RESULTS).maxPerAddress, null);
  assert.equal(bounds({ ...RESULTS, TRUSTED_HOPS: "0" }).maxPerAddress, 384);
  for (const name of Object.keys(given)) refused({ [name]: "0" }, name, /from 1 to/);
});

Deno.test("cluster reads: followed where that is allowed unless told otherwise, and no other word will do", () => {
  assert.equal(read(WEB).web?.clusterReads, "auto");
  assert.equal(read({ ...WEB, CAMPAIGN_CLUSTER_READS: "List" }).web?.clusterReads, "list");
  assert.equal(read({ ...WEB, CAMPAIGN_CLUSTER_READS: "watch" }).web?.clusterReads, "watch");
  refused({ ...WEB, CAMPAIGN_CLUSTER_READS: "poll" }, "CAMPAIGN_CLUSTER_READS", /must be auto, watch or list/);
});
