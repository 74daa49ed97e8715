import fc from "fast-check";
import assert from "node:assert/strict";
import { ACL_PERMISSIONS, MAX_GRANTS } from "@/embedded/store/access.ts";
import { aclContent, type NamedGrant, readAclXml, statedAcl } from "@/embedded/store/s3/access_lists.ts";
import { readXml } from "@/embedded/store/s3/xml.ts";
import { thrownCode } from "@/embedded/tests/store/store_fixture.ts";

const ANNA = "9f0c7a52-3a53-4b8f-8f0e-0d6a1a3c5e77";

function read(content: string) {
  return readAclXml(readXml(new TextEncoder().encode(`<AccessControlPolicy>${content}</AccessControlPolicy>`)));
}

const text = fc.string({ unit: "grapheme", minLength: 1 }).filter((one) => one.trim() === one && one.isWellFormed());

const grant: fc.Arbitrary<NamedGrant> = fc.record({
  grantee: fc.oneof(text.map((id) => ({ id })), text.map((uri) => ({ uri }))),
  permission: fc.constantFrom(...ACL_PERMISSIONS),
}, { noNullPrototype: true });

Deno.test("ACL XML: printed lists are read back unchanged", () => {
  fc.assert(fc.property(text, text, fc.array(grant, { maxLength: MAX_GRANTS }), (id, displayName, grants) => {
    assert.deepEqual(read(aclContent({ id, displayName }, grants)), { owner: id, grants });
    assert.deepEqual(read(aclContent(null, grants.map((one) => ({ ...one, displayName })))), { owner: null, grants });
  }));
});

Deno.test("ACL XML: what is not an access list is MalformedACLError, and an address cannot be resolved", () => {
  const list = (inside: string) => `<AccessControlList>${inside}</AccessControlList>`;
  const one = (grantee: string, permission = "<Permission>READ</Permission>") =>
    list(`<Grant>${grantee}${permission}</Grant>`);
  const anna = `<Grantee><ID>${ANNA}</ID></Grantee>`;
  assert.deepEqual(read(one(anna)).grants, [{ grantee: { id: ANNA }, permission: "READ" }]);
  for (
    const content of [
      "",
      `${list("")}${list("")}`,
      `<Owner></Owner>${list("")}`,
      list("<Other/>"),
      one(""),
      one(anna, ""),
      one(anna, "<Permission>read</Permission>"),
      one(anna, "<Permission>__proto__</Permission>"),
      one(anna, "<Permission>READ</Permission><Permission>READ</Permission>"),
      one("<Grantee></Grantee>"),
      one(`<Grantee><ID>${ANNA}</ID><URI>x</URI></Grantee>`),
      one(`<Grantee><ID>${ANNA}</ID><ID>${ANNA}</ID></Grantee>`),
      one(`<Grantee><ID><b>${ANNA}</b></ID></Grantee>`),
      list(`<Grant>${anna}<Permission>READ</Permission></Grant>`.repeat(MAX_GRANTS + 1)),
    ]
  ) assert.equal(thrownCode(() => read(content)), "MalformedACLError", content.slice(0, 200));
  const address = "<Grantee><EmailAddress>anna@example.org</EmailAddress></Grantee>";
  assert.equal(thrownCode(() => read(one(address))), "UnresolvableGrantByEmailAddress");
});

Deno.test("ACL headers: lists of grantees are read, with and without quotes", () => {
  const headers = new Headers({
    "x-amz-grant-read": `id="${ANNA}", uri="http://x/a,b"`,
    "x-amz-grant-write-acp": `ID=${ANNA}`,
  });
  assert.deepEqual(statedAcl(headers), {
    grants: [
      { grantee: { id: ANNA }, permission: "READ" },
      { grantee: { uri: "http://x/a,b" }, permission: "READ" },
      { grantee: { id: ANNA }, permission: "WRITE_ACP" },
    ],
  });
  assert.deepEqual(statedAcl(new Headers({ "x-amz-acl": "public-read" })), { canned: "public-read" });
  assert.equal(statedAcl(new Headers({ "x-amz-meta-acl": "x" })), null);
});

Deno.test("ACL headers: unknown headers and values are rejected, hostile values in little time", () => {
  const cases: [Record<string, string>, string][] = [
    [{ "x-amz-acl": "" }, "InvalidArgument"],
    [{ "x-amz-acl": "log-delivery-write" }, "InvalidArgument"],
    [{ "x-amz-acl": "constructor" }, "InvalidArgument"],
    [{ "x-amz-acl": "private", "x-amz-grant-read": "id=a" }, "InvalidRequest"],
    [{ "x-amz-grant-everything": "id=a" }, "InvalidArgument"],
    [{ "x-amz-grant-constructor": "id=a" }, "InvalidArgument"],
    [{ "x-amz-grant-read": "" }, "InvalidArgument"],
    [{ "x-amz-grant-read": "id=a," }, "InvalidArgument"],
    [{ "x-amz-grant-read": 'id="a' }, "InvalidArgument"],
    [{ "x-amz-grant-read": "name=a" }, "InvalidArgument"],
    [{ "x-amz-grant-read": 'emailAddress="a@b.c"' }, "UnresolvableGrantByEmailAddress"],
    [{ "x-amz-grant-read": Array(MAX_GRANTS + 1).fill("id=a").join(",") }, "MalformedACLError"],
    [{ "x-amz-grant-read": `id${" ".repeat(20_000)}` }, "InvalidArgument"],
  ];
  for (const [headers, expected] of cases) {
    assert.equal(thrownCode(() => statedAcl(new Headers(headers))), expected, JSON.stringify(headers).slice(0, 100));
  }
});
