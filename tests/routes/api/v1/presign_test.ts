import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ownKeyIdentities, sharedKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { gatewayTest, listing, s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

gatewayTest("presign: answers a URL under the public address, without asking the store", async (fixture) => {
  const { seen } = fixture;
  const post = (body: Record<string, unknown>) => fixture.post("/api/v1/presign", { bucket: "b", key: "a b", ...body });
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

const SHA256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";

gatewayTest(
  "presign: a checksum and a content type are signed headers, which the response names",
  async (fixture) => {
    const { seen } = fixture;
    const post = (body: Record<string, unknown>) =>
      fixture.post("/api/v1/presign", { bucket: "b", key: "k", method: "put_object", ...body });
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
  },
);

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

const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>';
const NONE = "<DeleteResult/>";
const keysOf = (xml: string) => [...xml.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key);
gatewayTest(
  "bulk delete: a thousand keys a call, quiet and with Content-MD5; failures are listed, status 200",
  async ({ call, answer, seen }) => {
    const post = (body: unknown) =>
      call("/api/v1/buckets/b/objects/delete", { method: "POST", body: JSON.stringify(body) });
    answer(() => new Response(NONE));
    assert.deepEqual(await (await post({ keys: ["a&b", "c\r", "gone"], prefix: null })).json(), {
      status: "deleted",
      deleted: 3,
      errors: [],
    });
    const { method, target, headers, body } = seen[0];
    assert.deepEqual([method, target], ["POST", "/b?delete="]);
    assert.equal(
      body,
      `${HEAD}<Object><Key>a&amp;b</Key></Object><Object><Key>c&#13;</Key></Object><Object><Key>gone</Key></Object></Delete>`,
    );
    assert.equal(headers.get("content-md5"), createHash("md5").update(body).digest("base64"));

    seen.length = 0;
    answer((_request, { body }) =>
      new Response(
        `<DeleteResult>${
          keysOf(body).filter((key) => key.endsWith("7")).map((key) =>
            `<Error><Key>${key}</Key><Code>AccessDenied</Code><Message>no https://x/?X-Amz-Signature=abc</Message></Error>`
          ).join("")
        }</DeleteResult>`,
      )
    );
    const many = await (await post({ keys: Array.from({ length: 2500 }, (_, i) => `k${i}`) })).json();
    assert.deepEqual(seen.map(({ body }) => keysOf(body).length), [1000, 1000, 500]);
    assert.deepEqual([many.deleted, many.errors.length], [2250, 250]);
    assert.deepEqual(many.errors[0], { Key: "k7", Code: "AccessDenied", Message: "no [url]" });

    seen.length = 0;
    assert.deepEqual(await (await post({})).json(), { status: "deleted", deleted: 0, errors: [] });
    assert.deepEqual(await (await post({ keys: [], prefix: null })).json(), {
      status: "deleted",
      deleted: 0,
      errors: [],
    });
    for (
      const [body, status] of [
        [{ prefix: "" }, 400],
        [{ prefix: "\ud800" }, 422],
        [{ all: true }, 400],
        [{ keys: ["a"], all: true }, 400],
        [{ keys: ["a", "\ud800"] }, 422],
        [{ keys: [""] }, 422],
        [{ keys: "a" }, 422],
      ] as const
    ) {
      assert.equal((await post(body)).status, status, JSON.stringify(body));
    }
    assert.equal(seen.length, 0, "nothing was asked of the store");
    answer(() => s3Error(404, "NoSuchBucket", "gone"));
    const missing = await post({ keys: ["a"] });
    assert.deepEqual([missing.status, await missing.json()], [404, { detail: "bucket 'b': gone" }]);
  },
);

gatewayTest(
  "bulk delete: a prefix is deleted page by page, keys that XML cannot carry one by one",
  async ({ call, answer, seen }) => {
    const post = (body: unknown) =>
      call("/api/v1/buckets/b/objects/delete", { method: "POST", body: JSON.stringify(body) });
    answer((request, { target }) => {
      if (request.method === "DELETE") return s3Error(403, "AccessDenied", "held");
      if (request.method === "POST") return new Response(NONE);
      return target.includes("continuation-token") ? listing(["p/3"]) : listing(["p/1", "p/\x01"], { token: "t+1" });
    });
    const answered = await (await post({ prefix: "p/" })).json();
    assert.deepEqual(answered, {
      status: "deleted",
      deleted: 2,
      errors: [{ Key: "p/\x01", Code: "AccessDenied", Message: "object 'p/\x01': held" }],
    });
    assert.deepEqual(
      seen.map(({ method }) => method),
      ["GET", "GET", "POST", "DELETE", "POST"],
      "the next page is read while one is deleted",
    );
    assert.equal(seen[3].target, "/b/p/%01");
    assert.equal(new URL(seen[1].target, "http://x").searchParams.get("continuation-token"), "t+1");

    seen.length = 0;
    answer((request) => request.method === "DELETE" ? new Response(null, { status: 204 }) : new Response(NONE));
    const byKey = await (await post({ keys: ["a", "b\x01", "\uffff/c"] })).json();
    assert.deepEqual([byKey.deleted, byKey.errors], [3, []]);
    assert.deepEqual(keysOf(seen[0].body), ["a"]);
    assert.deepEqual(seen.slice(1).map(({ target }) => target).sort(), ["/b/%EF%BF%BF/c", "/b/b%01"]);

    answer((request) => request.method === "GET" ? listing([]) : new Response(NONE));
    seen.length = 0;
    assert.deepEqual(await (await post({ prefix: "", all: true })).json(), {
      status: "deleted",
      deleted: 0,
      errors: [],
    });
    assert.deepEqual(seen.map(({ method }) => method), ["GET"], "nothing found, nothing deleted");

    answer((request) => request.method === "GET" ? listing(["x"], { token: "same" }) : new Response(NONE));
    assert.equal((await post({ prefix: "x" })).status, 502, "a listing that does not get on ends");
  },
);

gatewayTest("bulk presign: an array and a map of the same URLs, without asking the store", async ({ call, seen }) => {
  const post = async (body: unknown) => {
    const response = await call("/api/v1/buckets/b/objects/presign", { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, type: response.headers.get("content-type"), body: await response.json() };
  };
  const keys = ['a "b"', "../up", "å/1", "__proto__", 'a "b"'];
  const { status, type, body } = await post({ keys, expires_in: 60, method: "put_object" });
  assert.deepEqual([status, type, body.expires_in], [200, "application/json", 60]);
  assert.deepEqual(body.urls.map(({ key }: { key: string }) => key), ['a "b"', "å/1", "__proto__", 'a "b"']);
  for (const { key, url } of body.urls) {
    assert.equal(Object.getOwnPropertyDescriptor(body.by_key, key)?.value, url);
    const single = await call("/api/v1/presign", {
      method: "POST",
      body: JSON.stringify({ bucket: "b", key, method: "put_object", expires_in: 60 }),
    });
    assert.equal((await single.json()).url, url);
  }
  assert.equal((await post({ keys: ["k"] })).body.expires_in, 3600);
  assert.equal((await post({ keys: ["k"], validity: 604_800 })).body.expires_in, 604_800);
  const empty = await post({ keys: ["./x"] });
  assert.deepEqual(empty.body, { urls: [], by_key: {}, expires_in: 3600 });
  for (
    const bad of [{ keys: [] }, {}, { keys: [""] }, { keys: ["k"], expires_in: 0 }, {
      keys: ["k"],
      validity: 604_801,
    }, {
      keys: ["k"],
      method: "delete_object",
    }, { keys: Array.from({ length: 10_001 }, () => "k") }]
  ) {
    assert.equal((await post(bad)).status, 422, JSON.stringify(bad).slice(0, 80));
  }
  assert.equal(seen.length, 0);
});

gatewayTest(
  "bulk presign: objects with a checksum or a content type have URLs that sign them",
  async ({ post, seen }) => {
    const bulk = (body: unknown) => post("/api/v1/buckets/b/objects/presign", body);
    const digests = ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="];
    const objects = [
      { key: "a", checksum_sha256: digests[0] },
      { key: 'b "å"', checksum_sha256: digests[1], content_type: "image/tiff" },
      { key: "../up", checksum_sha256: digests[1] },
      { key: "c", content_type: 'text/plain; a="b"' },
      { key: "d" },
    ];
    const { status, body } = await bulk({ keys: ["plain"], objects, method: "put_object", expires_in: 60 });
    assert.equal(status, 200);
    assert.deepEqual(body.urls.map(({ key, headers }: Record<string, unknown>) => [key, headers]), [
      ["plain", undefined],
      ["a", { "x-amz-checksum-sha256": digests[0] }],
      ['b "å"', { "content-type": "image/tiff", "x-amz-checksum-sha256": digests[1] }],
      ["c", { "content-type": 'text/plain; a="b"' }],
      ["d", undefined],
    ]);
    for (const { key, url, headers } of body.urls) {
      const known = objects.find((object) => object.key === key);
      const single = await post("/api/v1/presign", {
        bucket: "b",
        method: "put_object",
        expires_in: 60,
        key,
        ...known,
      });
      assert.equal(single.body.url, url);
      assert.equal(body.by_key[key], headers ? undefined : url, "a map has no room for the headers");
    }
    assert.deepEqual(Object.keys(body.by_key), ["plain", "d"]);
    const { body: both } = await bulk({ objects: [objects[0], { key: "a" }], method: "put_object" });
    assert.deepEqual(both.by_key, { a: both.urls[1].url }, "the first one without headers");
    assert.equal((await bulk({ objects, method: "put_object" })).status, 200);
    assert.deepEqual(await bulk({ objects }), {
      status: 422,
      body: { detail: "objects go with the method put_object" },
    });
    const rejected: [Record<string, unknown>, (string | number)[]][] = [
      [{ objects: null }, ["body", "keys"]],
      [{ objects: [] }, ["body", "objects"]],
      [{ objects: ["a"] }, ["body", "objects", 0]],
      [{ objects: [{ key: "" }] }, ["body", "objects", 0, "key"]],
      [{ objects: [{ key: "a", checksum_sha256: "no" }] }, ["body", "objects", 0, "checksum_sha256"]],
      [{ objects: [{ key: "a", sha256: digests[0] }] }, ["body", "objects", 0, "sha256"]],
    ];
    for (const [body, loc] of rejected) {
      const response = await bulk({ method: "put_object", ...body });
      assert.equal(response.status, 422);
      assert.deepEqual(response.body.detail[0].loc, loc);
    }
    assert.equal(seen.length, 0);
  },
);
