import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gatewayTest, s3Error } from "@/tests/routes/gateway_fixture.ts";

const B = "/api/v1/buckets/b";
const json = (body: unknown) => ({ method: "PUT", body: typeof body === "string" ? body : JSON.stringify(body) });

gatewayTest("versioning: read, and set in S3's spelling whatever the case", async ({ call, answer, seen }) => {
  const states: [xml: string, expected: unknown][] = [
    ["", { status: null, mfa_delete: null }],
    ["<Status>Suspended</Status><MfaDelete>Disabled</MfaDelete>", { status: "Suspended", mfa_delete: "Disabled" }],
  ];
  for (const [xml, expected] of states) {
    answer(() => new Response(`<VersioningConfiguration>${xml}</VersioningConfiguration>`));
    assert.deepEqual(await (await call(`${B}/versioning`)).json(), expected);
  }
  assert.equal(seen[0].target, "/b?versioning=");
  answer(() => new Response(null));
  const put = (status: unknown) => call(`${B}/versioning`, json({ status }));
  for (const word of ["Enabled", "enabled", "ENABLED", "suspended"]) {
    const versioning = word === "suspended" ? "Suspended" : "Enabled";
    assert.deepEqual(await (await put(word)).json(), { status: "updated", versioning });
    const { method, target, body } = seen[seen.length - 1];
    assert.deepEqual([method, target], ["PUT", "/b?versioning="]);
    assert.match(body, new RegExp(`<Status>${versioning}</Status>`));
  }
  const sent = seen.length;
  for (const status of ["on", "", null, 1, ["Enabled"], undefined]) {
    const refused = await put(status);
    assert.equal(refused.status, 422, String(status));
    assert.deepEqual((await refused.json()).detail[0].loc, ["body", "status"]);
  }
  assert.equal(seen.length, sent);
  answer(() => s3Error(404, "NoSuchBucket", "gone"));
  const missing = await call(`${B}/versioning`);
  assert.deepEqual([missing.status, await missing.json()], [404, { detail: "bucket 'b': gone" }]);
});

gatewayTest("CORS rules: read, replaced with a digest, taken away once", async ({ call, answer, seen }) => {
  const rule = {
    ID: "r1",
    AllowedHeaders: null,
    AllowedMethods: ["PUT"],
    AllowedOrigins: ["https://a", "https://b"],
    ExposeHeaders: null,
    MaxAgeSeconds: 60,
  };
  const xml = "<CORSRule><ID>r1</ID><AllowedOrigin>https://a</AllowedOrigin><AllowedOrigin>https://b</AllowedOrigin>" +
    "<AllowedMethod>PUT</AllowedMethod><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule>";
  answer(({ method }) =>
    method === "GET" ? new Response(`<CORSConfiguration>${xml}</CORSConfiguration>`) : new Response(null)
  );
  assert.deepEqual(await (await call(`${B}/cors`)).json(), { cors_rules: [rule] });
  const put = (CORSRules: unknown) => call(`${B}/cors`, json({ CORSRules }));
  assert.deepEqual(await (await put([rule])).json(), { status: "updated", bucket: null });
  const { target, body, headers } = seen[seen.length - 1];
  assert.equal(target, "/b?cors=");
  assert.match(body, /<AllowedOrigin>https:\/\/a<\/AllowedOrigin><AllowedOrigin>https:\/\/b<\/AllowedOrigin><ID>r1</);
  assert.equal(headers.get("content-md5"), createHash("md5").update(body).digest("base64"));
  assert.match(headers.get("authorization") ?? "", /SignedHeaders=content-md5;content-type;host;/);
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
  for (const [rules, status] of refusals) assert.equal((await put(rules)).status, status, JSON.stringify(rules));
  assert.equal((await call(`${B}/cors`, { method: "HEAD" })).status, 405);
  assert.equal(seen.length, sent);

  // Who may not read the rules may still take them away.
  const none = { detail: "bucket 'b': none" };
  const readings: [reading: Response, status: number, deletes: boolean, body?: unknown][] = [
    [new Response(`<CORSConfiguration>${xml}</CORSConfiguration>`), 200, true, { status: "deleted", bucket: null }],
    [s3Error(404, "NoSuchCORSConfiguration", "none"), 404, false, none],
    [s3Error(403, "AccessDenied", "no"), 200, true],
    [s3Error(501, "NotImplemented", "lacking"), 501, false],
  ];
  for (const [reading, status, deletes, body] of readings) {
    seen.length = 0;
    answer(({ method }) => method === "GET" ? reading : new Response(null, { status: 204 }));
    const gone = await call(`${B}/cors`, { method: "DELETE" });
    assert.equal(gone.status, status);
    const expected = deletes ? ["GET /b?cors=", "DELETE /b?cors="] : ["GET /b?cors="];
    assert.deepEqual(seen.map(({ method, target }) => `${method} ${target}`), expected);
    const said = await gone.json();
    if (body) assert.deepEqual(said, body);
  }
  answer(() => s3Error(404, "NoSuchCORSConfiguration", "none"));
  const absent = await call(`${B}/cors`);
  assert.deepEqual([absent.status, await absent.json()], [404, none]);
});

