import assert from "node:assert/strict";
import { read, REAL_STORE, refused, RESULTS, WEB } from "./settings.ts";

Deno.test("HOST: every interface beside an embedded part demands CAMPAIGN_RESULTS_URL and warns", () => {
  for (const HOST of ["0.0.0.0", "::", "[::]", "0", "0x0", "::0", "::ffff:0.0.0.0"]) {
    refused({ HOST }, "CAMPAIGN_RESULTS_URL", /HOST is every interface/);
  }
  const url = "http://box.example.org:8000/results/";
  const config = read({ HOST: "0.0.0.0", CAMPAIGN_RESULTS_URL: url, TRUSTED_HOPS: "1" });
  assert.deepEqual(config.server.allowedHosts, ["localhost", "127.0.0.1", "[::1]", "box.example.org"]);
  assert.equal(config.server.publicOrigin, "http://box.example.org:8000");
  assert.deepEqual(config.web?.resultsUrl, "http://box.example.org:8000/results");
  assert.match(config.warnings.join(), /^HOST: 0\.0\.0\.0 lets others reach/);
});

Deno.test("HOST: a name of its own is accepted beside the loopback names, and warns where others reach it", () => {
  assert.deepEqual(read({ HOST: "127.0.0.5" }).warnings, []);
  const { server, warnings } = read({ HOST: "Box.example.org", TRUSTED_HOPS: "1" });
  assert.deepEqual(server.allowedHosts, ["localhost", "127.0.0.1", "[::1]", "box.example.org"]);
  assert.equal(warnings.length, 1);
});

Deno.test("CAMPAIGN_RESULTS_URL: a name beyond loopback warns beside sample passwords", () => {
  const warnings = (CAMPAIGN_RESULTS_URL: string) => read({ CAMPAIGN_RESULTS_URL }).warnings;
  assert.match(
    warnings("https://box.example.org/results").join(),
    /^CAMPAIGN_RESULTS_URL: box\.example\.org lets others/,
  );
  assert.deepEqual(warnings("http://127.0.0.1:9000/results"), []);
});

Deno.test("EMBEDDED_HOST: shown in addresses, so no wildcard", () => {
  refused({ EMBEDDED_HOST: "0.0.0.0" }, "EMBEDDED_HOST", /not a wildcard/);
  assert.equal(read({ EMBEDDED_HOST: "::1" }).embedded.host, "::1");
  assert.match(read({ EMBEDDED_HOST: "10.0.0.7" }).warnings.join(), /^EMBEDDED_HOST: 10\.0\.0\.7 lets others/);
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
  const good = ["redis://redis", "rediss://redis.example.org:6380/3", "redis://:p%2Fw@127.0.0.1:6379/0"];
  for (const url of [...good, "redis://user:pw@[::1]:6379"]) {
    assert.equal(read({ ...REAL_STORE, REDIS_URL: url }).redisUrl, url);
    assert.equal(read({ ...WEB, REDIS_URL: url }).redisUrl, null);
  }
  const bad = [
    "redis",
    "redis://",
    "redis:///0",
    "http://hushed",
    "redis://hushed/db",
    "redis://a b",
    "redis://h?db=1",
  ];
  for (const url of [...bad, "redis://:%hushed@h", "redis://h/0/1"]) {
    const line = refused({ ...REAL_STORE, REDIS_URL: url }, "REDIS_URL", /must be an address such as redis:/);
    assert.ok(!line.includes("hushed"));
  }
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
  assert.equal(read({ MAX_REQUESTS: "10" }).maxRequests, 10);
  refused({ MAX_REQUESTS: "0" }, "MAX_REQUESTS", /from 1 to/);
});

Deno.test("STOP_DELAY: seconds, none without it", () => {
  assert.equal(read({ STOP_DELAY: "7" }).server.stopDelayMs, 7000);
  refused({ STOP_DELAY: "-1" }, "STOP_DELAY", /from 0 to/);
});

Deno.test("bounds: connections have defaults, and none by address where a proxy of our own is in front", () => {
  const bounds = (settings: Record<string, string>) => read(settings).server.connections;
  assert.deepEqual(bounds({}), { max: 4096, maxPerAddress: 384, headMs: 30_000, idleMs: 120_000 });
  const given = { MAX_CONNECTIONS: "9", MAX_REQUESTS: "20", KEEP_ALIVE_TIMEOUT: "6" };
  assert.deepEqual(bounds(given), { max: 9, maxPerAddress: 8, headMs: 30_000, idleMs: 6000 });
  assert.equal(bounds({ TRUSTED_HOPS: "1" }).maxPerAddress, null);
  assert.equal(bounds(RESULTS).maxPerAddress, null);
  assert.equal(bounds({ ...RESULTS, TRUSTED_HOPS: "0" }).maxPerAddress, 384);
  for (const name of Object.keys(given)) refused({ [name]: "0" }, name, /from 1 to/);
});

Deno.test("METRICS_PORT: off when unset, and never the port of the site", () => {
  const { metrics } = read({ METRICS_PORT: "9464", METRICS_HOST: "::" }).server;
  assert.deepEqual(metrics, { host: "::", port: 9464, allowedHosts: null });
  assert.equal(read({ METRICS_PORT: "0", PORT: "0" }).server.metrics?.port, 0);
  refused({ METRICS_PORT: "8000" }, "METRICS_PORT", /must differ from PORT/);
});

Deno.test("METRICS_HOST: this machine alone unless it is set, whatever HOST is", () => {
  const { metrics } = read({ ...REAL_STORE, HOST: "0.0.0.0", METRICS_PORT: "9464" }).server;
  assert.equal(metrics?.host, "127.0.0.1");
  assert.ok(metrics.allowedHosts?.includes("localhost"));
  assert.equal(read({ METRICS_HOST: "0.0.0.0" }).server.metrics, null);
});
