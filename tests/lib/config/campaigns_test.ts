import assert from "node:assert/strict";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { read, refused, RESULTS, WEB } from "./settings.ts";

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
  assert.deepEqual(read({ ...WEB, HOME: "/home/me" }, own).web?.kubeconfig, { path: "/home/me/.kube/config" });
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

Deno.test("results role: a login's keys follow the store's kind, unless set otherwise", () => {
  const derivation = (env: Record<string, string>) => read({ ...RESULTS, ...env }).results?.keyDerivation;
  assert.equal(derivation({}), "hcp");
  assert.equal(derivation({ STORAGE_BACKEND: "hcp" }), "hcp");
  assert.equal(derivation({ STORAGE_BACKEND: "generic" }), "none");
  assert.equal(derivation({ STORAGE_BACKEND: "minio" }), "none");
  assert.equal(derivation({ STORAGE_BACKEND: "generic", RESULTS_KEY_DERIVATION: "hcp" }), "hcp");
  assert.equal(derivation({ RESULTS_KEY_DERIVATION: "none" }), "none");
  assert.equal(read({}).results?.keyDerivation, "hcp");
});

Deno.test("results role: a session key that is not there is named by the variable that was set", () => {
  const files = { exists: () => false };
  refused(RESULTS, "RESULTS_SESSION_KEY_FILE", /required.*"\/secrets\/session\/key".*openssl rand -base64 32/, files);
  refused({ ...RESULTS, RESULTS_SESSION_KEY_FILE: "/k" }, "RESULTS_SESSION_KEY_FILE", /no file "\/k"/, files);
  refused({ ...RESULTS, HTRFLOW_SESSION_KEY_FILE: "/k" }, "HTRFLOW_SESSION_KEY_FILE", /no file "\/k"/, files);
  assert.equal(read({}, files).results?.sessionKey, null);
});
