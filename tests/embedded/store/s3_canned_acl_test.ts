import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetBucketAclCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { CANNED_ACLS, type CannedAcl } from "@/embedded/store/s3/acl_headers.ts";
import { anonymous, clientOf, makeUser, statusOf } from "./acl_fixture.ts";
import { startStore } from "./store_fixture.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

const BUCKET_OPERATIONS = ["list", "head", "put", "delete", "get-acl", "put-acl"] as const;
const OBJECT_OPERATIONS = ["get", "head", "get-acl", "put-acl", "put", "delete"] as const;

/** What the ready-made lists of a bucket let others than its owner do in it, as in S3. */
const BUCKET_LETS: Record<CannedAcl, { other: string[]; nobody: string[] }> = {
  private: { other: [], nobody: [] },
  "public-read": { other: ["list", "head"], nobody: ["list", "head"] },
  "public-read-write": { other: ["list", "head", "put", "delete"], nobody: ["list", "head", "put", "delete"] },
  "authenticated-read": { other: ["list", "head"], nobody: [] },
  "bucket-owner-read": { other: [], nobody: [] },
  "bucket-owner-full-control": { other: [], nobody: [] },
};

/** The same of an object in a private bucket, for others than its owner. */
const OBJECT_LETS: Record<CannedAcl, { other: string[]; nobody: string[] }> = {
  private: { other: [], nobody: [] },
  "public-read": { other: ["get", "head"], nobody: ["get", "head"] },
  "public-read-write": { other: ["get", "head"], nobody: ["get", "head"] },
  "authenticated-read": { other: ["get", "head"], nobody: [] },
  "bucket-owner-read": { other: [], nobody: [] },
  "bucket-owner-full-control": { other: [], nobody: [] },
};

async function bucketStatus(client: S3Client, Bucket: string, operation: typeof BUCKET_OPERATIONS[number]) {
  switch (operation) {
    case "list":
      return await statusOf(client.send(new ListObjectsV2Command({ Bucket })));
    case "head":
      return await statusOf(client.send(new HeadBucketCommand({ Bucket })));
    case "put":
      return await statusOf(client.send(new PutObjectCommand({ Bucket, Key: "new", Body: "new" })));
    case "delete":
      return await statusOf(client.send(new DeleteObjectCommand({ Bucket, Key: "new" })));
    case "get-acl":
      return await statusOf(client.send(new GetBucketAclCommand({ Bucket })));
    case "put-acl":
      return await statusOf(client.send(new PutBucketAclCommand({ Bucket, ACL: "private" })));
  }
}

const BUCKET_REQUESTS = {
  list: ["GET", "?list-type=2"],
  head: ["HEAD", ""],
  put: ["PUT", "/new"],
  delete: ["DELETE", "/new"],
  "get-acl": ["GET", "?acl"],
  "put-acl": ["PUT", "?acl"],
} as const;

async function objectStatus(client: S3Client, Bucket: string, operation: typeof OBJECT_OPERATIONS[number]) {
  const at = { Bucket, Key: "leaf" };
  switch (operation) {
    case "get":
      return await statusOf(client.send(new GetObjectCommand(at)));
    case "head":
      return await statusOf(client.send(new HeadObjectCommand(at)));
    case "get-acl":
      return await statusOf(client.send(new GetObjectAclCommand(at)));
    case "put-acl":
      return await statusOf(client.send(new PutObjectAclCommand({ ...at, ACL: "private" })));
    case "put":
      return await statusOf(client.send(new PutObjectCommand({ ...at, Body: "other" })));
    case "delete":
      return await statusOf(client.send(new DeleteObjectCommand(at)));
  }
}

const OBJECT_REQUESTS = {
  get: ["GET", "/leaf"],
  head: ["HEAD", "/leaf"],
  "get-acl": ["GET", "/leaf?acl"],
  "put-acl": ["PUT", "/leaf?acl"],
  put: ["PUT", "/leaf"],
  delete: ["DELETE", "/leaf"],
} as const;

Deno.test(
  "canned ACLs of a bucket: admit the owner, other users and anonymous requests as S3 does",
  leaks,
  async () => {
    await using store = await startStore();
    await makeUser(store, "other");
    const [owner, other] = [clientOf(store, "curator"), clientOf(store, "other")];
    for (const ACL of CANNED_ACLS) {
      const Bucket = `canned-${ACL}`;
      // The client's type knows only those that AWS documents for buckets.
      await owner.send(new CreateBucketCommand({ Bucket, ACL: ACL as "private" }));
      for (const operation of BUCKET_OPERATIONS) {
        const what = `${ACL}: ${operation}`;
        const [method, path] = BUCKET_REQUESTS[operation];
        const headers: Record<string, string> = operation === "put-acl" ? { "x-amz-acl": "private" } : {};
        const body = operation === "put" ? "new" : undefined;
        const { status } = await anonymous(store, method, `/${Bucket}${path}`, { headers, body });
        assert.equal(status < 300, BUCKET_LETS[ACL].nobody.includes(operation), `nobody, ${what}: ${status}`);
        if (status >= 300) assert.equal(status, 403, what);
        const others = await bucketStatus(other, Bucket, operation);
        assert.equal(others < 300, BUCKET_LETS[ACL].other.includes(operation), `other, ${what}: ${others}`);
        if (others >= 300) assert.equal(others, 403, what);
        assert.ok(await bucketStatus(owner, Bucket, operation) < 300, `owner, ${what}`);
      }
    }
  },
);

Deno.test(
  "canned ACLs of an object: admit the owner, other users and anonymous requests as S3 does",
  leaks,
  async () => {
    await using store = await startStore();
    await makeUser(store, "other");
    const [owner, other] = [clientOf(store, "curator"), clientOf(store, "other")];
    const Bucket = "objects";
    await owner.send(new CreateBucketCommand({ Bucket }));
    for (const ACL of CANNED_ACLS) {
      await owner.send(new PutObjectCommand({ Bucket, Key: "leaf", Body: "leaf", ACL }));
      for (const operation of OBJECT_OPERATIONS) {
        const what = `${ACL}: ${operation}`;
        const [method, path] = OBJECT_REQUESTS[operation];
        const headers: Record<string, string> = operation === "put-acl" ? { "x-amz-acl": "private" } : {};
        const { status } = await anonymous(store, method, `/${Bucket}${path}`, { headers });
        assert.equal(status < 300, OBJECT_LETS[ACL].nobody.includes(operation), `nobody, ${what}: ${status}`);
        const others = await objectStatus(other, Bucket, operation);
        assert.equal(others < 300, OBJECT_LETS[ACL].other.includes(operation), `other, ${what}: ${others}`);
        if (others >= 300) assert.equal(others, 403, what);
        assert.ok(await objectStatus(owner, Bucket, operation) < 300, `owner, ${what}`);
      }
    }
  },
);

Deno.test(
  "canned ACLs: an object in another's bucket is its writer's, and the bucket's owner's as it says",
  leaks,
  async () => {
    await using store = await startStore();
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
  },
);
