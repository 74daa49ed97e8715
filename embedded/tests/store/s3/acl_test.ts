import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetObjectAclCommand,
  type GetObjectAclCommandOutput,
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { ALL_USERS, AUTHENTICATED_USERS, GROUP_URI } from "@/embedded/store/s3/access_lists.ts";
import { anonymous, clientOf, guidOf, makeUser, statusOf } from "@/embedded/tests/store/acl_fixture.ts";
import { archiveMapi } from "@/embedded/tests/store/mapi_fixture.ts";
import { type GivenStore, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { uploadInParts } from "./multipart_fixture.ts";

function shown({ Grants }: Pick<GetObjectAclCommandOutput, "Grants">): string[] {
  return (Grants ?? []).map(({ Grantee, Permission }) => `${Grantee?.URI ?? Grantee?.DisplayName} ${Permission}`);
}

/** A store with a bucket of the curator's that has one object, and a user without any permission. */
async function bucketOf({ store, client }: GivenStore) {
  const guid = await makeUser(store, "other");
  const [owner, other] = [client, clientOf(store, "other")];
  const at = { Bucket: "shelf", Key: "leaf" };
  await owner.send(new CreateBucketCommand({ Bucket: "shelf" }));
  await owner.send(new PutObjectCommand({ ...at, Body: "leaf" }));
  return { store, owner, other, guid, at };
}

storeTest("S3 ACL: a list in XML is returned with groups first, and grants access to the named ones", async (given) => {
  const all = await bucketOf(given);
  const { owner, other, at, guid } = all;
  const before = await owner.send(new GetObjectAclCommand(at));
  const Owner = before.Owner;
  assert.deepEqual(Owner, { ID: await guidOf(all.store, "curator"), DisplayName: "curator" });
  assert.deepEqual(shown(before), ["curator FULL_CONTROL"]);
  const Grants = [
    { Grantee: { Type: "CanonicalUser", ID: guid }, Permission: "READ" },
    { Grantee: { Type: "Group", URI: AUTHENTICATED_USERS }, Permission: "READ_ACP" },
  ] as const;
  await owner.send(new PutObjectAclCommand({ ...at, AccessControlPolicy: { Owner, Grants: [...Grants] } }));
  assert.deepEqual(shown(await other.send(new GetObjectAclCommand(at))), [
    `${AUTHENTICATED_USERS} READ_ACP`,
    "other READ",
  ]);
  assert.equal(await statusOf(other.send(new GetObjectCommand(at))), 200);
  assert.equal(await statusOf(other.send(new PutObjectAclCommand({ ...at, ACL: "public-read" }))), 403);
  // Who may read an object may copy it to where it may write.
  await owner.send(new CreateBucketCommand({ Bucket: "drop", GrantWrite: `id="${guid}"` }));
  await other.send(
    new CopyObjectCommand({ Bucket: "drop", Key: "copy", CopySource: "shelf/leaf", ACL: "public-read" }),
  );
  assert.equal((await anonymous(all.store, "GET", "/drop/copy")).text, "leaf");
  assert.equal(await storeErrorCode(other.send(new ListObjectsV2Command({ Bucket: "drop" }))), "AccessDenied");
  // A written-over object has the access list of the new one.
  await owner.send(new PutObjectCommand({ ...at, Body: "leaf" }));
  assert.equal(await storeErrorCode(other.send(new GetObjectCommand(at))), "AccessDenied");
});

storeTest("S3 ACL: each version has a list of its own", async (given) => {
  const all = await bucketOf(given);
  const { owner, at, store } = all;
  await owner.send(
    new PutBucketVersioningCommand({ Bucket: at.Bucket, VersioningConfiguration: { Status: "Enabled" } }),
  );
  const { VersionId } = await owner.send(new PutObjectCommand({ ...at, Body: "first" }));
  const { VersionId: second } = await owner.send(new PutObjectCommand({ ...at, Body: "second" }));
  await owner.send(new PutObjectAclCommand({ ...at, VersionId, ACL: "public-read" }));
  assert.equal((await anonymous(store, "GET", `/shelf/leaf?versionId=${VersionId}`)).text, "first");
  assert.equal((await anonymous(store, "GET", `/shelf/leaf?versionId=${second}`)).status, 403);
  assert.equal((await anonymous(store, "GET", "/shelf/leaf")).status, 403);
  const kept = await owner.send(new GetObjectAclCommand({ ...at, VersionId }));
  assert.deepEqual(shown(kept), [`${ALL_USERS} READ`, "curator FULL_CONTROL"]);
  assert.deepEqual(shown(await owner.send(new GetObjectAclCommand(at))), ["curator FULL_CONTROL"]);
  // Writing over and deleting what a public bucket holds is one thing, removing a kept version another.
  await owner.send(new PutBucketAclCommand({ Bucket: at.Bucket, ACL: "public-read-write" }));
  assert.equal((await anonymous(store, "DELETE", `/shelf/leaf?versionId=${VersionId}`)).status, 403);
  const Delete = { Objects: [{ Key: at.Key, VersionId }] };
  assert.equal(
    await storeErrorCode(all.other.send(new DeleteObjectsCommand({ Bucket: at.Bucket, Delete }))),
    "AccessDenied",
  );
  const { status, headers } = await anonymous(store, "DELETE", "/shelf/leaf");
  assert.equal(status, 204);
  const marker = headers.get("x-amz-version-id") ?? "";
  assert.equal(
    await storeErrorCode(owner.send(new GetObjectAclCommand({ ...at, VersionId: marker }))),
    "MethodNotAllowed",
  );
  assert.equal(await storeErrorCode(owner.send(new GetObjectAclCommand({ ...at, VersionId: "7" }))), "NoSuchVersion");
});

storeTest("S3 ACL: an upload in parts becomes an object with the list it was started with", async (given) => {
  const { owner, store } = await bucketOf(given);
  const at = { Bucket: "shelf", Key: "parts" };
  await uploadInParts(owner, at, ["part"], { ACL: "public-read" });
  assert.equal((await anonymous(store, "GET", "/shelf/parts")).text, "part");
});

storeTest("S3 ACL: callers that may not list a bucket get 403 for absent objects", async (given) => {
  const { owner, other, store } = await bucketOf(given);
  const missing = { Bucket: "shelf", Key: "missing" };
  assert.equal(await storeErrorCode(other.send(new GetObjectCommand(missing))), "AccessDenied");
  assert.equal(await storeErrorCode(other.send(new GetObjectAclCommand(missing))), "AccessDenied");
  assert.match((await anonymous(store, "GET", "/shelf/missing")).text, /<Code>AccessDenied</);
  await owner.send(new PutBucketAclCommand({ Bucket: "shelf", ACL: "authenticated-read" }));
  assert.equal(await storeErrorCode(other.send(new GetObjectCommand(missing))), "NoSuchKey");
  assert.equal((await anonymous(store, "GET", "/shelf/missing")).status, 403);
  await owner.send(new PutBucketAclCommand({ Bucket: "shelf", ACL: "public-read" }));
  assert.equal((await anonymous(store, "GET", "/shelf/missing")).status, 404);
  assert.equal((await anonymous(store, "GET", "/no-such-bucket/x")).status, 404);
});

storeTest("S3 ACL: anonymous requests cannot do what needs a user, even in a public bucket", async (given) => {
  const { owner, store, at, other } = await bucketOf(given);
  await owner.send(new PutBucketAclCommand({ Bucket: "shelf", GrantFullControl: `uri="${ALL_USERS}"` }));
  await owner.send(new PutObjectAclCommand({ ...at, GrantFullControl: `uri="${ALL_USERS}"` }));
  const cases: [string, string, RequestInit?][] = [
    ["GET", "/"],
    ["PUT", "/made-by-nobody"],
    ["DELETE", "/shelf"],
    ["GET", "/shelf?location"],
    ["GET", "/shelf?versioning"],
    ["PUT", "/shelf?versioning", { body: "<VersioningConfiguration/>" }],
    ["GET", "/shelf?uploads"],
    ["POST", "/shelf/x?uploads"],
    ["PUT", "/shelf/x?uploadId=a&partNumber=1", { body: "x" }],
    ["PUT", "/shelf/x", { headers: { "x-amz-copy-source": "shelf/leaf" } }],
    ["GET", "/shelf/leaf?tagging"],
    ["PUT", "/shelf/leaf?tagging", { body: "<Tagging><TagSet/></Tagging>" }],
  ];
  for (const [method, path, init] of cases) {
    const { status, text } = await anonymous(store, method, path, init);
    assert.equal(`${status} ${/<Code>(\w+)</.exec(text)?.[1]}`, "403 AccessDenied", `${method} ${path}`);
  }
  assert.equal(await storeErrorCode(other.send(new GetObjectTaggingCommand(at))), "AccessDenied");
  assert.equal(await storeErrorCode(other.send(new DeleteBucketCommand({ Bucket: "shelf" }))), "AccessDenied");
  assert.equal((await anonymous(store, "GET", "/shelf/leaf?acl")).status, 200);
  assert.match((await anonymous(store, "GET", "/shelf/leaf?response-content-type=text/html")).text, /InvalidRequest/);
});

storeTest("S3 ACL: a request with an incomplete signature is not anonymous", async (given) => {
  const { owner, store, at } = await bucketOf(given);
  await owner.send(new PutObjectAclCommand({ ...at, ACL: "public-read" }));
  const path = "/shelf/leaf";
  assert.equal((await anonymous(store, "GET", path)).text, "leaf");
  const url = new URL(await getSignedUrl(owner, new GetObjectCommand(at), { expiresIn: 60 }));
  for (const left of [...url.searchParams.keys()].filter((name) => name.startsWith("X-Amz-"))) {
    if (left === "X-Amz-Content-Sha256") continue;
    const without = new URL(url);
    without.searchParams.delete(left);
    assert.ok((await anonymous(store, "GET", path + without.search)).status >= 400, `without ${left}`);
  }
  for (const query of ["?Signature=x", "?AWSAccessKeyId=x", "?x-amz-signature=x", "?X-Amz-Credential", "?Expires=1"]) {
    assert.equal((await anonymous(store, "GET", path + query)).status, 403, query);
  }
  for (const authorization of ["", "x", "AWS a:b", "AWS4-HMAC-SHA256", "Bearer x", "AWS4-HMAC-SHA256 Credential=a"]) {
    const { status } = await anonymous(store, "GET", path, { headers: { authorization } });
    assert.ok(status === 400 || status === 403, `${authorization}: ${status}`);
  }
  const payload = { "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" };
  assert.equal((await anonymous(store, "GET", path, { headers: payload })).status, 403);
  await owner.send(new PutBucketAclCommand({ Bucket: "shelf", ACL: "public-read-write" }));
  const wrong = { body: "x", headers: { "x-amz-content-sha256": "0".repeat(64) } };
  assert.match((await anonymous(store, "PUT", "/shelf/new", wrong)).text, /XAmzContentSHA256Mismatch/);
});

storeTest("S3 ACL: grants are to accounts of the tenant, and end with them", async (given) => {
  const { owner, other, at, guid, store } = await bucketOf(given);
  const refusedGrants = [
    'id="nobody"',
    `id="${crypto.randomUUID()}"`,
    'uri="http://acs.amazonaws.com/groups/s3/LogDelivery"',
    `uri="${GROUP_URI}none"`,
    `uri="${GROUP_URI}%zz"`,
  ];
  for (const GrantRead of refusedGrants) {
    assert.equal(await storeErrorCode(owner.send(new PutObjectAclCommand({ ...at, GrantRead }))), "InvalidArgument");
  }
  await owner.send(new PutObjectAclCommand({ ...at, GrantRead: `id="${guid.toUpperCase()}"` }));
  await owner.send(new PutBucketAclCommand({ Bucket: "shelf", GrantWrite: `id="${guid}"` }));
  await other.send(new PutObjectCommand({ Bucket: "shelf", Key: "theirs", Body: "x" }));
  assert.equal(await statusOf(other.send(new GetObjectCommand(at))), 200);
  assert.equal((await archiveMapi(store, "DELETE", "/userAccounts/other")).status, 200);
  assert.deepEqual(shown(await owner.send(new GetObjectAclCommand(at))), []);
  const theirs = await owner.send(new GetObjectAclCommand({ Bucket: "shelf", Key: "theirs" }));
  assert.deepEqual([theirs.Owner, shown(theirs)], [undefined, []]);
  await makeUser(store, "other");
  assert.equal(await storeErrorCode(other.send(new GetObjectCommand(at))), "AccessDenied");
  assert.equal(
    await storeErrorCode(other.send(new GetObjectCommand({ Bucket: "shelf", Key: "theirs" }))),
    "AccessDenied",
  );
});

storeTest("S3 ACL: bodies that are no access list, and other owners, change nothing", async (given) => {
  const { owner, at, guid, store } = await bucketOf(given);
  const ID = await guidOf(store, "curator");
  const url = await getSignedUrl(owner, new PutObjectAclCommand(at), { expiresIn: 600 });
  const put = async (body: string, of = url) => {
    const text = await (await fetch(of, { method: "PUT", body })).text();
    return /<Code>(\w+)</.exec(text)?.[1] ?? "ok";
  };
  const policy = (inside: string) => `<AccessControlPolicy>${inside}</AccessControlPolicy>`;
  const list = "<AccessControlList/>";
  assert.equal(await put(""), "MalformedXML");
  assert.equal(await put("<Tagging/>"), "MalformedXML");
  assert.equal(await put(`<!DOCTYPE a [<!ENTITY b "c">]>${policy(list)}`), "MalformedXML");
  assert.equal(await put(policy("")), "MalformedACLError");
  assert.equal(await put("x".repeat(3 * 1024 * 1024)), "MalformedXML");
  assert.equal(await put(policy(`<Owner><ID>${guid}</ID></Owner>${list}`)), "AccessDenied");
  const both = await getSignedUrl(owner, new PutObjectAclCommand({ ...at, ACL: "public-read" }), { expiresIn: 600 });
  assert.equal(await put(policy(list), both), "InvalidRequest");
  assert.deepEqual(shown(await owner.send(new GetObjectAclCommand(at))), ["curator FULL_CONTROL"]);
  assert.equal(await put(policy(`<Owner><ID>${ID}</ID></Owner>${list}`)), "ok");
  assert.deepEqual(shown(await owner.send(new GetObjectAclCommand(at))), []);
  assert.equal(await put("", both), "ok");
  const made = new CreateBucketCommand({ Bucket: "made", ACL: "log-delivery-write" as "private" });
  assert.equal(await storeErrorCode(owner.send(made)), "InvalidArgument");
  assert.ok(!(await owner.send(new ListBucketsCommand({}))).Buckets?.some(({ Name }) => Name === "made"));
});

storeTest("S3 ACL: a namespace decides whether it has access lists, and whether they count", async ({ store }) => {
  const owner = clientOf(store, "curator");
  const make = (name: string, aclsUsage: string) => archiveMapi(store, "PUT", "/namespaces", { name, aclsUsage });
  await make("without", "NOT_ENABLED");
  const Bucket = "without";
  await owner.send(new PutObjectCommand({ Bucket, Key: "x", Body: "x" }));
  for (
    const command of [
      new PutBucketAclCommand({ Bucket, ACL: "public-read" }),
      new PutObjectAclCommand({ Bucket, Key: "x", ACL: "public-read" }),
      new PutObjectCommand({ Bucket, Key: "x", Body: "x", ACL: "public-read" }),
      new CopyObjectCommand({ Bucket, Key: "y", CopySource: "without/x", ACL: "public-read" }),
      new CreateMultipartUploadCommand({ Bucket, Key: "x", ACL: "public-read" }),
    ]
    // deno-lint-ignore no-explicit-any -- the client's overloads do not take a union of commands
  ) assert.equal(await storeErrorCode(owner.send(command as any)), "AccessControlListNotSupported");
  assert.deepEqual(shown(await owner.send(new GetBucketAclCommand({ Bucket }))), ["curator FULL_CONTROL"]);
  assert.deepEqual(shown(await owner.send(new GetObjectAclCommand({ Bucket, Key: "x" }))), ["curator FULL_CONTROL"]);
  await make("unenforced", "NOT_ENFORCED");
  await owner.send(new PutBucketAclCommand({ Bucket: "unenforced", ACL: "public-read" }));
  assert.equal(shown(await owner.send(new GetBucketAclCommand({ Bucket: "unenforced" }))).length, 2);
  assert.equal((await anonymous(store, "GET", "/unenforced?list-type=2")).status, 403);
});

storeTest("bucket owner: grants to the former owner go to the next one", async ({ store }) => {
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
