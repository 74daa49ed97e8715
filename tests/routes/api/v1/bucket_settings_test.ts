import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const md5 = (text: string) => createHash("md5").update(text).digest("base64");

Deno.test("versioning: read, and set in S3's spelling whatever the case", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    for (
      const [xml, expected] of [
        ["<VersioningConfiguration/>", { status: null, mfa_delete: null }],
        [
          "<VersioningConfiguration><Status>Suspended</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>",
          {
            status: "Suspended",
            mfa_delete: "Disabled",
          },
        ],
      ] as const
    ) {
      answer(() => new Response(xml));
      assert.deepEqual(await (await call("/api/v1/buckets/b/versioning")).json(), expected);
    }
    assert.equal(seen[0].target, "/b?versioning=");
    answer(() => new Response(null));
    const put = (status: unknown) =>
      call("/api/v1/buckets/b/versioning", { method: "PUT", body: JSON.stringify({ status }) });
    for (const word of ["Enabled", "enabled", "ENABLED"]) {
      assert.deepEqual(await (await put(word)).json(), { status: "updated", versioning: "Enabled" });
    }
    assert.deepEqual(await (await put("suspended")).json(), { status: "updated", versioning: "Suspended" });
    const { method, target, body } = seen[seen.length - 1];
    assert.deepEqual([method, target], ["PUT", "/b?versioning="]);
    assert.equal(
      body,
      `<?xml version="1.0" encoding="UTF-8"?><VersioningConfiguration ${NAMESPACE}><Status>Suspended</Status></VersioningConfiguration>`,
    );
    const sent = seen.length;
    for (const status of ["on", "", null, 1, ["Enabled"], undefined]) {
      const refused = await put(status);
      assert.equal(refused.status, 422, String(status));
      assert.deepEqual((await refused.json()).detail[0].loc, ["body", "status"]);
    }
    assert.equal(seen.length, sent);
    answer(() => s3Error(404, "NoSuchBucket", "gone"));
    const missing = await call("/api/v1/buckets/b/versioning");
    assert.deepEqual([missing.status, await missing.json()], [404, { detail: "bucket 'b': gone" }]);
  });
});

Deno.test("CORS rules: read, replaced by exactly this XML, taken away", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() =>
      new Response(
        `<CORSConfiguration><CORSRule><ID>r1</ID><AllowedOrigin>https://a</AllowedOrigin><AllowedOrigin>https://b</AllowedOrigin>` +
          `<AllowedMethod>PUT</AllowedMethod><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>`,
      )
    );
    const read = await (await call("/api/v1/buckets/b/cors")).json();
    assert.deepEqual(read, {
      cors_rules: [{
        ID: "r1",
        AllowedHeaders: null,
        AllowedMethods: ["PUT"],
        AllowedOrigins: ["https://a", "https://b"],
        ExposeHeaders: null,
        MaxAgeSeconds: 60,
      }],
    });
    answer(() => new Response(null));
    const put = (CORSRules: unknown) =>
      call("/api/v1/buckets/b/cors", { method: "PUT", body: JSON.stringify({ CORSRules }) });
    assert.deepEqual(await (await put(read.cors_rules)).json(), { status: "updated", bucket: null });
    const { target, body, headers } = seen[seen.length - 1];
    assert.equal(target, "/b?cors=");
    assert.equal(
      body,
      `<?xml version="1.0" encoding="UTF-8"?><CORSConfiguration ${NAMESPACE}><CORSRule><AllowedMethod>PUT</AllowedMethod>` +
        `<AllowedOrigin>https://a</AllowedOrigin><AllowedOrigin>https://b</AllowedOrigin><ID>r1</ID><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>`,
    );
    assert.equal(headers.get("content-md5"), md5(body));
    assert.match(headers.get("authorization") ?? "", /SignedHeaders=content-md5;content-type;host;/);
    const gone = await call("/api/v1/buckets/b/cors", { method: "DELETE" });
    assert.deepEqual(await gone.json(), { status: "deleted", bucket: null });
    const sent = seen.length;
    const refusals: [unknown, number][] = [
      [undefined, 422],
      ["x", 422],
      [[{ AllowedMethods: "GET" }], 422],
      [[{ MaxAgeSeconds: -1 }], 422],
      [[{ Allowed: [] }], 422],
      [Array.from({ length: 101 }, () => ({})), 422],
      [[{ AllowedOrigins: ["\x01"] }], 400],
    ];
    for (const [rules, status] of refusals) {
      const refused = await put(rules);
      assert.equal(refused.status, status, JSON.stringify(rules));
      await refused.body?.cancel();
    }
    assert.equal(seen.length, sent);
    answer(() => s3Error(404, "NoSuchCORSConfiguration", "none"));
    assert.equal((await call("/api/v1/buckets/b/cors", { method: "HEAD" })).status, 405);
    const none = await call("/api/v1/buckets/b/cors");
    assert.deepEqual([none.status, await none.json()], [404, { detail: "bucket 'b': none" }]);
  });
});

Deno.test("CORS rules: a second deletion is 404, and who may not read them may still take them away", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    const methods = () => seen.splice(0).map(({ method, target }) => `${method} ${target}`);
    answer(({ method }) =>
      method === "GET" ? s3Error(404, "NoSuchCORSConfiguration", "none") : new Response(null, { status: 204 })
    );
    const second = await call("/api/v1/buckets/b/cors", { method: "DELETE" });
    assert.deepEqual([second.status, await second.json()], [404, { detail: "bucket 'b': none" }]);
    assert.deepEqual(methods(), ["GET /b?cors="], "nothing is deleted");
    answer(({ method }) => method === "GET" ? s3Error(403, "AccessDenied", "no") : new Response(null, { status: 204 }));
    assert.equal((await call("/api/v1/buckets/b/cors", { method: "DELETE" })).status, 200);
    assert.deepEqual(methods(), ["GET /b?cors=", "DELETE /b?cors="]);
    answer(() => s3Error(501, "NotImplemented", "lacking"));
    assert.equal((await call("/api/v1/buckets/b/cors", { method: "DELETE" })).status, 501);
  });
});

Deno.test("settings that a store lacks: 501 naming the operation and the backend", async () => {
  await withGateway({ gateway: { backend: "minio" } }, async ({ call, answer }) => {
    answer(() => s3Error(501, "NotImplemented", "A header you provided implies functionality that is not implemented"));
    const acl = JSON.stringify({ Owner: { ID: "o" }, Grants: [] });
    const asked: [string, string, string, string?][] = [
      ["GET", "b/cors", "get_bucket_cors"],
      ["PUT", "b/cors", "put_bucket_cors", '{"CORSRules":[]}'],
      ["DELETE", "b/cors", "delete_bucket_cors"],
      ["GET", "b/acl", "get_bucket_acl"],
      ["PUT", "b/acl", "put_bucket_acl", acl],
      ["GET", "b/objects/k/acl", "get_object_acl"],
      ["PUT", "b/objects/k/acl", "put_object_acl", acl],
      ["GET", "b/tags/k", "get_object_tags"],
      ["PUT", "b/tags/k", "put_object_tags", '{"tags":{}}'],
      ["DELETE", "b/tags/k", "delete_object_tags"],
      ["GET", "b/versioning", "get_bucket_versioning"],
    ];
    for (const [method, path, operation, body] of asked) {
      const response = await call(`/api/v1/buckets/${path}`, { method, body });
      assert.equal(response.status, 501, path);
      assert.deepEqual(await response.json(), { detail: `'${operation}' is not supported by the minio backend` });
    }
  });
});
