import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { archiveMapi, errorOf, eventually, namespace } from "./mapi_fixture.ts";
import { startStore, storeTest } from "./store_fixture.ts";

const DEFAULTS = { enabled: false, prune: false, pruneDays: 0, useDeleteMarkers: true, keepDeletionRecords: false };
const RELEASE = { keepDeletionRecords: false, prune: true, pruneDays: 0 };

const put = (client: S3Client, Bucket: string, Key: string, Body: string) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body }));

/** What a listing of versions shows: version or marker, and whether it is the latest. */
async function versions(client: S3Client, Bucket: string) {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  return {
    all: [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId })),
    versions: Versions.length,
    markers: DeleteMarkers.length,
    latest: [...Versions, ...DeleteMarkers].filter(({ IsLatest }) => IsLatest).length,
  };
}

async function deleteAll(client: S3Client, Bucket: string) {
  const { all } = await versions(client, Bucket);
  const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: all } }));
  assert.deepEqual(Errors, []);
}

Deno.test("version settings: they have defaults, change by member, survive a restart and can be reset", async () => {
  const store = await startStore();
  await namespace(store, "plain", {});
  const path = "/namespaces/plain/versioningSettings";
  assert.deepEqual((await archiveMapi(store, "GET", path)).json(), DEFAULTS);
  const set = { prune: true, pruneDays: "30", keepDeletionRecords: true };
  const answer = await archiveMapi(store, "POST", path, set);
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  await archiveMapi(store, "POST", path, { useDeleteMarkers: false, pruneDays: null });
  const wanted = { enabled: false, prune: true, pruneDays: 30, useDeleteMarkers: false, keepDeletionRecords: true };
  assert.deepEqual((await archiveMapi(store, "GET", path)).json(), wanted);
  await store.stop();
  await using again = await startStore(store.folder);
  assert.deepEqual((await archiveMapi(again, "GET", path)).json(), wanted);
  assert.equal((await archiveMapi(again, "DELETE", path)).status, 200);
  assert.deepEqual((await archiveMapi(again, "GET", path)).json(), DEFAULTS);
});

storeTest("version settings: enabled is S3's versioning of the bucket, set by either protocol", async ({ store }) => {
  const client = await namespace(store, "shared", { versioningSettings: { enabled: true, keepDeletionRecords: true } });
  const path = "/namespaces/shared/versioningSettings";
  const Bucket = "shared";
  assert.deepEqual((await archiveMapi(store, "GET", path)).json(), {
    ...DEFAULTS,
    enabled: true,
    keepDeletionRecords: true,
  });
  const status = async () => (await client.send(new GetBucketVersioningCommand({ Bucket }))).Status;
  const enabled = async () => (await archiveMapi(store, "GET", path)).json().enabled;
  assert.equal(await status(), "Enabled");
  await archiveMapi(store, "POST", path, { enabled: false });
  assert.equal(await status(), "Suspended");
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
  assert.equal(await enabled(), true);
  await archiveMapi(store, "DELETE", path);
  assert.equal(await enabled(), false);
  assert.equal(await status(), "Suspended");
  assert.equal(
    "versioningSettings" in (await archiveMapi(store, "GET", "/namespaces/shared?verbose=true")).json(),
    false,
  );
});

storeTest("deletion records: they keep a bucket until the settings allow their removal", async ({ store }) => {
  const client = await namespace(store, "records", {
    searchEnabled: true,
    versioningSettings: { enabled: true, keepDeletionRecords: true },
  });
  const Bucket = "records";
  await put(client, Bucket, "a", "one");
  await put(client, Bucket, "a", "two");
  await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
  await deleteAll(client, Bucket);
  const seen = await versions(client, Bucket);
  assert.deepEqual(seen.all, []);
  assert.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 0);
  const deletedByS3 = () => errorOf(client.send(new DeleteBucketCommand({ Bucket })));
  const deletedByMapi = async () => (await archiveMapi(store, "DELETE", "/namespaces/records")).status;
  assert.equal(await deletedByS3(), "409 BucketNotEmpty");
  assert.equal(await deletedByMapi(), 409);
  // Deleting what is not there leaves a marker, and takes no record away when that goes.
  await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
  await deleteAll(client, Bucket);
  assert.equal(await deletedByS3(), "409 BucketNotEmpty");

  assert.equal((await archiveMapi(store, "POST", "/namespaces/records/versioningSettings", RELEASE)).status, 200);
  // It is still searched, so the records stay whatever the store does meanwhile.
  assert.equal((await archiveMapi(store, "POST", "/namespaces/records", { description: "x" })).status, 200);
  assert.equal(await deletedByS3(), "409 BucketNotEmpty");
  assert.equal((await archiveMapi(store, "POST", "/namespaces/records", { searchEnabled: false })).status, 200);
  await eventually("ok", deletedByS3);
  assert.equal(await errorOf(client.send(new ListObjectsV2Command({ Bucket }))), "404 NoSuchBucket");
});

