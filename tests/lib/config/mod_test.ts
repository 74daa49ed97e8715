import assert from "node:assert/strict";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { GENERIC, NO_DISK, read, REAL_STORE, refusalLines, refused, RESULTS, WEB } from "./settings.ts";

Deno.test("config: an empty environment plays all roles on loopback with everything embedded", () => {
  const config = read({});
  assert.deepEqual(config.roles, new Set(["gateway", "web", "results"]));
  assert.deepEqual(config.embedded, {
    ...{ store: true, cluster: true, host: "127.0.0.1" },
    ...{ administrators: null, publicEndpoint: null },
  });
  const { connections: _, ...server } = config.server;
  assert.deepEqual(server, {
    host: "127.0.0.1",
    port: 8000,
    metrics: null,
    allowedHosts: ["localhost", "127.0.0.1", "[::1]"],
    publicOrigin: null,
    stopDelayMs: 0,
    certificate: null,
  });
  assert.equal(config.dataFolder, ".data");
  const { gateway, web, results } = config;
  assert.deepEqual([gateway?.store, gateway?.tokenMinutes], [null, 480]);
  assert.deepEqual([web?.resultsUrl, web?.resultsProxy, results?.store], [null, null, null]);
  assert.deepEqual(config.campaigns.conventions, CONVENTIONS.stackroom);
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

Deno.test("config: secrets never appear in a refusal", () => {
  const secret = "s3cr3t-value";
  const lines = [
    refused({ ...WEB, CAMPAIGN_RESULTS_PROXY: `ftp://:${secret}@r/results` }, "CAMPAIGN_RESULTS_PROXY", /address/),
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

const names = (found: readonly string[]) => found.map((line) => line.slice(0, line.indexOf(":")));

Deno.test("config: all missing variables are named at once, the session key's among them, each with the way out", () => {
  const everywhere = refusalLines({ EMBEDDED: "off" }, NO_DISK);
  const elsewhere = "CAMPAIGN_RESULTS_URL KUBECONFIG RESULTS_S3_ENDPOINT RESULTS_S3_BUCKET RESULTS_SESSION_KEY_FILE";
  assert.equal(names(everywhere).join(" "), `API_SECRET_KEY HCP_DOMAIN ${elsewhere}`);
  for (const line of everywhere) assert.match(line, /: is required[,:] .*(?:set|write) /);
  const generic = refusalLines({ EMBEDDED: "off", STORAGE_BACKEND: "generic" }, NO_DISK);
  assert.equal(names(generic).join(" "), `API_SECRET_KEY S3_ENDPOINT_URL ${elsewhere}`);
  assert.deepEqual(names(refusalLines({ EMBEDDED: "off", ROLES: "web" })), [
    "CAMPAIGN_RESULTS_PROXY",
    "CAMPAIGN_RESULTS_URL",
  ]);
});

Deno.test("config: all bad values are named at once, and so are all settings that contradict others", () => {
  assert.deepEqual(names(refusalLines({ PORT: "x", ROLES: "y", EMBEDDED: "z" })), ["ROLES", "PORT", "EMBEDDED"]);
  const contradictions = refusalLines({ HCP_DOMAIN: "a.b", S3_ENDPOINT_URL: "https://c", CA_FILE: "/none" });
  assert.deepEqual(names(contradictions), ["HCP_DOMAIN", "S3_ENDPOINT_URL", "CA_FILE"]);
  const generic = { ...GENERIC, S3_ENDPOINT_URL: "", S3_ACCESS_KEY: "a", API_SECRET_KEY: "" };
  assert.deepEqual(names(refusalLines(generic)), ["API_SECRET_KEY", "S3_ENDPOINT_URL", "S3_SECRET_KEY"]);
});

Deno.test("config: audit records are retained for a day beside samples, for ever without them, else as long as is set", () => {
  assert.equal(read({}).audit.retentionDays, 1);
  assert.equal(read({ AUDIT_RETENTION_DAYS: "3650" }).audit.retentionDays, 3650);
  const own = { EMBEDDED: "store", EMBEDDED_SAMPLES: "off", EMBEDDED_ADMIN_PASSWORD_FILE: "/run/secrets/admin" };
  assert.equal(read(own).audit.retentionDays, null);
  refused({ AUDIT_RETENTION_DAYS: "0" }, "AUDIT_RETENTION_DAYS", /from 1 to 36500/);
});
