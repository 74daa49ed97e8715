import {
  CreateBucketCommand,
  GetBucketLocationCommand,
  GetBucketVersioningCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

async function fill(client: S3Client, Bucket: string, keys: readonly string[]) {
  await client.send(new CreateBucketCommand({ Bucket }));
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
}

const setVersioning = (client: S3Client, Bucket: string, Status: "Enabled" | "Suspended") =>
  client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));

storeTest("embedded S3 listings: a page of no keys is the last, and odd sizes are rejected", async ({ client }) => {
  await fill(client, "pages", ["a", "b"]);
  const none = { Bucket: "pages", MaxKeys: 0 };
  const first = await client.send(new ListObjectsCommand(none));
  const versions = await client.send(new ListObjectVersionsCommand(none));
  for (const page of [first, versions]) assert.equal(page.IsTruncated, false);
  assert.deepEqual([first.Contents, versions.Versions], [undefined, undefined]);
  const negative = { Bucket: "pages", MaxKeys: -1 };
  assert.equal(await storeErrorCode(client.send(new ListObjectsCommand(negative))), "InvalidArgument");
  assert.equal(await storeErrorCode(client.send(new ListObjectVersionsCommand(negative))), "InvalidArgument");
  for (const markers of [{ VersionIdMarker: "1" }, { KeyMarker: "a", VersionIdMarker: "x" }]) {
    const odd = new ListObjectVersionsCommand({ Bucket: "pages", ...markers });
    assert.equal(await storeErrorCode(client.send(odd)), "InvalidArgument");
  }
  const after = await client.send(new ListObjectsV2Command({ Bucket: "pages", StartAfter: "a" }));
  assert.deepEqual(after.Contents?.map(({ Key }) => Key), ["b"]);
  // In whole seconds, like Last-Modified: tools that compare the two would copy for ever.
  const { LastModified } = await client.send(new HeadObjectCommand({ Bucket: "pages", Key: "b" }));
  assert.deepEqual(after.Contents?.map((one) => one.LastModified), [LastModified]);
});

storeTest("S3 versioning: only the owner reads and sets it, to Enabled or Suspended alone", async ({ store }) => {
  const reader = store.client("archive", "reader");
  const get = new GetBucketVersioningCommand({ Bucket: "campaigns" });
  assert.equal(await storeErrorCode(reader.send(get)), "AccessDenied");
  assert.equal(await storeErrorCode(setVersioning(reader, "campaigns", "Enabled")), "AccessDenied");
  const owner = store.client("archive", "curator");
  const put = (VersioningConfiguration: { Status?: "Enabled"; MFADelete?: "Enabled" }) =>
    storeErrorCode(owner.send(new PutBucketVersioningCommand({ Bucket: "letters", VersioningConfiguration })));
  assert.equal(await put({}), "MalformedXML");
  assert.equal(await put({ Status: "Enabled", MFADelete: "Enabled" }), "NotImplemented");
  assert.equal((await owner.send(new GetBucketVersioningCommand({ Bucket: "letters" }))).Status, undefined);
});

storeTest("embedded S3: a bucket has the default region; an absent bucket has none", async ({ client }) => {
  const { LocationConstraint } = await client.send(new GetBucketLocationCommand({ Bucket: "letters" }));
  assert.ok(!LocationConstraint);
  assert.equal(await storeErrorCode(client.send(new GetBucketLocationCommand({ Bucket: "none" }))), "NoSuchBucket");
});
