import {
  CopyObjectCommand,
  type CopyObjectCommandInput,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { type GivenStore, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const KEY = "mapp/å+b? 1%.txt";
const SOURCE = `letters/${encodeURIComponent(KEY)}`;

async function copiesOf({ store, client }: GivenStore) {
  const body = new Uint8Array(100_000).map((_, i) => i % 253);
  await client.send(
    new PutObjectCommand({
      Bucket: "letters",
      Key: KEY,
      Body: body,
      ContentType: "image/jp2",
      CacheControl: "no-cache",
      Metadata: { volume: "A1" },
      Tagging: "kind=letter",
    }),
  );
  await client.send(new CreateBucketCommand({ Bucket: "copies" }));
  const copy = (input: Partial<CopyObjectCommandInput>) =>
    client.send(new CopyObjectCommand({ Bucket: "copies", Key: "copy", CopySource: SOURCE, ...input }));
  const head = () => client.send(new HeadObjectCommand({ Bucket: "copies", Key: "copy" }));
  const tags = async () => (await client.send(new GetObjectTaggingCommand({ Bucket: "copies", Key: "copy" }))).TagSet;
  return { store, client, body, copy, head, tags };
}

storeTest("embedded S3 copy: bytes, metadata and tags are copied, or replaced on request", async (given) => {
  const at = await copiesOf(given);
  const { CopyObjectResult } = await at.copy({});
  const copied = await at.client.send(new GetObjectCommand({ Bucket: "copies", Key: "copy" }));
  assert.deepEqual(await copied.Body?.transformToByteArray(), at.body);
  assert.equal(copied.ETag, CopyObjectResult?.ETag);
  assert.deepEqual([copied.ContentType, copied.CacheControl, copied.TagCount], ["image/jp2", "no-cache", 1]);
  assert.deepEqual(await at.tags(), [{ Key: "kind", Value: "letter" }]);

  await at.copy({ MetadataDirective: "REPLACE", ContentType: "text/x", Metadata: { other: "1" }, Tagging: "a=b" });
  const replaced = await at.head();
  assert.deepEqual([replaced.ContentType, replaced.CacheControl], ["text/x", undefined]);
  assert.deepEqual(replaced.Metadata, { other: "1" });
  assert.deepEqual(await at.tags(), [{ Key: "kind", Value: "letter" }]);

  await at.copy({ TaggingDirective: "REPLACE", Tagging: "new=tag&empty" });
  assert.deepEqual(await at.tags(), [{ Key: "new", Value: "tag" }, { Key: "empty", Value: "" }]);
  assert.equal((await at.head()).ContentType, "image/jp2");
});

storeTest("embedded S3 copy: conditions of the source and of the target decide", async (given) => {
  const at = await copiesOf(given);
  const { ETag, LastModified } = await at.client.send(new HeadObjectCommand({ Bucket: "letters", Key: KEY }));
  const past = new Date((LastModified?.getTime() ?? 0) - 60_000);
  const failing: Partial<CopyObjectCommandInput>[] = [
    { CopySourceIfUnmodifiedSince: past },
    { CopySourceIfModifiedSince: LastModified },
    { CopySourceIfNoneMatch: ETag, CopySourceIfModifiedSince: past },
  ];
  for (const condition of failing) assert.equal(await storeErrorCode(at.copy(condition)), "PreconditionFailed");
  assert.equal(await storeErrorCode(at.head()), "NotFound");
  await at.copy({ CopySourceIfMatch: ETag, CopySourceIfUnmodifiedSince: past, IfNoneMatch: "*" });
  assert.equal(await storeErrorCode(at.copy({ IfNoneMatch: "*" })), "PreconditionFailed");
  await at.copy({ CopySourceIfModifiedSince: past, IfMatch: ETag });
});

storeTest("embedded S3 copy: a version may be the source, a marker may not", async (given) => {
  const at = await copiesOf(given);
  const put = async (Body: string) =>
    (await at.client.send(new PutObjectCommand({ Bucket: "maps", Key: "v", Body }))).VersionId;
  const first = await put("first");
  await put("second");
  const answer = await at.copy({ CopySource: `maps/v?versionId=${first}` });
  assert.equal(answer.CopySourceVersionId, first);
  const read = async (Bucket: string, Key: string) =>
    await (await at.client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
  assert.equal(await read("copies", "copy"), "first");
  const restored = await at.copy({ Bucket: "maps", Key: "v", CopySource: `maps/v?versionId=${first}` });
  assert.ok(Number(restored.VersionId) > Number(first));
  assert.equal(await read("maps", "v"), "first");
  const { VersionId } = await at.client.send(new DeleteObjectCommand({ Bucket: "maps", Key: "v" }));
  assert.equal(await storeErrorCode(at.copy({ CopySource: "maps/v" })), "NoSuchKey");
  assert.equal(await storeErrorCode(at.copy({ CopySource: `maps/v?versionId=${VersionId}` })), "InvalidRequest");
  assert.equal(await storeErrorCode(at.copy({ CopySource: "maps/v?versionId=77" })), "NoSuchVersion");
});

storeTest("embedded S3 copy: both ends need permission, and an unreadable source is named", async (given) => {
  const at = await copiesOf(given);
  const reader = at.store.client("archive", "reader");
  const from = new CopyObjectCommand({ Bucket: "campaigns", Key: "x", CopySource: SOURCE });
  assert.equal(await storeErrorCode(reader.send(from)), "AccessDenied");
  assert.equal(await storeErrorCode(at.copy({ CopySource: "no-bucket/x" })), "NoSuchBucket");
  assert.equal(await storeErrorCode(at.copy({ ServerSideEncryption: "AES256" })), "NotImplemented");
  assert.equal(await storeErrorCode(at.head()), "NotFound");
});
