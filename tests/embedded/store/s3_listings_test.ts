import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { startStore, storeErrorCode } from "./store_fixture.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

async function fill(client: S3Client, Bucket: string, keys: readonly string[]) {
  await client.send(new CreateBucketCommand({ Bucket }));
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
}

const setVersioning = (client: S3Client, Bucket: string, Status: "Enabled" | "Suspended") =>
  client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));

/** All pages of a listing of versions, as lines such as `key version latest`. */
async function versionLines(client: S3Client, Bucket: string, MaxKeys: number, Delimiter?: string, Prefix?: string) {
  const lines: string[] = [];
  const prefixes: string[] = [];
  let KeyMarker: string | undefined, VersionIdMarker: string | undefined;
  for (;;) {
    const page = await client.send(
      new ListObjectVersionsCommand({ Bucket, MaxKeys, Delimiter, Prefix, KeyMarker, VersionIdMarker }),
    );
    const versions = (page.Versions ?? []).map((one) => ({ ...one, kind: "version" }));
    const markers = (page.DeleteMarkers ?? []).map((one) => ({ ...one, kind: "marker" }));
    const entries = [...versions, ...markers];
    prefixes.push(...(page.CommonPrefixes ?? []).map((common) => common.Prefix ?? ""));
    assert.ok(entries.length + (page.CommonPrefixes ?? []).length <= MaxKeys);
    lines.push(
      ...entries.map((one) => `${one.Key} ${one.VersionId} ${one.kind}${one.IsLatest ? " latest" : ""}`),
    );
    if (!page.IsTruncated) return { lines: lines.sort(), prefixes };
    assert.notDeepEqual([page.NextKeyMarker, page.NextVersionIdMarker], [KeyMarker, VersionIdMarker]);
    ({ NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page);
    assert.ok(KeyMarker, "a page that is not the last says where to go on");
  }
}

Deno.test("embedded S3 listings: the first version pages by markers, with and without a delimiter", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const keys = ["a", "b/1", "b/2", "b/3", "c", "d/e/1", "d/f", "e\u0001 ö"];
  await fill(client, "pages", keys);
  for (const Delimiter of [undefined, "/", "/e"]) {
    for (const MaxKeys of [1, 2, 3, 1000]) {
      const seen: string[] = [];
      let Marker: string | undefined;
      for (;;) {
        const page = await client.send(
          new ListObjectsCommand({ Bucket: "pages", Delimiter, MaxKeys, Marker, EncodingType: "url" }),
        );
        const found = (page.Contents ?? []).map(({ Key }) => decodeURIComponent(Key ?? ""));
        seen.push(...found, ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ""));
        assert.equal(page.NextMarker !== undefined, page.IsTruncated === true && Delimiter !== undefined);
        if (!page.IsTruncated) break;
        const next = page.NextMarker === undefined ? found.at(-1) : decodeURIComponent(page.NextMarker);
        assert.notEqual(next, Marker, "a listing that does not move on would never end");
        Marker = next;
      }
      const expected = Delimiter === "/"
        ? ["a", "b/", "c", "d/", "e\u0001 ö"]
        : Delimiter === "/e"
        ? keys.map((key) => key === "d/e/1" ? "d/e" : key)
        : keys;
      assert.deepEqual(seen.sort(), expected);
    }
  }
  const { Contents, Marker } = await client.send(new ListObjectsCommand({ Bucket: "pages", Marker: "c" }));
  assert.deepEqual(Contents?.map(({ Key, Owner }) => [Key, Owner?.DisplayName])[0], ["d/e/1", "curator"]);
  assert.equal(Marker, "c");
});

Deno.test("embedded S3 listings: a page of no keys is the last, and odd sizes are rejected", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  await fill(client, "pages", ["a", "b"]);
  const none = { Bucket: "pages", MaxKeys: 0 };
  const first = await client.send(new ListObjectsCommand(none));
  const second = await client.send(new ListObjectsV2Command(none));
  const versions = await client.send(new ListObjectVersionsCommand(none));
  for (const page of [first, second, versions]) assert.equal(page.IsTruncated, false);
  assert.deepEqual([first.Contents, second.Contents, versions.Versions], [undefined, undefined, undefined]);
  assert.equal(second.KeyCount, 0);
  const negative = { Bucket: "pages", MaxKeys: -1 };
  assert.equal(await storeErrorCode(client.send(new ListObjectsCommand(negative))), "InvalidArgument");
  assert.equal(await storeErrorCode(client.send(new ListObjectVersionsCommand(negative))), "InvalidArgument");
  const after = await client.send(new ListObjectsV2Command({ Bucket: "pages", StartAfter: "a" }));
  assert.deepEqual(after.Contents?.map(({ Key }) => Key), ["b"]);
  // In whole seconds, like Last-Modified: tools that compare the two would copy for ever.
  const { LastModified } = await client.send(new HeadObjectCommand({ Bucket: "pages", Key: "b" }));
  assert.deepEqual(after.Contents?.map((one) => one.LastModified), [LastModified]);
});

