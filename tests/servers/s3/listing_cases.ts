import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { refusal, type S3Case } from "./contract_server.ts";

/** Buckets and the listings of their keys. */
export const LISTING_CASES: readonly S3Case[] = [
  {
    name: "buckets are listed in pages, checked, and deleted once they are empty",
    run: async ({ client, bucket }) => {
      const names = [await bucket(), await bucket(), await bucket()].sort();
      const found: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListBucketsCommand({ MaxBuckets: 1, Prefix: "contract-", ContinuationToken }),
        );
        assert.ok((page.Buckets ?? []).length <= 1);
        found.push(...(page.Buckets ?? []).map(({ Name = "" }) => Name));
        ContinuationToken = page.ContinuationToken;
      } while (ContinuationToken);
      assert.deepEqual(names.filter((name) => found.includes(name)), names);
      const Bucket = names[0];
      await client.send(new PutObjectCommand({ Bucket, Key: "x", Body: "x" }));
      assert.equal(await refusal(client.send(new DeleteBucketCommand({ Bucket }))), "409 BucketNotEmpty");
      assert.equal(await refusal(client.send(new DeleteBucketCommand({ Bucket: names[1] }))), "no refusal");
      assert.equal(await refusal(client.send(new HeadBucketCommand({ Bucket: names[1] }))), "404 NotFound");
    },
  },
  {
    name: "keys are listed in the binary order of UTF-8, page after page",
    run: async ({ client, bucket }) => {
      const keys = ["A", "a", "a b+c%20", "b/", "b/1", "b/2", "z", "å", "\uffee", "\u{1f600}"];
      const Bucket = await filled(client, await bucket(), keys);
      const found: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 3, ContinuationToken }));
        assert.ok((page.KeyCount ?? 0) <= 3);
        found.push(...(page.Contents ?? []).map(({ Key = "" }) => Key));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken && found.length <= keys.length);
      assert.deepEqual(found, keys);
    },
  },
  {
    name: "a delimiter folds keys into prefixes, in either version of the listing",
    run: async ({ client, bucket }) => {
      const Bucket = await filled(client, await bucket(), ["a", "b/1", "b/2", "c/d/1", "c/e", "z"]);
      const shown = (page: { Contents?: { Key?: string }[]; CommonPrefixes?: { Prefix?: string }[] }) => [
        ...(page.Contents ?? []).map(({ Key }) => Key),
        ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix),
      ];
      const two = (given: object) => client.send(new ListObjectsV2Command({ Bucket, Delimiter: "/", ...given }));
      const one = (given: object) => client.send(new ListObjectsCommand({ Bucket, Delimiter: "/", ...given }));
      assert.deepEqual(shown(await two({})), ["a", "z", "b/", "c/"]);
      assert.deepEqual(shown(await two({ Prefix: "c/" })), ["c/e", "c/d/"]);
      assert.deepEqual(shown(await two({ StartAfter: "b/1" })).slice(0, 1), ["z"]);
      assert.deepEqual(shown(await two({ Delimiter: "/d" })), ["a", "b/1", "b/2", "c/e", "z", "c/d"]);
      const first = await one({ MaxKeys: 2 });
      assert.deepEqual([shown(first), first.NextMarker, first.IsTruncated], [["a", "b/"], "b/", true]);
      assert.deepEqual(shown(await one({ Marker: first.NextMarker })), ["z", "c/"]);
    },
  },
  {
    name: "encoded listings spell keys and prefixes as in an address",
    run: async ({ client, bucket }) => {
      const Bucket = await filled(client, await bucket(), ["å b/1", "å+c"]);
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, EncodingType: "url", Delimiter: "/", Prefix: "å" }),
      );
      const read = (text = "") => decodeURIComponent(text.replaceAll("+", " "));
      assert.deepEqual(page.Contents?.map(({ Key }) => read(Key)), ["å+c"]);
      assert.deepEqual(page.CommonPrefixes?.map(({ Prefix }) => read(Prefix)), ["å b/"]);
      assert.equal(read(page.Prefix), "å");
    },
  },
  {
    name: "no keys are asked for, none are given, and nothing is left over",
    run: async ({ client, bucket }) => {
      const Bucket = await filled(client, await bucket(), ["a", "b"]);
      const page = await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 0 }));
      assert.deepEqual([page.Contents, page.KeyCount, page.IsTruncated], [undefined, 0, false]);
    },
  },
  {
    name: "keys of 1,024 bytes and with odd characters are just keys",
    run: async ({ client, bucket }) => {
      const keys = [
        "a//b",
        "d",
        "d/",
        "d/x",
        `${"ö".repeat(100)}${"/k".repeat(412)}`,
        "tab\tand %41 & <x>",
        "?versionId=1",
      ];
      const Bucket = await filled(client, await bucket(), keys);
      const { Contents } = await client.send(new ListObjectsV2Command({ Bucket }));
      assert.deepEqual(Contents?.map(({ Key }) => Key).sort(), [...keys].sort());
      const put = client.send(new PutObjectCommand({ Bucket, Key: "k".repeat(1025), Body: "x" }));
      assert.equal(await refusal(put), "400 KeyTooLongError");
    },
  },
];

