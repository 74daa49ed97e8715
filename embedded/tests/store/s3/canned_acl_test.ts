import { CreateBucketCommand, GetObjectAclCommand, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import assert from "node:assert/strict";
import { CANNED_ACLS, type CannedAcl } from "@/embedded/store/s3/access_lists.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { anonymous, clientOf, makeUser, statusOf } from "@/embedded/tests/store/acl_fixture.ts";
import { s3Keys, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

type Who = "owner" | "other" | "nobody";

const READ = { other: "list head", nobody: "list head" };
const ALL = { other: "list head put delete", nobody: "list head put delete" };
const NONE = { other: "", nobody: "" };

/** What the ready-made lists of a bucket let others than its owner do in it, as in S3. */
const BUCKET_LETS: Record<CannedAcl, Record<"other" | "nobody", string>> = {
  private: NONE,
  "public-read": READ,
  "public-read-write": ALL,
  "authenticated-read": { ...READ, nobody: "" },
  "bucket-owner-read": NONE,
  "bucket-owner-full-control": NONE,
};

/** The same of an object in a private bucket, for others than its owner. */
const OBJECT_LETS: typeof BUCKET_LETS = {
  ...BUCKET_LETS,
  "public-read": { other: "get head", nobody: "get head" },
  "public-read-write": { other: "get head", nobody: "get head" },
  "authenticated-read": { other: "get head", nobody: "" },
};

const BUCKET_REQUESTS = {
  list: ["GET", "?list-type=2"],
  head: ["HEAD", ""],
  put: ["PUT", "/new"],
  delete: ["DELETE", "/new"],
  "get-acl": ["GET", "?acl"],
  "put-acl": ["PUT", "?acl"],
} as const;

const OBJECT_REQUESTS = {
  get: ["GET", "/leaf"],
  head: ["HEAD", "/leaf"],
  "get-acl": ["GET", "/leaf?acl"],
  "put-acl": ["PUT", "/leaf?acl"],
  put: ["PUT", "/leaf"],
  delete: ["DELETE", "/leaf"],
} as const;

/** Each request by each sender succeeds where it is let, and else is 403; what its owner does last may end the object. */
async function assertLets(
  store: Store,
  bucket: string,
  requests: Record<string, readonly [method: string, path: string]>,
  lets: Record<"other" | "nobody", string>,
): Promise<void> {
  const signed = (user: string) => {
    const client = new AwsClient({ ...s3Keys(user, SAMPLE_PASSWORD), service: "s3", region: "us-east-1", retries: 0 });
    return client.fetch.bind(client);
  };
  const senders: [Who, typeof fetch][] = [["nobody", fetch], ["other", signed("other")], ["owner", signed("curator")]];
  for (const [operation, [method, path]] of Object.entries(requests)) {
    for (const [who, send] of senders) {
      const headers: Record<string, string> = operation === "put-acl" ? { "x-amz-acl": "private" } : {};
      const body = operation === "put" ? "text" : undefined;
      const response = await send(`${store.s3("archive")}/${bucket}${path}`, { method, headers, body });
      await response.body?.cancel();
      const isLet = who === "owner" || lets[who].split(" ").includes(operation);
      assert.equal(isLet ? response.ok : response.status, isLet || 403, `${bucket}, ${who}: ${operation}`);
    }
  }
}

storeTest("canned ACLs of a bucket: admit the owner, others and anonymous requests as S3 does", async ({ store }) => {
  await makeUser(store, "other");
  for (const ACL of CANNED_ACLS) {
    // The client's type knows only those that AWS documents for buckets.
    const bucket = new CreateBucketCommand({ Bucket: `canned-${ACL}`, ACL: ACL as "private" });
    await clientOf(store, "curator").send(bucket);
    await assertLets(store, `canned-${ACL}`, BUCKET_REQUESTS, BUCKET_LETS[ACL]);
  }
});

storeTest("canned ACLs of an object: admit the owner, others and anonymous requests as S3 does", async ({ store }) => {
  await makeUser(store, "other");
  const owner = clientOf(store, "curator");
  await owner.send(new CreateBucketCommand({ Bucket: "objects" }));
  for (const ACL of CANNED_ACLS) {
    await owner.send(new PutObjectCommand({ Bucket: "objects", Key: "leaf", Body: "leaf", ACL }));
    await assertLets(store, "objects", OBJECT_REQUESTS, OBJECT_LETS[ACL]);
  }
});

storeTest("canned ACLs: an object is its writer's, and may grant the bucket's owner access", async ({ store }) => {
  const guid = await makeUser(store, "other");
  const third = await makeUser(store, "third", { roles: { role: ["ADMINISTRATOR"] } });
  const [owner, other] = [clientOf(store, "third"), clientOf(store, "other")];
  const Bucket = "shared";
  await owner.send(new CreateBucketCommand({ Bucket, ACL: "public-read-write" }));
  const expected: [CannedAcl, string[]][] = [
    ["private", ["other FULL_CONTROL"]],
    ["bucket-owner-read", ["other FULL_CONTROL", "third READ"]],
    ["bucket-owner-full-control", ["other FULL_CONTROL", "third FULL_CONTROL"]],
    ["authenticated-read", ["http://acs.amazonaws.com/groups/global/AuthenticatedUsers READ", "other FULL_CONTROL"]],
  ];
  for (const [ACL, grants] of expected) {
    const at = { Bucket, Key: ACL };
    await other.send(new PutObjectCommand({ ...at, Body: "x", ACL }));
    const acl = await other.send(new GetObjectAclCommand(at));
    assert.deepEqual(acl.Owner, { ID: guid, DisplayName: "other" });
    assert.deepEqual(
      acl.Grants?.map(({ Grantee, Permission }) => `${Grantee?.DisplayName ?? Grantee?.URI} ${Permission}`),
      grants,
    );
    // Who owns the bucket reads by the data access permissions in any case.
    assert.equal(await statusOf(owner.send(new GetObjectCommand(at))), 200);
    assert.equal(await statusOf(other.send(new GetObjectCommand(at))), 200);
    // READ on the bucket lists it, and does not read what is in it.
    assert.equal((await anonymous(store, "GET", `/${Bucket}/${ACL}`)).status, 403);
  }
  const written = await anonymous(store, "PUT", `/${Bucket}/by-nobody`, { body: "x" });
  assert.equal(written.status, 200);
  const acl = await owner.send(new GetObjectAclCommand({ Bucket, Key: "by-nobody" }));
  assert.equal(acl.Owner?.ID, third);
});
