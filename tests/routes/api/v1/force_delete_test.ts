import assert from "node:assert/strict";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

Deno.test("force delete: over HTTP, with the caller's own credentials at both protocols", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer((request, { target }) => {
      if (target.includes("uploads")) return new Response("<ListMultipartUploadsResult/>");
      if (target.includes("versions")) return new Response("<ListVersionsResult/>");
      if (target.includes("list-type")) return new Response("<ListBucketResult/>");
      if (target.startsWith("/mapi/")) return new Response(null);
      return request.method === "DELETE" ? s3Error(409, "BucketNotEmpty", "records") : new Response(null);
    });
    const deleted = await call("/api/v1/buckets/b?force=true", { method: "DELETE" });
    assert.deepEqual([deleted.status, await deleted.json()], [200, { status: "deleted", bucket: "b" }]);
    const mapi = seen.filter(({ target }) => target.startsWith("/mapi/"));
    assert.deepEqual(mapi.map(({ method, target, body }) => [method, target, body]), [
      [
        "POST",
        "/mapi/tenants/archive/namespaces/b/versioningSettings",
        '{"keepDeletionRecords":false,"prune":true,"pruneDays":0}',
      ],
      ["POST", "/mapi/tenants/archive/namespaces/b", '{"searchEnabled":false}'],
      ["DELETE", "/mapi/tenants/archive/namespaces/b", ""],
    ]);
    assert.equal(mapi[0].headers.get("authorization"), "HCP Y3VyYXRvcg==:2a9d119df47ff993b662a8ef36f9ea20");
    seen.length = 0;
    const plain = await call("/api/v1/buckets/b?force=false", { method: "DELETE" });
    assert.deepEqual([plain.status, await plain.json()], [409, { detail: "bucket 'b': records" }]);
    assert.equal(seen.length, 1, "without force nothing is removed");
    const bad = await call("/api/v1/buckets/b?force=perhaps", { method: "DELETE" });
    assert.equal(bad.status, 422);
    await bad.body?.cancel();
  });
});

Deno.test("force delete: on a generic store the plain delete's answer stands", async () => {
  await withGateway({ gateway: { backend: "generic" } }, async ({ call, answer, seen }) => {
    answer((request, { target }) => {
      if (target.includes("uploads") || target.includes("versions")) return s3Error(501, "NotImplemented", "no");
      if (target.includes("list-type")) return new Response("<ListBucketResult/>");
      return request.method === "DELETE" ? s3Error(409, "BucketNotEmpty", "still full") : new Response(null);
    });
    const refused = await call("/api/v1/buckets/b?force=true", { method: "DELETE" });
    assert.deepEqual([refused.status, await refused.json()], [409, { detail: "bucket 'b': still full" }]);
    assert.ok(!seen.some(({ target }) => target.startsWith("/mapi/")));
  });
});
