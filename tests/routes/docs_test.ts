import assert from "node:assert/strict";
import { EMBEDDED_FORMS } from "@/embedded/store/names.ts";
import { gatewayTest, withGateway } from "./gateway_fixture.ts";

interface Operation {
  readonly responses: Record<string, { content?: unknown }>;
}

gatewayTest("docs: the page and all it loads come from our own origin under a policy", async ({ app }) => {
  const page = await app.request("/docs");
  assert.match(page.headers.get("Content-Security-Policy") ?? "", /script-src 'self';/);
  assert.match(page.headers.get("Content-Security-Policy") ?? "", /frame-ancestors 'none'/);
  const html = await page.text();
  assert.ok(!/https?:\/\//.test(html), "nothing from elsewhere");
  assert.ok(!/<script>/.test(html), "no inline script");
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link);
  const files = links.filter((link) => !link.startsWith("data:"));
  assert.equal(files.length, 6);
  for (const link of files) {
    const file = await app.request(new URL(link, "http://localhost/docs").pathname);
    assert.equal(file.status, 200, link);
    assert.ok((await file.arrayBuffer()).byteLength > 0);
  }
  assert.match(html, /class="without-scripts".*<a href="\/openapi\.json">/);
  assert.equal((await app.request("/redoc")).headers.get("Location"), "/docs");
  assert.equal((await app.request("/docs/")).headers.get("Location"), "/docs");
  assert.equal((await app.request("/")).headers.get("Location"), "/docs");
  assert.equal((await app.request("/docs/package.json")).status, 404);
});

gatewayTest(
  "openapi: the operations without a login are these alone, and every schema can be resolved",
  async ({ app }) => {
    const document = await (await app.request("/openapi.json")).json();
    const open: string[] = [];
    for (const [path, item] of Object.entries<Record<string, { security?: unknown }>>(document.paths)) {
      for (const [method, operation] of Object.entries(item)) if (!operation.security) open.push(`${method} ${path}`);
    }
    assert.deepEqual(open.filter((route) => route.includes("/api/")), [
      "post /api/v1/auth/token",
      "get /api/v1/capabilities",
      "get /api/v1/buckets/{bucket}/objects/download/{task_id}/file",
      "head /api/v1/buckets/{bucket}/objects/download/{task_id}/file",
    ]);
    for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert.ok(document.components.schemas[name], name);
    }
  },
);

Deno.test("openapi: what a store gives out has a pattern where the store is our own, and none elsewhere", async () => {
  for (const issuedForms of [EMBEDDED_FORMS, null]) {
    await withGateway({ gateway: { issuedForms } }, async ({ app }) => {
      const { paths } = await (await app.request("/openapi.json")).json();
      const pattern = (path: string, method: string, name: string) =>
        paths[`/api/v1/buckets/{bucket}/${path}`][method].parameters
          .find((parameter: { name: string }) => parameter.name === name).schema.pattern;
      for (const method of ["get", "head", "delete"]) {
        assert.equal(pattern("objects/{key}", method, "version_id"), issuedForms?.versionId);
      }
      assert.equal(pattern("objects", "get", "continuation_token"), issuedForms?.continuationToken);
      assert.equal(pattern("versions", "get", "version_id_marker"), issuedForms?.versionIdMarker);
    });
  }
});

gatewayTest(
  "openapi: what is taken beyond the types is said, and what is said is taken",
  async ({ app, call, answer }) => {
    const { paths, components: { schemas } } = await (await app.request("/openapi.json")).json();
    const namespaces = "/api/v1/mapi/tenants/{tenant_name}/namespaces";
    const offset = paths[namespaces].get.parameters.find(({ name }: { name: string }) => name === "offset");
    assert.deepEqual(offset.schema, { type: "integer", minimum: 0 });
    answer(() => new Response('{"name":[]}'));
    const beyond = await call("/api/v1/mapi/tenants/archive/namespaces?offset=99999999999999999999");
    assert.deepEqual([beyond.status, await beyond.json()], [200, { name: [] }]);

    const { bucket, key } = schemas.PresignRequest.properties;
    const { status } = schemas.VersioningUpdate.properties;
    const { newPassword } = schemas.UpdatePasswordRequest.properties;
    const cases: [pattern: string, taken: string[], refused: string[]][] = [
      [status.pattern, ["Enabled", "sUSPENDED"], ["on", "Enabledx"]],
      [bucket.pattern, ["notes", "a.b", "..."], [".", "..", "a/b"]],
      [key.pattern, ["a", "a/b", "..a/.b", "a\n/b"], ["..", "./a", "a/..", "a\n/../b"]],
      [newPassword.pattern, ["abc1", "1å", "ab ", "1-"], ["abc", "123", "--", ""]],
    ];
    for (const [pattern, taken, refused] of cases) {
      assert.deepEqual([...taken, ...refused].filter((text) => new RegExp(pattern, "u").test(text)), taken);
    }
    const [some, all] = schemas.BulkDelete.anyOf;
    assert.deepEqual(some.properties, { prefix: { not: { const: "" } }, all: { not: { const: true } } });
    assert.deepEqual(all.properties, { prefix: { const: "" }, all: { const: true } });
    const group = schemas.GroupAccountCreate.anyOf.map(({ required }: { required: string[] }) => required);
    assert.deepEqual(group, [["groupname"], ["externalGroupID"]]);
  },
);

gatewayTest("openapi: every success of an operation that answers JSON has a shape", async ({ app }) => {
  const { paths } = await (await app.request("/openapi.json")).json();
  const unshaped: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      const success = Object.entries(responses).filter(([status]) => status.startsWith("2"));
      if (method !== "head" && success.some(([, { content }]) => !content)) unshaped.push(`${method} ${path}`);
    }
  }
  assert.deepEqual(unshaped, []);
  for (const path of ["/readyz", "/liveness", "/health", "/healthz", "/readiness"]) {
    const { schema } = paths[path].get.responses[200].content["application/json"];
    assert.ok("$ref" in schema || schema.type === "object", path);
  }
});
