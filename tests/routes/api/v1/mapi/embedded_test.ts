import assert from "node:assert/strict";
import { administrator, type Call, embeddedTest } from "./embedded_gateway.ts";
import type { Document } from "./schema_samples.ts";

const BASE = "/tenants/archive/namespaces";

embeddedTest("namespaces: an exported template makes a like one in another tenant", async ({ as }) => {
  const archive = as("archive", "curator");
  const research = as("research", "researcher");
  const body = { name: "scans", hardQuota: "7 GB", tags: { tag: ["a"] }, versioningSettings: { enabled: true } };
  assert.equal((await archive("PUT", BASE, body)).status, 201);
  const classes = `${BASE}/scans/retentionClasses`;
  assert.equal((await archive("PUT", classes, { name: "short", value: "A+1y" })).status, 201);
  assert.equal((await archive("POST", `${BASE}/scans/protocols/nfs`, { enabled: true, uid: 7 })).status, 200);
  const [template] = Object((await archive("GET", `${BASE}/scans/export`)).json().namespaces);
  assert.deepEqual(template.retentionClasses, [{
    name: "short",
    description: "",
    allowDisposition: false,
    value: "A+1y",
  }]);
  assert.equal(template.protocols.nfs.uid, 7);
  assert.deepEqual(template.protocols.http.hs3Enabled, true);
  // Whoever owns it here is nobody there.
  const made = await research("PUT", "/tenants/research/namespaces", { ...template, owner: null });
  assert.equal(made.status, 201, made.text);
  const record = (await research("GET", "/tenants/research/namespaces/scans?verbose=true")).json();
  assert.deepEqual([record.hardQuota, record.tags, record.owner], ["7 GB", { tag: ["a"] }, "researcher"]);
});

embeddedTest(
  "namespaces: what a body names and is absent is 409, and so is what can be set but once",
  async ({ as }) => {
    const call = as("archive", "curator");
    assert.equal((await call("PUT", BASE, { name: "named" })).status, 201);
    const refusals: [string, string, unknown, number][] = [
      ["PUT", BASE, { name: "other", owner: "nobody" }, 409],
      ["PUT", BASE, { name: "other", owner: "curator", ownerType: "EXTERNAL" }, 409],
      ["POST", `${BASE}/named`, { owner: "nobody" }, 409],
      ["POST", `${BASE}/named`, { ownerType: "EXTERNAL" }, 409],
      ["POST", `${BASE}/named`, { aclsUsage: "NOT_ENABLED" }, 409],
      ["PUT", "/tenants/archive/contentClasses", { name: "c", namespaces: ["absent"] }, 409],
      ["POST", `${BASE}/named/customMetadataIndexingSettings`, { contentClasses: ["absent"] }, 409],
    ];
    for (const [method, path, body, status] of refusals) {
      const answer = await call(method, path, body);
      assert.equal(answer.status, status, `${path} ${JSON.stringify(body)}: ${answer.text}`);
    }
    assert.equal((await call("GET", `${BASE}/other`)).status, 404, "nothing is made");
    assert.equal((await call("POST", `${BASE}/named`, { owner: "curator", ownerType: "LOCAL" })).status, 200);
  },
);

const NAMES: Readonly<Record<string, string>> = {
  ns: "twin",
  username: "twin",
  groupname: "twins",
  name: "twin",
  plan_name: "Default",
  retention_class: "twin",
};

