import assert from "node:assert/strict";
import fc from "fast-check";
import { HttpError } from "@/lib/http/errors.ts";
import { aclDocument, type Grant, type Grantee, parseAcl, PERMISSIONS } from "@/lib/s3/acl_xml.ts";
import { fitsXml } from "@/lib/s3/write_xml.ts";
import { MalformedXml } from "@/lib/s3/xml.ts";

const PLAIN = { noNullPrototype: true };
const text = fc.string({ unit: "grapheme" }).filter(fitsXml);
const grantee: fc.Arbitrary<Grantee> = fc.oneof(
  fc.record({ Type: fc.constant("CanonicalUser" as const), ID: fc.option(text), DisplayName: fc.option(text) }, PLAIN),
  fc.record({ Type: fc.constant("Group" as const), URI: text }, PLAIN),
  fc.record({ Type: fc.constant("AmazonCustomerByEmail" as const), EmailAddress: text }, PLAIN),
);
const grant: fc.Arbitrary<Grant> = fc.record({ Grantee: grantee, Permission: fc.constantFrom(...PERMISSIONS) }, PLAIN);

Deno.test("access list: any list is read as it was written", () => {
  const owner = fc.option(fc.record({ DisplayName: fc.option(text), ID: text }, PLAIN));
  fc.assert(fc.property(owner, fc.array(grant), (owner, grants) => {
    assert.deepEqual(parseAcl(aclDocument({ owner, grants }).body), { owner, grants });
  }));
});

Deno.test("access list: a text that XML cannot carry is refused with the name of its member", () => {
  const refused = (list: Parameters<typeof aclDocument>[0], field: string) =>
    assert.throws(() => aclDocument(list), (error) => {
      assert.ok(error instanceof HttpError && error.status === 400 && error.message.startsWith(`${field}: `));
      return true;
    });
  refused({ owner: { ID: "\0" } }, "Owner.ID");
  refused({ owner: { ID: "a", DisplayName: "\0" } }, "Owner.DisplayName");
  const group: Grant = { Grantee: { Type: "Group", URI: "u" }, Permission: "READ" };
  refused({ grants: [group, { ...group, Grantee: { Type: "Group", URI: "\0" } }] }, "Grants.1.Grantee.URI");
  refused({ grants: [{ ...group, Permission: "\0" }] }, "Grants.0.Permission");
});

Deno.test("access list: a grantee is what its members show, and a grant has a permission", () => {
  const parsed = (inside: string) =>
    parseAcl(
      `<AccessControlPolicy><AccessControlList><Grant>${inside}</Grant></AccessControlList></AccessControlPolicy>`,
    );
  const grantees = [
    ["<Grantee/>", { Type: "CanonicalUser", ID: null, DisplayName: null }],
    ["<Grantee><ID>i</ID></Grantee>", { Type: "CanonicalUser", ID: "i", DisplayName: null }],
    ["<Grantee><ID>i</ID><EmailAddress>e</EmailAddress></Grantee>", {
      Type: "AmazonCustomerByEmail",
      EmailAddress: "e",
    }],
    ["<Grantee><EmailAddress>e</EmailAddress><URI>u</URI></Grantee>", { Type: "Group", URI: "u" }],
  ] as const;
  for (const [xml, expected] of grantees) {
    const { grants } = parsed(`${xml}<Permission> READ\n</Permission>`);
    assert.deepEqual(grants, [{ Grantee: expected, Permission: "READ" }]);
  }
  assert.throws(() => parsed("<Grantee><ID>i</ID></Grantee>"), MalformedXml);
  assert.throws(() => parseAcl("<Other/>"), MalformedXml);
  assert.deepEqual(parseAcl("<AccessControlPolicy/>"), { owner: null, grants: [] });
});
