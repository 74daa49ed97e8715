import assert from "node:assert/strict";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

const STORED =
  `<AccessControlPolicy xmlns="x"><Owner><ID>me</ID><DisplayName>Me</DisplayName></Owner><AccessControlList>` +
  `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>you</ID>` +
  `<DisplayName>You</DisplayName></Grantee><Permission>READ</Permission></Grant>` +
  `<Grant><Grantee xsi:type="Group"><URI>http://all</URI></Grantee><Permission>FULL_CONTROL</Permission></Grant>` +
  `</AccessControlList></AccessControlPolicy>`;
const LIST = {
  owner: { ID: "me", DisplayName: "Me" },
  grants: [
    { Grantee: { Type: "CanonicalUser", ID: "you", DisplayName: "You" }, Permission: "READ" },
    { Grantee: { Type: "Group", URI: "http://all" }, Permission: "FULL_CONTROL" },
  ],
};
const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?><AccessControlPolicy xmlns="http://s3.amazonaws.com/doc/2006-03-01/">';
const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

Deno.test("access lists: of a bucket and of an object, read and set with exactly this XML", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(STORED));
    for (const [path, target] of [["b/acl", "/b?acl="], ["b/objects/a%20b/acl/acl", "/b/a%20b/acl?acl="]]) {
      assert.deepEqual(await (await call(`/api/v1/buckets/${path}`)).json(), LIST);
      assert.equal(seen[seen.length - 1].target, target);
    }
    answer(() => new Response(null));
    const body = JSON.stringify({ Owner: LIST.owner, Grants: LIST.grants });
    const bucket = await call("/api/v1/buckets/b/acl", { method: "PUT", body });
    assert.deepEqual(await bucket.json(), { status: "updated", bucket: null });
    const sent = seen[seen.length - 1];
    assert.deepEqual([sent.method, sent.target], ["PUT", "/b?acl="]);
    assert.equal(
      sent.body,
      `${HEAD}<AccessControlList>` +
        `<Grant><Grantee xsi:type="CanonicalUser" ${XSI}><DisplayName>You</DisplayName><ID>you</ID></Grantee><Permission>READ</Permission></Grant>` +
        `<Grant><Grantee xsi:type="Group" ${XSI}><URI>http://all</URI></Grantee><Permission>FULL_CONTROL</Permission></Grant>` +
        `</AccessControlList><Owner><DisplayName>Me</DisplayName><ID>me</ID></Owner></AccessControlPolicy>`,
    );
    const object = await call("/api/v1/buckets/b/objects/k/acl", { method: "PUT", body });
    assert.deepEqual(await object.json(), { status: "updated" });
    assert.equal(seen[seen.length - 1].target, "/b/k?acl=");
    answer(() =>
      new Response(STORED.replace("<ID>you</ID><DisplayName>You</DisplayName>", "<Type>CanonicalUser</Type>"))
    );
    const nameless = await (await call("/api/v1/buckets/b/acl")).json();
    assert.deepEqual(nameless.grants[0].Grantee, { Type: "CanonicalUser", ID: null, DisplayName: null });
    answer(() => s3Error(404, "NoSuchKey", "gone"));
    const missing = await call("/api/v1/buckets/b/objects/k/acl");
    assert.deepEqual([missing.status, await missing.json()], [404, { detail: "object 'k': gone" }]);
  });
});

Deno.test("access lists: the half that is not named stays as it is", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer((request) => new Response(request.method === "GET" ? STORED : null));
    const put = (body: unknown) => call("/api/v1/buckets/b/acl", { method: "PUT", body: JSON.stringify(body) });
    const grants = [{ Grantee: { Type: "CanonicalUser", ID: "a&b", URI: null }, Permission: "WRITE_ACP" }];
    assert.equal((await put({ Grants: grants, Owner: null })).status, 200);
    assert.equal(
      seen[1].body,
      `${HEAD}<AccessControlList>` +
        `<Grant><Grantee xsi:type="CanonicalUser" ${XSI}><ID>a&amp;b</ID></Grantee><Permission>WRITE_ACP</Permission></Grant>` +
        `</AccessControlList><Owner><DisplayName>Me</DisplayName><ID>me</ID></Owner></AccessControlPolicy>`,
    );
    assert.equal((await put({ Owner: { ID: "new" } })).status, 200);
    assert.match(seen[3].body, /<AccessControlList><Grant>.*<ID>you<\/ID>.*<Owner><ID>new<\/ID><\/Owner>/);
    answer((request) => request.method === "GET" ? s3Error(403, "AccessDenied", "no") : new Response(null));
    assert.equal((await put({ Grants: grants })).status, 200, "may be written without being read");
    assert.ok(!seen[5].body.includes("<Owner>"));
    const refused = await put({ Owner: { ID: "new" } });
    assert.equal(refused.status, 403, "grants that cannot be read are never taken away");
    assert.equal(seen.length, 7);
  });
});

Deno.test("access lists: what is not one is 400 or 422 naming the place, and nothing is sent", async () => {
  await withGateway({}, async ({ call, seen }) => {
    const user = { Type: "CanonicalUser", ID: "i" };
    const refusals: [unknown, number][] = [
      ["text that is no JSON", 422],
      [[], 422],
      [{ Unknown: 1 }, 422],
      [{ Grants: [{ Grantee: user, Permission: "EVERYTHING" }] }, 422],
      [{ Grants: [{ Grantee: { ...user, Extra: "x" }, Permission: "READ" }] }, 422],
      [{ Grants: [{ Grantee: { Type: "Robot", ID: "i" }, Permission: "READ" }] }, 422],
      [{ Grants: [{ Grantee: { Type: "Group", ID: "i" }, Permission: "READ" }] }, 422],
      [{ Grants: [{ Permission: "READ" }] }, 422],
      [{ Owner: { DisplayName: "d" } }, 422],
      [{ Grants: Array.from({ length: 101 }, () => ({ Grantee: user, Permission: "READ" })) }, 422],
      [{ Owner: { ID: "o" }, Grants: [{ Grantee: { ...user, ID: "\x01" }, Permission: "READ" }] }, 400],
    ];
    for (const [body, status] of refusals) {
      for (const path of ["b/acl", "b/objects/k/acl"]) {
        const text = typeof body === "string" ? body : JSON.stringify(body);
        const refused = await call(`/api/v1/buckets/${path}`, { method: "PUT", body: text });
        assert.equal(refused.status, status, text);
        await refused.body?.cancel();
      }
    }
    assert.equal(seen.length, 0);
  });
});

Deno.test("access lists: an account or a group that the store does not know is 404", async () => {
  await withGateway({}, async ({ call, answer }) => {
    const body = JSON.stringify({
      Owner: { ID: "me" },
      Grants: [{ Grantee: { Type: "AmazonCustomerByEmail", EmailAddress: "a@example.org" }, Permission: "READ" }],
    });
    const refusals: [string, number][] = [
      ["InvalidArgument", 404],
      ["UnresolvableGrantByEmailAddress", 404],
      ["MalformedACLError", 400],
      ["InvalidRequest", 400],
    ];
    for (const [code, status] of refusals) {
      answer(() => s3Error(400, code, "refused"));
      for (const [path, what] of [["b/acl", "bucket 'b'"], ["b/objects/k/acl", "object 'k'"]]) {
        const refused = await call(`/api/v1/buckets/${path}`, { method: "PUT", body });
        assert.deepEqual([refused.status, await refused.json()], [status, { detail: `${what}: refused` }], code);
      }
    }
  });
});