gatewayTest("settings that a store lacks: 501 naming the operation and the backend", async ({ call, answer }) => {
  answer(() => s3Error(501, "NotImplemented", "A header you provided implies functionality that is not implemented"));
  const acl = { Owner: { ID: "o" }, Grants: [] };
  const asked: [method: string, path: string, operation: string, body?: unknown][] = [
    ["GET", "cors", "get_bucket_cors"],
    ["PUT", "cors", "put_bucket_cors", { CORSRules: [] }],
    ["DELETE", "cors", "delete_bucket_cors"],
    ["GET", "acl", "get_bucket_acl"],
    ["PUT", "acl", "put_bucket_acl", acl],
    ["GET", "objects/k/acl", "get_object_acl"],
    ["PUT", "objects/k/acl", "put_object_acl", acl],
    ["GET", "tags/k", "get_object_tags"],
    ["PUT", "tags/k", "put_object_tags", { tags: {} }],
    ["DELETE", "tags/k", "delete_object_tags"],
    ["GET", "versioning", "get_bucket_versioning"],
  ];
  for (const [method, path, operation, body] of asked) {
    const response = await call(`${B}/${path}`, { ...(body ? json(body) : {}), method });
    const detail = `'${operation}' is not supported by the minio backend`;
    assert.deepEqual([response.status, await response.json()], [501, { detail }], path);
  }
}, { gateway: { backend: "minio" } });

const OWNER = { ID: "me", DisplayName: "Me" };
const STORED =
  `<AccessControlPolicy xmlns="x"><Owner><ID>me</ID><DisplayName>Me</DisplayName></Owner><AccessControlList>` +
  `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>you</ID>` +
  `<DisplayName>You</DisplayName></Grantee><Permission>READ</Permission></Grant>` +
  `<Grant><Grantee xsi:type="Group"><URI>http://all</URI></Grantee><Permission>FULL_CONTROL</Permission></Grant>` +
  `</AccessControlList></AccessControlPolicy>`;
const GRANTS = [
  { Grantee: { Type: "CanonicalUser", ID: "you", DisplayName: "You" }, Permission: "READ" },
  { Grantee: { Type: "Group", URI: "http://all" }, Permission: "FULL_CONTROL" },
];
/** Paths of access lists, and what errors call what they are of. */
const LISTS = [[`${B}/acl`, "bucket 'b'"], [`${B}/objects/k/acl`, "object 'k'"]];

gatewayTest("access lists: of a bucket and of an object, read and set", async ({ call, answer, seen }) => {
  answer((request) => new Response(request.method === "GET" ? STORED : null));
  const asked: [path: string, target: string, updated: unknown][] = [
    ["acl", "/b?acl=", { status: "updated", bucket: null }],
    ["objects/a%20b/acl/acl", "/b/a%20b/acl?acl=", { status: "updated" }],
  ];
  for (const [path, target, updated] of asked) {
    assert.deepEqual(await (await call(`${B}/${path}`)).json(), { owner: OWNER, grants: GRANTS });
    assert.deepEqual(await (await call(`${B}/${path}`, json({ Owner: OWNER, Grants: GRANTS }))).json(), updated);
    const { method, target: sent, body } = seen[seen.length - 1];
    assert.deepEqual([method, sent], ["PUT", target]);
    assert.match(body, /xsi:type="CanonicalUser"[^>]*><DisplayName>You<\/DisplayName><ID>you<\/ID><\/Grantee>/);
    assert.match(body, /xsi:type="Group"[^>]*><URI>http:\/\/all<\/URI><\/Grantee><Permission>FULL_CONTROL</);
    assert.match(body, /<Owner><DisplayName>Me<\/DisplayName><ID>me<\/ID><\/Owner>/);
  }
  answer(() => new Response(STORED.replace("<ID>you</ID><DisplayName>You</DisplayName>", "")));
  const nameless = await (await call(`${B}/acl`)).json();
  assert.deepEqual(nameless.grants[0].Grantee, { Type: "CanonicalUser", ID: null, DisplayName: null });
  answer(() => s3Error(404, "NoSuchKey", "gone"));
  const missing = await call(`${B}/objects/k/acl`);
  assert.deepEqual([missing.status, await missing.json()], [404, { detail: "object 'k': gone" }]);
});