/** Makes in a tenant one of everything, named as in every other tenant, and marked with the tenant's name. */
async function furnish(call: Call, tenant: string): Promise<void> {
  const mark = `of ${tenant}`;
  const base = `/tenants/${tenant}`;
  const ns = `${base}/namespaces/twin`;
  const steps: [string, string, unknown][] = [
    ["POST", base, { tenantVisibleDescription: mark }],
    ["PUT", `${base}/namespaces`, { name: "twin", description: mark, tags: { tag: [mark] } }],
    ["PUT", `${base}/userAccounts?password=twin-1234`, { ...administrator("twin"), fullName: mark, description: mark }],
    ["PUT", `${base}/groupAccounts`, {
      groupname: "twins",
      description: mark,
      roles: { role: ["MONITOR"] },
      members: { username: ["twin"] },
    }],
    ["PUT", `${base}/contentClasses`, {
      name: "twin",
      contentProperties: [{ name: tenant, expression: "/a", type: "STRING" }],
      namespaces: ["twin"],
    }],
    ["PUT", `${base}/cors`, { cors: corsOf(tenant) }],
    ["POST", `${base}/contactInfo`, { city: mark }],
    ["POST", `${base}/consoleSecurity`, { loginMessage: mark }],
    ["POST", `${base}/searchSecurity`, {
      ipSettings: { allowAddresses: [tenant === "archive" ? "10.0.0.1" : "10.0.0.2"] },
    }],
    ["POST", `${base}/emailNotification`, { recipients: [{ address: `${tenant}@example.org` }] }],
    ["POST", `${base}/namespaceDefaults`, { description: mark }],
    ["POST", `${base}/permissions`, { permission: ["READ", "WRITE", tenant === "archive" ? "DELETE" : "PURGE"] }],
    ["PUT", `${ns}/retentionClasses`, { name: "twin", value: "A+1y", description: mark }],
    ["PUT", `${ns}/cors`, { cors: corsOf(tenant) }],
    ["POST", `${ns}/complianceSettings`, { retentionDefault: tenant === "archive" ? "A+3y" : "A+4y" }],
    ["POST", `${ns}/customMetadataIndexingSettings`, { excludedAnnotations: mark, contentClasses: ["twin"] }],
    ["POST", `${ns}/protocols/smtp`, { emailLocation: `/${tenant}/` }],
    ["POST", `${base}/userAccounts/twin/dataAccessPermissions`, {
      namespacePermission: [{
        namespaceName: "twin",
        permissions: { permission: [tenant === "archive" ? "READ" : "WRITE"] },
      }],
    }],
  ];
  for (const [method, path, body] of steps) {
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  }
}

function corsOf(tenant: string): string {
  return `<CORSConfiguration><CORSRule><AllowedOrigin>https://${tenant}.example</AllowedOrigin>` +
    "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>";
}

embeddedTest(
  "tenants: with equal names of everything they never see each other, in any list or record",
  async ({ app, as }) => {
    const archive = as("archive", "curator");
    const research = as("research", "researcher");
    const document: Document = await (await app.request("/openapi.json")).json();
    const paths = Object.entries(document.paths)
      .filter(([path, methods]) => path.startsWith("/api/v1/mapi/tenants/{tenant_name}") && "get" in methods)
      .map(([path]) => path.replace("/api/v1/mapi", ""));
    assert.ok(paths.length > 30);
    const at = (path: string, tenant: string) =>
      path.replace(/\{(\w+)\}/g, (_, name: string) => ({ ...NAMES, tenant_name: tenant })[name] ?? "") +
      (path.endsWith("/namespaces/export") ? "?names=twin" : "?verbose=true");
    const seen = async (call: Call, path: string, tenant: string) => {
      const answer = await call("GET", at(path, tenant));
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      return answer.text.replace(/"exportedAt":"[^"]*"/, "");
    };

    await furnish(archive, "archive");
    const before = new Map<string, string>();
    for (const path of paths) before.set(path, await seen(archive, path, "archive"));
    await furnish(research, "research");
    for (const path of paths) {
      assert.equal(await seen(archive, path, "archive"), before.get(path), path);
      assert.doesNotMatch(await seen(research, path, "research"), /archive/, path);
      assert.equal((await archive("GET", at(path, "research"))).status, 403, path);
      assert.equal((await research("GET", at(path, "archive"))).status, 403, path);
    }

    // The same name and password is another user there, and a change here is none there.
    assert.equal(
      (await as("archive", "twin", "twin-1234")("POST", "/tenants/archive/userAccounts/twin/changePassword", {
        oldPassword: "twin-1234",
        newPassword: "twin-5678",
      })).status,
      200,
    );
    assert.equal((await as("archive", "twin", "twin-1234")("GET", "/tenants/archive")).status, 403);
    assert.equal((await as("research", "twin", "twin-1234")("GET", "/tenants/research")).status, 200);
    for (const path of ["groupAccounts/twins", "contentClasses/twin", "userAccounts/twin", "namespaces/twin"]) {
      const gone = await archive("DELETE", `/tenants/archive/${path}`);
      assert.equal(gone.status, 200, `${path}: ${gone.text}`);
      assert.equal((await research("GET", `/tenants/research/${path}`)).status, 200, path);
    }
  },
);