Deno.test("deletion records: MAPI deletes the namespace once they are gone, a restart in between or not", async () => {
  const store = await startStore();
  const client = await namespace(store, "records", {
    versioningSettings: { enabled: true, keepDeletionRecords: true, prune: true, pruneDays: 1 },
  });
  for (let i = 0; i < 30; i++) await put(client, "records", `k${i}`, "x");
  await deleteAll(client, "records");
  await store.stop();
  await using again = await startStore(store.folder);
  const deleted = async () => (await archiveMapi(again, "DELETE", "/namespaces/records")).status;
  assert.equal(await deleted(), 409);
  await archiveMapi(again, "POST", "/namespaces/records/versioningSettings", { keepDeletionRecords: false });
  assert.equal(await deleted(), 409);
  await archiveMapi(again, "POST", "/namespaces/records/versioningSettings", { pruneDays: 0 });
  await eventually(200, deleted);
});

storeTest("delete markers: without them a key disappears, and its versions stay", async ({ store }) => {
  const client = await namespace(store, "bare", { versioningSettings: { enabled: true, useDeleteMarkers: false } });
  const Bucket = "bare";
  const first = await put(client, Bucket, "a", "one");
  await put(client, Bucket, "a", "two");
  const gone = await client.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
  assert.deepEqual([gone.DeleteMarker, gone.VersionId], [undefined, undefined]);
  assert.equal(await errorOf(client.send(new GetObjectCommand({ Bucket, Key: "a" }))), "404 NoSuchKey");
  assert.deepEqual({ ...await versions(client, Bucket), all: [] }, { all: [], versions: 2, markers: 0, latest: 0 });
  const old = await client.send(new GetObjectCommand({ Bucket, Key: "a", VersionId: first.VersionId }));
  assert.equal(await old.Body?.transformToString(), "one");
  // Taking away an old version of a deleted key does not bring the key back.
  const { all } = await versions(client, Bucket);
  await client.send(new DeleteObjectCommand({ Bucket, Key: "a", VersionId: all[0].VersionId }));
  assert.equal(await errorOf(client.send(new GetObjectCommand({ Bucket, Key: "a" }))), "404 NoSuchKey");

  await archiveMapi(store, "POST", "/namespaces/bare/versioningSettings", { useDeleteMarkers: true });
  await put(client, Bucket, "b", "one");
  const marked = await client.send(new DeleteObjectCommand({ Bucket, Key: "b" }));
  assert.equal(marked.DeleteMarker, true);
  await client.send(new DeleteObjectCommand({ Bucket, Key: "b", VersionId: marked.VersionId }));
  assert.equal(await (await client.send(new GetObjectCommand({ Bucket, Key: "b" }))).Body?.transformToString(), "one");
});

storeTest("prune: at 0 days old versions go with the setting, and with later writes", async ({ store }) => {
  const client = await namespace(store, "pruned", { versioningSettings: { enabled: true } });
  const Bucket = "pruned";
  for (const text of ["one", "two", "three"]) await put(client, Bucket, "a", text);
  await put(client, Bucket, "hidden", "x");
  await client.send(new DeleteObjectCommand({ Bucket, Key: "hidden" }));
  const path = "/namespaces/pruned/versioningSettings";
  await archiveMapi(store, "POST", path, { prune: true, pruneDays: 1 });
  assert.equal((await versions(client, Bucket)).versions, 4);
  await archiveMapi(store, "POST", path, { pruneDays: 0 });
  await eventually(1, async () => (await versions(client, Bucket)).versions);
  assert.equal((await versions(client, Bucket)).markers, 1);
  await put(client, Bucket, "a", "four");
  await put(client, Bucket, "hidden", "back");
  assert.deepEqual({ ...await versions(client, Bucket), all: [] }, { all: [], versions: 2, markers: 0, latest: 2 });
  assert.equal(await (await client.send(new GetObjectCommand({ Bucket, Key: "a" }))).Body?.transformToString(), "four");
});