Deno.test("embedded S3 versioning: enabled, suspended and null versions, on every way to them", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const at = { Bucket: "kept", Key: "k" };
  await client.send(new CreateBucketCommand({ Bucket: "kept" }));
  const status = async () => (await client.send(new GetBucketVersioningCommand({ Bucket: "kept" }))).Status;
  const put = async (Body: string) => (await client.send(new PutObjectCommand({ ...at, Body }))).VersionId;
  const read = async (VersionId?: string) =>
    await (await client.send(new GetObjectCommand({ ...at, VersionId }))).Body?.transformToString();
  assert.equal(await status(), undefined);
  assert.equal(await put("before"), undefined);
  assert.deepEqual((await versionLines(client, "kept", 10)).lines, ["k null version latest"]);

  await setVersioning(client, "kept", "Enabled");
  assert.equal(await status(), "Enabled");
  const one = await put("one");
  assert.equal(await read("null"), "before");
  assert.deepEqual((await versionLines(client, "kept", 1)).lines, [`k ${one} version latest`, "k null version"]);

  await setVersioning(client, "kept", "Suspended");
  assert.equal(await status(), "Suspended");
  assert.equal(await put("again"), undefined);
  assert.equal(await read("null"), "again");
  assert.equal(await read(one), "one");
  const marker = await client.send(new DeleteObjectCommand(at));
  assert.deepEqual([marker.VersionId, marker.DeleteMarker], ["null", true]);
  assert.deepEqual((await versionLines(client, "kept", 1)).lines, [`k ${one} version`, "k null marker latest"]);

  await client.send(new DeleteObjectCommand({ ...at, VersionId: "null" }));
  assert.equal(await read(), "one");
});

Deno.test(
  "embedded S3 versioning: only the owner may see and switch it, and only to what there is",
  leaks,
  async () => {
    await using store = await startStore();
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
  },
);

Deno.test(
  "embedded S3 listings: versions and markers page without loss, also by prefix and delimiter",
  leaks,
  async () => {
    await using store = await startStore();
    const client = store.client("archive", "curator");
    await fill(client, "kept", ["a", "d/1", "d/2", "z"]);
    await setVersioning(client, "kept", "Enabled");
    await fill(client, "kept", ["a", "d/1", "d/3", "å"]);
    await client.send(new DeleteObjectCommand({ Bucket: "kept", Key: "a" }));
    await client.send(new DeleteObjectCommand({ Bucket: "kept", Key: "d/2" }));
    const whole = await versionLines(client, "kept", 1000);
    assert.equal(whole.lines.length, 10);
    assert.equal(whole.lines.filter((line) => line.endsWith("latest")).length, 6);
    assert.equal(whole.lines.filter((line) => line.endsWith("marker latest")).length, 2);
    for (const size of [1, 2, 3]) assert.deepEqual(await versionLines(client, "kept", size), whole);
    for (const size of [1, 2, 1000]) {
      const { lines, prefixes } = await versionLines(client, "kept", size, "/");
      assert.deepEqual(prefixes, ["d/"]);
      assert.deepEqual(lines, whole.lines.filter((line) => !line.startsWith("d/")));
      const under = await versionLines(client, "kept", size, "/", "d/");
      assert.deepEqual(under.lines, whole.lines.filter((line) => line.startsWith("d/")));
    }
    const alone = new ListObjectVersionsCommand({ Bucket: "kept", VersionIdMarker: "1" });
    assert.equal(await storeErrorCode(client.send(alone)), "InvalidArgument");
    const odd = new ListObjectVersionsCommand({ Bucket: "kept", KeyMarker: "a", VersionIdMarker: "x" });
    assert.equal(await storeErrorCode(client.send(odd)), "InvalidArgument");
  },
);

Deno.test("embedded S3: a bucket is in the default region; one that is not there is nowhere", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const { LocationConstraint } = await client.send(new GetBucketLocationCommand({ Bucket: "letters" }));
  assert.ok(!LocationConstraint);
  assert.equal(await storeErrorCode(client.send(new GetBucketLocationCommand({ Bucket: "none" }))), "NoSuchBucket");
});
