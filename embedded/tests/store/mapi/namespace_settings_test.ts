import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { archiveMapi, errorOf, namespace, statusAndText } from "@/embedded/tests/store/mapi_fixture.ts";
import { uploadInParts } from "@/embedded/tests/store/s3/multipart_fixture.ts";
import { startStore, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const put = (client: S3Client, Bucket: string, Key: string, Body = "x") =>
  errorOf(client.send(new PutObjectCommand({ Bucket, Key, Body })));

const post = (store: Store, name: string, body: unknown, user?: string) =>
  statusAndText(archiveMapi(store, "POST", `/namespaces/${name}`, body, user));
const record = async (store: Store, name: string) =>
  (await archiveMapi(store, "GET", `/namespaces/${name}?verbose=true`)).json();

storeTest("overwrite: rejected in a namespace without versioning whose settings forbid it", async ({ store }) => {
  const client = await namespace(store, "strict", { s3UnversionedOverwrite: false });
  const Bucket = "strict";
  const copy = (Key: string) =>
    errorOf(client.send(new CopyObjectCommand({ Bucket, Key, CopySource: "strict/source" })));
  const complete = (Key: string) => errorOf(uploadInParts(client, { Bucket, Key }, ["part"]));
  assert.equal(await put(client, Bucket, "source"), "ok");
  assert.equal(await put(client, Bucket, "a", "first"), "ok");
  assert.equal(await put(client, Bucket, "a", "second"), "409 OperationAborted");
  assert.equal(await copy("a"), "409 OperationAborted");
  assert.equal(await complete("a"), "409 OperationAborted");
  const kept = await client.send(new GetObjectCommand({ Bucket, Key: "a" }));
  assert.equal(await kept.Body?.transformToString(), "first");
  assert.equal(await copy("b"), "ok");
  assert.equal(await complete("c"), "ok");
  await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
  assert.equal(await put(client, Bucket, "a", "third"), "ok");

  const versioning = (Status: "Enabled" | "Suspended") =>
    client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
  await versioning("Enabled");
  assert.equal(await put(client, Bucket, "a", "fourth"), "ok");
  await versioning("Suspended");
  assert.equal(await put(client, Bucket, "a", "fifth"), "409 OperationAborted");
  assert.match(await post(store, Bucket, { s3UnversionedOverwrite: true }), /^200 $/);
  assert.equal(await put(client, Bucket, "a", "fifth"), "ok");
  assert.match(await post(store, Bucket, { s3UnversionedOverwrite: false }), /^200 $/);
  assert.equal(await put(client, Bucket, "a", "sixth"), "409 OperationAborted");
});

Deno.test("namespace changes: sent members change, the others stay, also after a restart", async () => {
  const store = await startStore();
  await namespace(store, "changed", { description: "old", hardQuota: "10 GB", tags: { tag: ["a", "b"] } });
  const before = await record(store, "changed");
  const change = { softQuota: "90", tags: { tag: ["c"] }, searchEnabled: true, hardQuota: null, owner: "reader" };
  assert.match(await post(store, "CHANGED", change), /^200 $/);
  const wanted = { ...before, softQuota: 90, tags: { tag: ["c"] }, searchEnabled: true, owner: "reader" };
  assert.deepEqual(await record(store, "changed"), wanted);
  await store.stop();
  await using again = await startStore(store.folder);
  assert.deepEqual(await record(again, "changed"), wanted);
  // The new owner has the permissions of owners.
  assert.equal(await put(again.client("archive", "reader"), "changed", "a"), "ok");
});

storeTest("namespace changes: a new name is the bucket's, unless it is taken", async ({ store }) => {
  const client = await namespace(store, "first", {});
  await put(client, "first", "a");
  assert.match(await post(store, "first", { name: "letters" }), /^409 /);
  assert.match(await post(store, "first", { name: "bad_name" }), /^400 .*name/);
  assert.match(await post(store, "first", { name: "FIRST" }), /^200 /);
  assert.match(await post(store, "first", { name: "second" }), /^200 /);
  assert.equal((await archiveMapi(store, "GET", "/namespaces/first")).status, 404);
  assert.equal((await record(store, "second")).fullyQualifiedName, "second.archive");
  await client.send(new GetObjectCommand({ Bucket: "second", Key: "a" }));
  const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
  assert.ok(Buckets.some(({ Name }) => Name === "second"));
});

storeTest("namespace changes: an invalid member is rejected by its name, and nothing changes", async ({ store }) => {
  await namespace(store, "ruled", { aclsUsage: "NOT_ENABLED", hashScheme: "MD5" });
  const before = await record(store, "ruled");
  for (const [member, value] of [["hashScheme", "SHA-256"], ["versioningSettings", { enabled: true }]] as const) {
    assert.match(await post(store, "ruled", { description: "new", [member]: value }), new RegExp(`^400 .*${member}`));
  }
  assert.match(await post(store, "ruled?resetMQECheckpoint=x", {}), /^400 .*resetMQECheckpoint/);
  assert.deepEqual(await record(store, "ruled"), before);
  assert.match(await post(store, "ruled", { hashScheme: "MD5", aclsUsage: "ENABLED" }), /^200 /);
  assert.match(await post(store, "ruled", { enterpriseMode: false }), /^200 /);
  assert.match(await post(store, "ruled", { enterpriseMode: true }), /^400 .*enterpriseMode/);
  assert.match(await post(store, "ruled?resetMQECheckpoint=0", {}), /^200 /);
});

storeTest("errors: the body names the bucket, or the key", async ({ client }) => {
  const errorOf = async (Bucket: string, Key: string) => {
    const response = await fetch(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key })));
    return await response.text();
  };
  const noKey = await errorOf("letters", "a <b>/å");
  assert.match(noKey, /<Code>NoSuchKey<\/Code>.*<Key>a &lt;b&gt;\/å<\/Key>/);
  assert.match(noKey, /<RequestId>[0-9a-f-]+<\/RequestId><HostId>[^<]+<\/HostId>/);
  assert.doesNotMatch(noKey, /<BucketName>/);
  assert.match(await errorOf("none", "a"), /<Code>NoSuchBucket<\/Code>.*<BucketName>none<\/BucketName>/);
});
