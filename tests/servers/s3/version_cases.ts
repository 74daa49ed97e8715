import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { refusal } from "./contract_server.ts";
import type { ContractCase } from "./case.ts";

/** Versions, markers and the null version. */
export const VERSION_CASES: readonly ContractCase[] = [
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
