import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectTaggingCommand,
  PutBucketAclCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { anonymous, clientOf, makeUser, statusOf } from "./acl_fixture.ts";
import { storeTest } from "./store_fixture.ts";

storeTest("tags: an access list that lets read and write does not let read or set them", async ({ store }) => {
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
