import {
  CreateBucketCommand,
  GetBucketAclCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { anonymous, clientOf, makeUser, statusOf } from "./acl_fixture.ts";
import { archiveMapi } from "./mapi_fixture.ts";
import { storeTest } from "./store_fixture.ts";

storeTest("bucket owner: what the access list grants to an owner goes to the next one", async ({ store }) => {
  await makeUser(store, "anna", { allowNamespaceManagement: true });
  const bertGuid = await makeUser(store, "bert");
  const [anna, bert] = [clientOf(store, "anna"), clientOf(store, "bert")];
  await anna.send(new CreateBucketCommand({ Bucket: "diaries", ACL: "public-read" }));

  assert.equal((await archiveMapi(store, "POST", "/namespaces/diaries", { owner: "bert" })).status, 200);
  const nothing = { namespacePermission: [{ namespaceName: "diaries", permissions: { permission: [] } }] };
  assert.equal((await archiveMapi(store, "POST", "/userAccounts/anna/dataAccessPermissions", nothing)).status, 200);

  const listing = new ListObjectsV2Command({ Bucket: "diaries" });
  const write = new PutObjectCommand({ Bucket: "diaries", Key: "a", Body: "a" });
  const setAcl = new PutBucketAclCommand({ Bucket: "diaries", ACL: "public-read-write" });
  assert.equal(await statusOf(anna.send(listing)), 200, "the list still is for everybody to read");
  assert.equal(await statusOf(anna.send(write)), 403);
  assert.equal(await statusOf(anna.send(setAcl)), 403);
  assert.equal(await statusOf(bert.send(write)), 200);
  const { Owner, Grants } = await bert.send(new GetBucketAclCommand({ Bucket: "diaries" }));
  assert.equal(Owner?.ID, bertGuid);
  assert.deepEqual(Grants?.map(({ Grantee, Permission }) => [Grantee?.ID ?? Grantee?.URI, Permission]), [
    ["http://acs.amazonaws.com/groups/global/AllUsers", "READ"],
    [bertGuid, "FULL_CONTROL"],
  ]);

  assert.equal((await archiveMapi(store, "POST", "/namespaces/diaries", { owner: "" })).status, 200);
  assert.equal((await archiveMapi(store, "POST", "/userAccounts/bert/dataAccessPermissions", nothing)).status, 200);
  assert.equal(await statusOf(bert.send(write)), 403, "a bucket that is nobody's is not its last owner's");
  assert.equal((await anonymous(store, "GET", "/diaries")).status, 200);
});
