import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type Acl,
  ACL_PERMISSIONS,
  type AclGrant,
  bucketMask,
  type Grantee,
  objectMask,
  parseAcl,
  permissionsOf,
  type Requester,
  serializeAcl,
} from "@/embedded/store/access.ts";

const anna: Requester = { user: { id: 1, guid: "anna" }, dataAccess: 0, groups: () => [] };
const anonymous: Requester = { user: null, dataAccess: 0, groups: () => [] };

const acl = fc.array(fc.record({
  grantee: fc.constantFrom<Grantee>({ user: "anna" }, { user: "bert" }, { group: "readers" }, "everybody", "users"),
  permission: fc.constantFrom(...ACL_PERMISSIONS),
}, { noNullPrototype: true }));

function may(mask: number): string {
  return permissionsOf(mask).join(" ");
}

Deno.test("access: each permission of an access list means the same as in S3", () => {
  const to = (permission: AclGrant["permission"]): Acl => [{ grantee: { user: "anna" }, permission }];
  const cases: [AclGrant["permission"], string, string][] = [
    ["READ", "BROWSE", "READ"],
    ["WRITE", "WRITE DELETE", ""],
    ["READ_ACP", "READ_ACL", "READ_ACL"],
    ["WRITE_ACP", "WRITE_ACL", "WRITE_ACL"],
    ["FULL_CONTROL", "BROWSE WRITE DELETE READ_ACL WRITE_ACL", "READ READ_ACL WRITE_ACL"],
  ];
  for (const [permission, onBucket, onObject] of cases) {
    const thing = { owner: 2, acl: to(permission) };
    assert.equal(may(bucketMask(anna, thing, "enforced")), onBucket, permission);
    assert.equal(may(objectMask(anna, thing, "enforced")), onObject, permission);
    for (const mask of [bucketMask, objectMask]) {
      assert.equal(mask(anna, thing, "ignored"), 0);
      assert.equal(mask(anonymous, thing, "enforced"), 0);
      assert.equal(mask({ ...anna, user: { id: 3, guid: "other" } }, thing, "enforced"), 0);
    }
  }
});

Deno.test("access: an owner may always read and write the list, and a writer has full control of what it wrote", () => {
  assert.equal(may(bucketMask(anna, { owner: 1, acl: null }, "enforced")), "READ_ACL WRITE_ACL");
  assert.equal(may(objectMask(anna, { owner: 1, acl: null }, "enforced")), "READ READ_ACL WRITE_ACL");
  assert.equal(may(objectMask(anna, { owner: 1, acl: [] }, "enforced")), "READ_ACL WRITE_ACL");
  assert.equal(may(objectMask(anna, { owner: 1, acl: null }, "none")), "READ_ACL WRITE_ACL");
  // Nobody's things are not everybody's.
  assert.equal(objectMask(anonymous, { owner: null, acl: null }, "enforced"), 0);
  assert.equal(bucketMask(anonymous, { owner: null, acl: null }, "enforced"), 0);
});

Deno.test("access: anonymous requests have grants to everybody, users also grants to users, and no list takes access away", () => {
  fc.assert(fc.property(acl, fc.boolean(), fc.integer({ min: 0, max: 1023 }), (list, isMember, dataAccess) => {
    const thing = { owner: 2, acl: list };
    const requester: Requester = { ...anna, dataAccess, groups: () => isMember ? ["readers"] : [] };
    for (const mask of [bucketMask, objectMask]) {
      const open = mask(
        anonymous,
        { ...thing, acl: list.filter(({ grantee }) => grantee === "everybody") },
        "enforced",
      );
      assert.equal(mask(anonymous, thing, "enforced"), open);
      const known = list.filter(({ grantee }) =>
        typeof grantee === "string" || ("user" in grantee ? grantee.user === "anna" : isMember)
      );
      const all = mask(requester, thing, "enforced");
      assert.equal(all, mask(requester, { ...thing, acl: known }, "enforced"));
      assert.equal(all & dataAccess, dataAccess);
      assert.equal(all & open, open);
    }
  }));
});

Deno.test("access: a stored list is read unchanged", () => {
  fc.assert(fc.property(acl, (list) => assert.deepEqual(parseAcl(serializeAcl(list)), list)));
  assert.equal(parseAcl(null), null);
});