async function filled(client: S3Client, Bucket: string, keys: readonly string[]): Promise<string> {
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
  return Bucket;
}

/** Versions, markers and the null version. */
export const VERSION_CASES: readonly S3Case[] = [
  {
    name: "versions are kept, read and deleted one by one",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "kept" };
      await client.send(new PutObjectCommand({ ...at, Body: "before" }));
      await keepVersions(client, at.Bucket, "Enabled");
      const one = (await client.send(new PutObjectCommand({ ...at, Body: "one" }))).VersionId;
      const two = (await client.send(new PutObjectCommand({ ...at, Body: "two" }))).VersionId;
      assert.ok(one && two && one !== two);
      const read = async (VersionId?: string) =>
        await (await client.send(new GetObjectCommand({ ...at, VersionId }))).Body?.transformToString();
      assert.deepEqual([await read(), await read(one), await read("null")], ["two", "one", "before"]);
      const marker = await client.send(new DeleteObjectCommand(at));
      assert.equal(marker.DeleteMarker, true);
      assert.equal(await refusal(client.send(new GetObjectCommand(at))), "404 NoSuchKey");
      const ofMarker = client.send(new GetObjectCommand({ ...at, VersionId: marker.VersionId }));
      assert.equal(await refusal(ofMarker), "405 MethodNotAllowed");
      assert.deepEqual(await versions(client, at.Bucket), [marker.VersionId, two, one, "null"]);
      await client.send(new DeleteObjectCommand({ ...at, VersionId: marker.VersionId }));
      assert.equal(await read(), "two");
      await client.send(new DeleteObjectCommand({ ...at, VersionId: two }));
      assert.equal(await read(), "one");
      assert.equal(await refusal(client.send(new GetObjectCommand({ ...at, VersionId: two }))), "404 NoSuchVersion");
    },
  },
  {
    name: "while versioning is suspended, writes take the place of the null version",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "suspended" };
      await keepVersions(client, at.Bucket, "Enabled");
      const one = (await client.send(new PutObjectCommand({ ...at, Body: "one" }))).VersionId;
      await keepVersions(client, at.Bucket, "Suspended");
      const again = await client.send(new PutObjectCommand({ ...at, Body: "again" }));
      assert.equal(again.VersionId, undefined);
      await client.send(new PutObjectCommand({ ...at, Body: "and again" }));
      assert.deepEqual(await versions(client, at.Bucket), ["null", one]);
    },
  },
  {
    name: "what is no version id is told from one that is not there",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "k" };
      await keepVersions(client, at.Bucket, "Enabled");
      await client.send(new PutObjectCommand({ ...at, Body: "x" }));
      const read = (VersionId: string) => refusal(client.send(new GetObjectCommand({ ...at, VersionId })));
      assert.equal(await read("not_a_version!"), "400 InvalidArgument");
    },
  },
  {
    name: "listings of versions go on behind both markers",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      await keepVersions(client, Bucket, "Enabled");
      for (const Key of ["a", "a", "b", "c/1", "c/1"]) {
        await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
      }
      const found: string[] = [];
      let markers = {};
      // A server whose markers do not go on must not keep the suite for ever.
      while (found.length <= 5) {
        const page = await client.send(new ListObjectVersionsCommand({ Bucket, MaxKeys: 1, ...markers }));
        found.push(...(page.Versions ?? []).map(({ Key, IsLatest }) => `${Key}${IsLatest ? " latest" : ""}`));
        if (!page.IsTruncated) break;
        markers = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
      }
      assert.deepEqual(found, ["a latest", "a", "b latest", "c/1 latest", "c/1"]);
      const folded = await client.send(new ListObjectVersionsCommand({ Bucket, Delimiter: "/" }));
      assert.deepEqual(folded.CommonPrefixes, [{ Prefix: "c/" }]);
    },
  },
];

async function keepVersions(client: S3Client, Bucket: string, Status: "Enabled" | "Suspended"): Promise<void> {
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
}

/** The ids of all versions and markers, newest first. */
async function versions(client: S3Client, Bucket: string): Promise<(string | undefined)[]> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  const all = [...Versions, ...DeleteMarkers];
  return [...all.filter(({ IsLatest }) => IsLatest), ...all.filter(({ IsLatest }) => !IsLatest)].map((one) =>
    one.VersionId
  );
}
