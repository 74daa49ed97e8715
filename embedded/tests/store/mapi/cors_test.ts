import { CreateBucketCommand, GetBucketCorsCommand, PutBucketCorsCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { callMapi } from "@/embedded/tests/store/mapi_fixture.ts";
import { type GivenStore, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const TENANT = "/tenants/archive/cors";
const LETTERS = "/tenants/archive/namespaces/letters/cors";

const rulesFor = (origin: string) =>
  `<CORSConfiguration>\n  <CORSRule><AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>\n` +
  "</CORSConfiguration>";

function corsOf({ store }: GivenStore) {
  return {
    store,
    call: async (method: string, path: string, body?: unknown) => {
      const { status, text } = await callMapi(store, "archive", "curator", method, path, body);
      return { status, text };
    },
    /** What a page of an origin is told about reading a bucket. */
    allowed: async (bucket: string, origin: string, tenant = "archive") => {
      const response = await fetch(`${store.s3(tenant)}/${bucket}/k`, { headers: { origin } });
      await response.body?.cancel();
      return response.headers.get("access-control-allow-origin");
    },
  };
}

storeTest("embedded MAPI CORS: rules are stored unchanged, for a tenant and a namespace", async (given) => {
  const { store, call } = corsOf(given);
  for (const path of [TENANT, LETTERS]) {
    assert.deepEqual(await call("GET", path), { status: 200, text: '{"cors":null}' });
    assert.equal((await call("DELETE", path)).status, 404);
    const cors = rulesFor("https://a.example");
    assert.deepEqual(await call("PUT", path, { cors }), { status: 200, text: "" });
    assert.deepEqual(JSON.parse((await call("GET", path)).text), { cors });
    assert.equal((await call("HEAD", path)).status, 200);
    assert.equal((await call("POST", path, { cors })).status, 405);
  }
  const client = store.client("archive", "curator");
  const { CORSRules } = await client.send(new GetBucketCorsCommand({ Bucket: "letters" }));
  assert.deepEqual(CORSRules, [{ AllowedOrigins: ["https://a.example"], AllowedMethods: ["GET"] }]);
  await client.send(
    new PutBucketCorsCommand({
      Bucket: "letters",
      CORSConfiguration: { CORSRules: [{ AllowedOrigins: ["*"], AllowedMethods: ["HEAD"] }] },
    }),
  );
  assert.match((await call("GET", LETTERS)).text, /<AllowedMethod>HEAD</);
  for (const path of [LETTERS, TENANT]) {
    assert.equal((await call("DELETE", path)).status, 200);
    assert.equal((await call("DELETE", path)).status, 404);
    assert.equal((await call("GET", path)).text, '{"cors":null}');
  }
});

storeTest("embedded MAPI CORS: a tenant's rules hold in buckets that have none of their own", async (given) => {
  const { store, call, allowed } = corsOf(given);
  const [a, b] = ["https://a.example", "https://b.example"];
  await call("PUT", TENANT, { cors: rulesFor(a) });
  assert.deepEqual([await allowed("letters", a), await allowed("maps", a), await allowed("maps", b)], [a, a, null]);
  assert.deepEqual([await allowed("nowhere", a), await allowed("datasets", a, "research")], [null, null]);
  const client = store.client("archive", "curator");
  assert.equal(
    await storeErrorCode(client.send(new GetBucketCorsCommand({ Bucket: "letters" }))),
    "NoSuchCORSConfiguration",
  );
  await call("PUT", LETTERS, { cors: rulesFor(b) });
  assert.deepEqual([await allowed("letters", a), await allowed("letters", b), await allowed("maps", a)], [null, b, a]);
  await client.send(new CreateBucketCommand({ Bucket: "new" }));
  assert.equal(await allowed("new", a), a);
  await call("DELETE", LETTERS);
  assert.equal(await allowed("letters", a), a);
  await call("DELETE", TENANT);
  assert.equal(await allowed("letters", a), null);
});

storeTest("embedded MAPI CORS: hostile documents are 400 and name the member", async (given) => {
  const { call } = corsOf(given);
  const cases = [
    {},
    { cors: null },
    { cors: 1 },
    { cors: "" },
    { cors: "<CORSConfiguration/>" },
    { cors: rulesFor("https://*.*") },
    { cors: `<!DOCTYPE a [<!ENTITY b "c">]>${rulesFor("&b;")}` },
    { cors: rulesFor("x".repeat(64 * 1024)) },
  ];
  for (const body of cases) {
    for (const path of [TENANT, LETTERS]) assert.match((await call("PUT", path, body)).text, /cors/);
    assert.equal((await call("PUT", TENANT, body)).status, 400);
  }
  assert.equal((await call("GET", TENANT)).text, '{"cors":null}');
  assert.equal((await call("GET", "/tenants/archive/cors/more")).status, 404);
  assert.equal((await call("GET", "/tenants/archive/namespaces/letters/other")).status, 404);
  assert.equal((await call("GET", "/tenants/archive/namespaces%2F%7Bname%7D")).status, 404);
});
