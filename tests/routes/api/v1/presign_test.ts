import assert from "node:assert/strict";
import { ownKeyIdentities, sharedKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";

Deno.test("presign: answers a URL under the public address, without asking the store", async () => {
  await withGateway({}, async ({ call, seen }) => {
    const post = async (body: Record<string, unknown>) => {
      const response = await call("/api/v1/presign", {
        method: "POST",
        body: JSON.stringify({ bucket: "b", key: "a b", ...body }),
      });
      return { status: response.status, body: await response.json() };
    };
    const plain = await post({});
    const { url, ...rest } = plain.body;
    assert.deepEqual(rest, { bucket: "b", key: "a b", expires_in: 3600, method: "get_object" });
    assert.ok(url.startsWith("https://share.example.org/b/a%20b?X-Amz-Algorithm=AWS4-HMAC-SHA256&"));
    assert.equal(new URL(url).searchParams.get("X-Amz-Expires"), "3600");
    assert.equal((await post({ expires_in: 604_800, method: "put_object" })).body.expires_in, 604_800);
    assert.equal((await post({ validity: 60 })).body.expires_in, 60);
    assert.equal((await post({ validity: 60, expires_in: 61 })).body.expires_in, 61);
    assert.equal((await post({ validity: null, expires_in: null })).body.expires_in, 3600);
    for (
      const [field, value] of [["expires_in", 0], ["expires_in", 604_801], ["validity", 999_999], [
        "expires_in",
        1.5,
      ]] as const
    ) {
      const refused = await post({ [field]: value });
      assert.equal(refused.status, 422);
      assert.deepEqual(refused.body.detail[0].loc, ["body", field]);
      assert.equal(refused.body.detail[0].input, value);
    }
    const method = await post({ method: "delete_object" });
    assert.deepEqual([method.status, method.body], [422, { detail: "method must be one of: get_object, put_object" }]);
    for (const key of ["a/../b", ".", "\ud800"]) assert.equal((await post({ key })).status, 400, key);
    assert.equal(seen.length, 0);
  });
});

const SHA256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";

Deno.test("presign: a checksum and a content type are signed headers, which the response names", async () => {
  await withGateway({}, async ({ call, seen }) => {
    const post = async (body: Record<string, unknown>) => {
      const response = await call("/api/v1/presign", {
        method: "POST",
        body: JSON.stringify({ bucket: "b", key: "k", method: "put_object", ...body }),
      });
      return { status: response.status, body: await response.json() };
    };
    const signed = async (body: Record<string, unknown>) => {
      const { status, body: { url, headers } } = await post(body);
      assert.equal(status, 200);
      return [new URL(url).searchParams.get("X-Amz-SignedHeaders"), headers];
    };
    assert.deepEqual(await signed({}), ["host", undefined]);
    assert.deepEqual(await signed({ checksum_sha256: null, content_type: null }), ["host", undefined]);
    assert.deepEqual(await signed({ checksum_sha256: SHA256 }), [
      "host;x-amz-checksum-sha256",
      { "x-amz-checksum-sha256": SHA256 },
    ]);
    assert.deepEqual(await signed({ content_type: "text/plain; charset=utf-8" }), [
      "content-type;host",
      { "content-type": "text/plain; charset=utf-8" },
    ]);
    assert.deepEqual(await signed({ checksum_sha256: SHA256, content_type: "image/tiff" }), [
      "content-type;host;x-amz-checksum-sha256",
      { "content-type": "image/tiff", "x-amz-checksum-sha256": SHA256 },
    ]);
    const rejected: Record<string, unknown>[] = [
      { checksum_sha256: "" },
      { checksum_sha256: SHA256.slice(1) },
      { checksum_sha256: SHA256.replace("Q=", "R=") },
      { checksum_sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" },
      { content_type: "" },
      { content_type: " text/plain" },
      { content_type: "text/plain;  a=b" },
      { content_type: "text/plain\r\nx: y" },
      { content_type: "é" },
      { content_type: "x".repeat(256) },
    ];
    for (const body of rejected) {
      const response = await post(body);
      assert.equal(response.status, 422, JSON.stringify(body));
      assert.deepEqual(response.body.detail[0].loc, ["body", Object.keys(body)[0]]);
    }
    for (const body of [{ checksum_sha256: SHA256 }, { content_type: "image/tiff" }]) {
      assert.deepEqual(await post({ ...body, method: "get_object" }), {
        status: 422,
        body: { detail: "checksum_sha256 and content_type go with the method put_object" },
      });
    }
    assert.equal(seen.length, 0);
  });
});

Deno.test("credentials: derived, the caller's own, or the configured ones", async () => {
  const ask = async (gateway: Parameters<typeof withGateway>[0]) => {
    let answer: Record<string, unknown> = {};
    await withGateway(gateway, async ({ call }) => {
      answer = await (await call("/api/v1/credentials")).json();
    });
    return answer;
  };
  assert.deepEqual(await ask({}), {
    access_key_id: "Y3VyYXRvcg==",
    secret_access_key: "2a9d119df47ff993b662a8ef36f9ea20",
    username: "curator",
    tenant: "archive",
    endpoint_url: "https://share.example.org",
  });
  const own = await ask({ identify: ownKeyIdentities("native") });
  assert.deepEqual([own.access_key_id, own.secret_access_key, own.username], ["curator", "p4ssw0rd", null]);
  const shared = await ask({ identify: sharedKeyIdentities({ accessKey: "A", secretKey: "S" }, null, "native") });
  assert.deepEqual([shared.access_key_id, shared.secret_access_key, shared.tenant], ["A", "S", null]);
});

Deno.test("data routes: without an S3 endpoint for the caller 403, and never a request", async () => {
  const addresses = { s3: () => Promise.resolve(null), mapi: () => Promise.resolve("http://127.0.0.1:9") };
  await withGateway({ gateway: { addresses } }, async ({ call }) => {
    assert.equal((await call("/api/v1/buckets")).status, 403);
    const credentials = await (await call("/api/v1/credentials")).json();
    assert.equal(credentials.endpoint_url, null);
  });
});
