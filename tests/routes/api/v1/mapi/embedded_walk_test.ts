import assert from "node:assert/strict";
import { leaks, withEmbeddedGateway } from "./embedded_gateway.ts";
import { broken, type Document } from "./schema_samples.ts";

/** What the walk makes first and deletes last. */
const NAMES: Readonly<Record<string, string>> = {
  ns: "walked",
  username: "walked",
  groupname: "walkers",
  name: "walked",
  plan_name: "Default",
  retention_class: "walked",
};

const QUERIES: Readonly<Record<string, string>> = {
  create_user_account: "password=walked-1",
  reset_passwords: "resetPasswords=walker-1",
  export_namespaces: "names=walked,letters",
  create_tenant: "username=boss&password=boss-1234&forcePasswordChange=true",
  create_system_tenant: "username=boss&password=boss-1234&initialSecurityGroup=guards",
};

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
