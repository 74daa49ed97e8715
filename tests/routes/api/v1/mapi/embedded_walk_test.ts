import assert from "node:assert/strict";
import { administrator, leaks, withEmbeddedGateway } from "./embedded_gateway.ts";
import { broken, type Document, sample } from "./schema_samples.ts";

const ORDER = ["put", "get", "head", "post", "delete"];

/** What the walk makes first and deletes last. */
const NAMES: Readonly<Record<string, string>> = {
  ns: "walked",
  username: "walked",
  groupname: "walkers",
  name: "walked",
  plan_name: "Default",
  retention_class: "walked",
};

/** Bodies where the description alone does not say what the store takes. */
const BODIES: Readonly<Record<string, unknown>> = {
  create_namespace: {
    name: "walked",
    hardQuota: "2 GB",
    softQuota: 50,
    tags: { tag: ["a"] },
    versioningSettings: { enabled: true, prune: true, pruneDays: 3 },
  },
  update_namespace: { description: "Walked", hardQuota: "3 GB", softQuota: 60, aclsUsage: "ENFORCED", owner: "walker" },
  create_user_account: administrator("walked"),
  update_user_account: { fullName: "Walked", roles: { role: ["MONITOR"] }, enabled: true },
  change_password: { newPassword: "walked-2" },
  create_group_account: { groupname: "walkers", roles: { role: ["MONITOR"] } },
  update_user_permissions: {
    namespacePermission: [{ namespaceName: "walked", permissions: { permission: ["READ", "PURGE"] } }],
  },
  create_content_class: {
    name: "walked",
    contentProperties: [{ name: "title", expression: "/doc/title", type: "STRING" }],
    namespaces: ["walked"],
  },
  update_content_class: { contentProperties: { contentProperty: [] }, namespaces: { name: [] } },
  create_retention_class: { name: "walked", value: "A+7y-1M" },
  update_retention_class: { value: "2030-01-01" },
  update_compliance_settings: { retentionDefault: "C+walked", customMetadataChanges: "ADD", shreddingDefault: true },
  update_custom_metadata_indexing_settings: { contentClasses: ["walked"], fullIndexingEnabled: true },
  update_replication_collision_settings: { action: "RENAME", deleteDays: 30, deleteEnabled: true },
  update_versioning_settings: { enabled: true, pruneDays: "4" },
  update_namespace_defaults: { hardQuota: "4 GB", softQuota: 80, versioningSettings: { enabled: true } },
  update_console_security: { minimumPasswordLength: 7, passwordReuseDepth: 3, ipSettings: { denyAddresses: ["::1"] } },
  update_email_notification: {
    enabled: true,
    emailTemplate: { from: "a@example.org", subject: "$reason", body: "$fullText" },
    recipients: [{ address: "b@example.org", severity: "WARNING", type: "GENERAL,SECURITY" }],
  },
  create_tenant: { name: "walked-a", hardQuota: "1 TB", namespaceQuota: 12 },
  create_system_tenant: { name: "walked-b", softQuota: "70", namespaceQuota: "None" },
  update_tenant: { tenantVisibleDescription: "Walked", tags: { tag: ["t"] } },
};

const QUERIES: Readonly<Record<string, string>> = {
  create_user_account: "password=walked-1",
  reset_passwords: "resetPasswords=walker-1",
  export_namespaces: "names=walked,letters",
  create_tenant: "username=boss&password=boss-1234&forcePasswordChange=true",
  create_system_tenant: "username=boss&password=boss-1234&initialSecurityGroup=guards",
};

Deno.test("management: every operation works against the embedded store, with what it asks for", leaks, async () => {
  await withEmbeddedGateway(async ({ app, as }) => {
    const curator = as("archive", "curator");
    const walker = { user: "walker", password: "walker-1" };
    const made = await curator(
      "PUT",
      `/tenants/archive/userAccounts?password=${walker.password}`,
      administrator("walker"),
    );
    assert.equal(made.status, 201, made.text);
    const tenant = as("archive", walker.user, walker.password);
    const system = as(null, "admin");

    const document: Document = await (await app.request("/openapi.json")).json();
    const operations = Object.entries(document.paths).filter(([path]) => path.startsWith("/api/v1/mapi/")).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    ).sort((a, b) =>
      ORDER.indexOf(a.method) - ORDER.indexOf(b.method) ||
      (a.method === "delete" ? b.path.length - a.path.length : a.path.length - b.path.length)
    );
    const refused: string[] = [];
    for (const { path, method, operation } of operations) {
      const isOfSystem = /\/tenants(?:\/\{tenant_name\})?$/.test(path);
      const names = { ...NAMES, tenant_name: isOfSystem ? "walked-a" : "archive" };
      const at = filled(path, names).replace("/api/v1/mapi", "");
      const query = QUERIES[operation.operationId];
      const schema = operation.requestBody?.content["application/json"].schema;
      const body = BODIES[operation.operationId] ?? (schema && sample(schema, document));
      const answer = await (isOfSystem ? system : tenant)(method.toUpperCase(), query ? `${at}?${query}` : at, body);
      const what = `${method} ${path}: ${answer.status} ${answer.text}`;
      assert.ok(answer.status < 500 && String(answer.status) in operation.responses, what);
      if (answer.status >= 300) refused.push(`${operation.operationId} ${answer.status}`);
    }
    assert.deepEqual(refused, []);
  });
});

Deno.test("management: broken input never is a fault of the embedded store", leaks, async () => {
  await withEmbeddedGateway(async ({ app, as }) => {
    const tenant = as("archive", "curator");
    const document: Document = await (await app.request("/openapi.json")).json();
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!path.startsWith("/api/v1/mapi/")) continue;
      for (const [method, operation] of Object.entries(methods)) {
        const schema = operation.requestBody?.content["application/json"].schema;
        const at = filled(path, { ...NAMES, tenant_name: "archive", ns: "letters", username: "reader" });
        const target = `${at.replace("/api/v1/mapi", "")}?${QUERIES[operation.operationId] ?? ""}`;
        for (const body of schema ? broken(schema, document) : []) {
          const answer = await tenant(method.toUpperCase(), target, body);
          assert.ok(answer.status < 500, `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
        }
      }
    }
  });
});

function filled(path: string, names: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name]));
}
