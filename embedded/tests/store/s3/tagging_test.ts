import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutBucketAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { anonymous, clientOf, makeUser, statusOf } from "@/embedded/tests/store/acl_fixture.ts";
import { type GivenStore, startStore, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

function taggedOf({ store, client }: GivenStore) {
  const at = { Bucket: "maps", Key: "tagged" };
  const put = async (Tagging?: string) =>
    (await client.send(new PutObjectCommand({ ...at, Body: "x", Tagging }))).VersionId;
  const tag = (TagSet: { Key: string; Value: string }[], VersionId?: string) =>
    client.send(new PutObjectTaggingCommand({ ...at, VersionId, Tagging: { TagSet } }));
  const tags = async (VersionId?: string) =>
    ((await client.send(new GetObjectTaggingCommand({ ...at, VersionId }))).TagSet ?? [])
      .map(({ Key, Value }) => `${Key}=${Value}`);
  return { store, client, at, put, tag, tags };
}

storeTest("embedded S3 tagging: tags are set with the object or after it, per version, and deleted", async (given) => {
  const { client, at, put, tag, tags } = taggedOf(given);
  const first = await put("kind=blad+1&l%C3%A4n=Sk%C3%A5ne");
  assert.deepEqual(await tags(), ["kind=blad 1", "län=Skåne"]);
  assert.equal((await client.send(new HeadObjectCommand(at))).TagCount, 2);
  assert.deepEqual([await put("a=1&") && await tags(), await put("&&a=1&&b=&") && await tags()], [["a=1"], [
    "a=1",
    "b=",
  ]]);
  const second = await put();
  assert.deepEqual(await tags(), []);
  assert.equal((await client.send(new HeadObjectCommand(at))).TagCount, undefined);
  assert.equal((await tag([{ Key: "a", Value: "" }])).VersionId, second);
  assert.equal((await tag([{ Key: "old", Value: "1" }], first)).VersionId, first);
  assert.deepEqual([await tags(), await tags(second), await tags(first)], [["a="], ["a="], ["old=1"]]);
  await client.send(new DeleteObjectTaggingCommand({ ...at, VersionId: first }));
  assert.deepEqual([await tags(), await tags(first)], [["a="], []]);
  await client.send(new DeleteObjectTaggingCommand(at));
  assert.deepEqual(await tags(), []);
});

storeTest("embedded S3 tagging: absent objects and markers have no tags to set", async (given) => {
  const { client, at, put, tag, tags } = taggedOf(given);
  assert.equal(await storeErrorCode(tag([])), "NoSuchKey");
  assert.equal(await storeErrorCode(tags()), "NoSuchKey");
  const version = await put();
  assert.equal(await storeErrorCode(tag([], "77")), "NoSuchVersion");
  const { VersionId } = await client.send(new DeleteObjectCommand(at));
  assert.equal(await storeErrorCode(tag([])), "NoSuchKey");
  assert.equal(await storeErrorCode(tag([], VersionId)), "MethodNotAllowed");
  await tag([{ Key: "still", Value: "here" }], version);
  assert.deepEqual(await tags(version), ["still=here"]);
});

storeTest("embedded S3 tagging: the limits of S3 hold on both ways, and readers may not tag", async (given) => {
  const { store, client, put, tag, tags } = taggedOf(given);
  const most = Array.from({ length: 10 }, (_, i) => ({ Key: `${i}${"ö".repeat(127)}`, Value: "v".repeat(256) }));
  await put();
  await tag(most);
  assert.equal((await tags()).length, 10);
  const refused = [
    [...most, { Key: "x", Value: "" }],
    [{ Key: "k".repeat(129), Value: "" }],
    [{ Key: "k", Value: "v".repeat(257) }],
    [{ Key: "k", Value: "1" }, { Key: "k", Value: "2" }],
    [{ Key: "", Value: "1" }],
    [{ Key: "aws:k", Value: "1" }],
    [{ Key: "k", Value: "<>" }],
  ];
  for (const tagSet of refused) {
    assert.equal(await storeErrorCode(tag(tagSet)), "InvalidTag");
    const header = new URLSearchParams(tagSet.map(({ Key, Value }) => [Key, Value])).toString();
    assert.equal(await storeErrorCode(put(header)), "InvalidTag");
  }
  assert.equal((await tags()).length, 10);
  assert.equal(await storeErrorCode(put("a=%zz")), "InvalidArgument");
  const upload = new CreateMultipartUploadCommand({ Bucket: "maps", Key: "k", Tagging: "aws:k=v" });
  assert.equal(await storeErrorCode(client.send(upload)), "InvalidTag");
  await client.send(new PutObjectCommand({ Bucket: "campaigns", Key: "c", Body: "x" }));
  const reader = store.client("archive", "reader");
  const at = { Bucket: "campaigns", Key: "c" };
  assert.equal(
    await storeErrorCode(reader.send(new PutObjectTaggingCommand({ ...at, Tagging: { TagSet: [] } }))),
    "AccessDenied",
  );
  assert.equal(await storeErrorCode(reader.send(new DeleteObjectTaggingCommand(at))), "AccessDenied");
  assert.deepEqual((await reader.send(new GetObjectTaggingCommand(at))).TagSet, []);
});

Deno.test("embedded S3 tagging: tags that were set are there after a restart, of old versions too", async () => {
  const store = await startStore();
  const { put, tag } = taggedOf({ store, client: store.client("archive", "curator") });
  const first = await put("a=1");
  await put();
  await tag([{ Key: "old", Value: "2" }], first);
  await tag([{ Key: "new", Value: "3" }]);
  await store.stop();
  await using again = await startStore(store.folder);
  const client = again.client("archive", "curator");
  const tags = async (VersionId?: string) =>
    (await client.send(new GetObjectTaggingCommand({ Bucket: "maps", Key: "tagged", VersionId }))).TagSet;
  assert.deepEqual(await tags(), [{ Key: "new", Value: "3" }]);
  assert.deepEqual(await tags(first), [{ Key: "old", Value: "2" }]);
});

storeTest("tags: grants to read and write do not allow reading or setting them", async ({ store }) => {
  await makeUser(store, "anna", { allowNamespaceManagement: true });
  const [curator, anna] = [clientOf(store, "curator"), clientOf(store, "anna")];
  await curator.send(new PutBucketAclCommand({ Bucket: "letters", ACL: "public-read-write" }));
  await anna.send(new CreateBucketCommand({ Bucket: "annas" }));
  const tagged = { Bucket: "letters", Key: "tagged", Body: "a", Tagging: "colour=red" };
  const open = { ...tagged, ACL: "public-read" as const };

  assert.equal(await statusOf(anna.send(new PutObjectCommand(tagged))), 403);
  assert.equal(await statusOf(anna.send(new PutObjectCommand({ ...tagged, Tagging: undefined }))), 200);
  assert.equal((await anonymous(store, "PUT", "/letters/t", { headers: { "x-amz-tagging": "a=b" } })).status, 403);
  assert.equal((await anonymous(store, "PUT", "/letters/t")).status, 200);
  const upload = { Bucket: "letters", Key: "parts", Tagging: "colour=red" };
  assert.equal(await statusOf(anna.send(new CreateMultipartUploadCommand(upload))), 403);
  assert.equal(await statusOf(anna.send(new CreateMultipartUploadCommand({ ...upload, Tagging: undefined }))), 200);

  assert.equal(await statusOf(curator.send(new PutObjectCommand(open))), 200);
  const copy = { Bucket: "annas", Key: "copy", CopySource: "letters/tagged" };
  assert.equal(await statusOf(anna.send(new CopyObjectCommand(copy))), 403, "the copy would show the tags");
  const own = { ...copy, TaggingDirective: "REPLACE" as const, Tagging: "mine=yes" };
  assert.equal(await statusOf(anna.send(new CopyObjectCommand(own))), 200);
  const { TagSet } = await anna.send(new GetObjectTaggingCommand({ Bucket: "annas", Key: "copy" }));
  assert.deepEqual(TagSet, [{ Key: "mine", Value: "yes" }]);
  const back = { Bucket: "letters", Key: "back", CopySource: "annas/copy" };
  assert.equal(await statusOf(anna.send(new CopyObjectCommand(back))), 403, "tags of her own, in another's bucket");
  assert.equal(await statusOf(curator.send(new CopyObjectCommand({ ...copy, Bucket: "letters", Key: "again" }))), 200);
});