gatewayTest("access lists: the half that is not named stays as it is", async ({ call, answer, seen }) => {
  answer((request) => new Response(request.method === "GET" ? STORED : null));
  const put = (body: unknown) => call(`${B}/acl`, json(body));
  const grants = [{ Grantee: { Type: "CanonicalUser", ID: "a&b", URI: null }, Permission: "WRITE_ACP" }];
  assert.equal((await put({ Grants: grants, Owner: null })).status, 200);
  assert.match(seen[1].body, /<ID>a&amp;b<\/ID>.*<Owner><DisplayName>Me<\/DisplayName><ID>me<\/ID><\/Owner>/);
  assert.equal((await put({ Owner: { ID: "new" } })).status, 200);
  assert.match(seen[3].body, /<AccessControlList><Grant>.*<ID>you<\/ID>.*<Owner><ID>new<\/ID><\/Owner>/);
  answer((request) => request.method === "GET" ? s3Error(403, "AccessDenied", "no") : new Response(null));
  assert.equal((await put({ Grants: grants })).status, 200, "may be written without being read");
  assert.ok(!seen[5].body.includes("<Owner>"));
  const refused = await put({ Owner: { ID: "new" } });
  assert.equal(refused.status, 403, "grants that cannot be read are never taken away");
  assert.equal(seen.length, 7);
});

gatewayTest("access lists: what is not one is 400 or 422, and nothing is sent", async ({ call, seen }) => {
  const user = { Type: "CanonicalUser", ID: "i" };
  const granted = (Grantee: unknown, Permission = "READ") => ({ Grants: [{ Grantee, Permission }] });
  const refusals: [unknown, number][] = [
    ["text that is no JSON", 422],
    [[], 422],
    [{ Unknown: 1 }, 422],
    [granted(user, "EVERYTHING"), 422],
    [granted({ ...user, Extra: "x" }), 422],
    [granted({ Type: "Robot", ID: "i" }), 422],
    [granted({ Type: "Group", ID: "i" }), 422],
    [granted(undefined), 422],
    [{ Owner: { DisplayName: "d" } }, 422],
    [{ Grants: Array.from({ length: 101 }, () => ({ Grantee: user, Permission: "READ" })) }, 422],
    [{ Owner: { ID: "o" }, ...granted({ ...user, ID: "\x01" }) }, 400],
  ];
  for (const [body, status] of refusals) {
    for (const [path] of LISTS) assert.equal((await call(path, json(body))).status, status, JSON.stringify(body));
  }
  assert.equal(seen.length, 0);
});

gatewayTest("access lists: an account or a group that the store does not know is 404", async ({ call, answer }) => {
  const Grantee = { Type: "AmazonCustomerByEmail", EmailAddress: "a@example.org" };
  const body = { Owner: { ID: "me" }, Grants: [{ Grantee, Permission: "READ" }] };
  const refusals: [string, number][] = [
    ["InvalidArgument", 404],
    ["UnresolvableGrantByEmailAddress", 404],
    ["MalformedACLError", 400],
    ["InvalidRequest", 400],
  ];
  for (const [code, status] of refusals) {
    answer(() => s3Error(400, code, "refused"));
    for (const [path, what] of LISTS) {
      const refused = await call(path, json(body));
      assert.deepEqual([refused.status, await refused.json()], [status, { detail: `${what}: refused` }], code);
    }
  }
});
