import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

storeTest("multi-delete: a thousand keys at once, absent ones included, and not one more", async ({ client }) => {
  const Bucket = "many";
  await client.send(new CreateBucketCommand({ Bucket }));
  const odd = ["a&<b>\"'", "å/ä ö", "tab\tline\nend", "keep"];
  for (const Key of odd) await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
  const Objects = [...odd.slice(0, 3), ...Array.from({ length: 997 }, (_, i) => `absent-${i}`)].map((Key) => ({
    Key,
  }));
  const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  assert.deepEqual(Deleted?.map(({ Key }) => Key), Objects.map(({ Key }) => Key));
  assert.equal(Errors, undefined);
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket }));
  assert.deepEqual(Contents?.map(({ Key }) => Key), ["keep"]);
  const tooMany = { Objects: [...Objects, { Key: "keep" }] };
  assert.equal(
    await storeErrorCode(client.send(new DeleteObjectsCommand({ Bucket, Delete: tooMany }))),
    "MalformedXML",
  );
  // The response could not name a key that XML 1.0 excludes, so none of the request is deleted.
  for (const Key of ["keep\u0001", "keep\uffff"]) {
    const odd = { Bucket, Delete: { Objects: [{ Key: "keep" }, { Key }] } };
    assert.equal(await storeErrorCode(client.send(new DeleteObjectsCommand(odd))), "MalformedXML");
  }
  const none = new DeleteObjectsCommand({ Bucket, Delete: { Objects: [] } });
  assert.equal(await storeErrorCode(client.send(none)), "MalformedXML");
  assert.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 1);
});

storeTest("multi-delete: markers and versions are reported, in quiet responses errors alone", async ({ client }) => {
  const Bucket = "kept";
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
  const put = async (Key: string) =>
    (await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))).VersionId ?? "";
  const [a, b] = [await put("a"), await put("b")];
  const first = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "a" }, { Key: "b", VersionId: b }] } }),
  );
  const marker = first.Deleted?.[0].DeleteMarkerVersionId;
  assert.match(marker ?? "", /^[0-9]+$/);
  assert.deepEqual(first.Deleted, [
    { Key: "a", DeleteMarker: true, DeleteMarkerVersionId: marker },
    { Key: "b", VersionId: b },
  ]);
  const second = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "a", VersionId: marker }] } }),
  );
  assert.deepEqual(second.Deleted, [
    { Key: "a", VersionId: marker, DeleteMarker: true, DeleteMarkerVersionId: marker },
  ]);
  const long = "ö".repeat(600);
  const Objects = [{ Key: "a", VersionId: a }, { Key: long }, { Key: "c" }];
  const quiet = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Quiet: true, Objects } }));
  assert.equal(quiet.Deleted, undefined);
  assert.deepEqual(quiet.Errors?.map(({ Key, Code }) => [Key, Code]), [
    [long, "KeyTooLongError"],
  ]);
  const { Versions, DeleteMarkers } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  assert.deepEqual([Versions, DeleteMarkers?.map(({ Key }) => Key)], [undefined, ["c"]]);
});

storeTest("multi-delete: it needs a right digest, well-formed XML and the permission", async ({ store, client }) => {
  await client.send(new PutObjectCommand({ Bucket: "letters", Key: "safe", Body: "x" }));
  const reader = store.client("archive", "reader");
  const denied = new DeleteObjectsCommand({ Bucket: "campaigns", Delete: { Objects: [{ Key: "a" }] } });
  assert.equal(await storeErrorCode(reader.send(denied)), "AccessDenied");
  const post = async (body: string, headers: Record<string, string>) => {
    const command = new DeleteObjectsCommand({ Bucket: "letters", Delete: { Objects: [] } });
    // Only the host is signed, so that the body and its digest are the test's own.
    const unsigned = new Set(["content-md5", "content-type", "content-length"]);
    command.middlewareStack.add((next) => (args) => {
      const { request } = args;
      if (typeof request === "object" && request && "headers" in request) request.headers = {};
      return next(args);
    }, { step: "build", priority: "low" });
    const url = await getSignedUrl(client, command, { expiresIn: 60, unsignableHeaders: unsigned });
    const response = await fetch(url, { method: "POST", body, headers });
    return `${response.status} ${/<Code>(\w+)/.exec(await response.text())?.[1] ?? ""}`;
  };
  const md5 = (body: string) => ({ "content-md5": createHash("md5").update(body).digest("base64") });
  const whole = "<Delete><Object><Key>safe</Key></Object></Delete>";
  assert.equal(await post(whole, {}), "400 InvalidRequest");
  assert.equal(await post(whole, md5("other")), "400 BadDigest");
  for (const body of ["<Delete><Object>", "", "<Other/>", '<!DOCTYPE a [<!ENTITY x "y">]><Delete/>']) {
    assert.equal(await post(body, md5(body)), "400 MalformedXML");
  }
  const huge = `<Delete>${" ".repeat(3 * 1024 * 1024)}</Delete>`;
  assert.equal(await post(huge, md5(huge)), "400 MalformedXML");
  const keys = async () =>
    (await client.send(new ListObjectsV2Command({ Bucket: "letters", Prefix: "safe" }))).KeyCount;
  assert.equal(await keys(), 1);
  assert.equal(await post(whole, md5(whole)), "200 ");
  assert.equal(await keys(), 0);
});
