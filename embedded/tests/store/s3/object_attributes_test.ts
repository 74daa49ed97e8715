import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAttributesCommand,
  type GetObjectAttributesCommandInput,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { errorOf } from "@/embedded/tests/store/mapi_fixture.ts";
import { type GivenStore, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { Bucket, complete, md5, MIB, pattern, start, upload, uploadInParts } from "./multipart_fixture.ts";

const ALL: GetObjectAttributesCommandInput["ObjectAttributes"] = [
  "ETag",
  "Checksum",
  "ObjectParts",
  "StorageClass",
  "ObjectSize",
];

function attributesOf({ store, client }: GivenStore) {
  const attributes = async (Key: string, more: Partial<GetObjectAttributesCommandInput> = {}) => {
    const { $metadata: _, ...answer } = await client.send(
      new GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes: ALL, ...more }),
    );
    return answer;
  };
  return { store, client, attributes };
}

storeTest("embedded S3 attributes: of a plain object, the requested ones that it has", async (given) => {
  const { store, client, attributes } = attributesOf(given);
  await client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "hello" }));
  const { LastModified, ...plain } = await attributes("k");
  const Checksum = { ChecksumCRC64NVME: "M3eFcAZSQlc=", ChecksumType: "FULL_OBJECT" };
  assert.deepEqual(plain, { ETag: md5("hello"), Checksum, StorageClass: "STANDARD", ObjectSize: 5 });
  assert.deepEqual(LastModified, (await client.send(new HeadObjectCommand({ Bucket, Key: "k" }))).LastModified);
  const { LastModified: _, ...one } = await attributes("k", { ObjectAttributes: ["ObjectSize"] });
  assert.deepEqual(one, { ObjectSize: 5 });
  await client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "hello", ChecksumAlgorithm: "CRC32" }));
  assert.deepEqual((await attributes("k")).Checksum, { ChecksumCRC32: "NhCmhg==", ChecksumType: "FULL_OBJECT" });
  assert.equal(await errorOf(attributes("absent")), "404 NoSuchKey");
  assert.equal(await errorOf(attributes("k", { ObjectAttributes: [] })), "400 InvalidArgument");
  const unknown = client.send(
    new GetObjectAttributesCommand({ Bucket, Key: "k", ObjectAttributes: ["ETag", JSON.parse('"toString"')] }),
  );
  assert.equal(await errorOf(unknown), "400 InvalidArgument");
  const stranger = store.client("research", "researcher");
  const at = { Bucket, Key: "k", ObjectAttributes: ALL };
  assert.equal(await errorOf(stranger.send(new GetObjectAttributesCommand(at))), "404 NoSuchBucket");
});

storeTest("embedded S3 attributes: five storage classes are labels, which a copy does not inherit", async (given) => {
  const { client, attributes } = attributesOf(given);
  const classOf = async (Key: string) => {
    const { StorageClass } = await attributes(Key);
    const listed = (await client.send(new ListObjectsV2Command({ Bucket, Prefix: Key }))).Contents?.[0];
    const version = (await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key }))).Versions?.[0];
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    assert.deepEqual(
      [listed?.StorageClass, version?.StorageClass, head.StorageClass ?? "STANDARD"],
      [StorageClass, StorageClass, StorageClass],
    );
    return StorageClass;
  };
  const classes = [
    "STANDARD_IA",
    "ONEZONE_IA",
    "INTELLIGENT_TIERING",
    "GLACIER_IR",
    "REDUCED_REDUNDANCY",
    "STANDARD",
  ] as const;
  for (const StorageClass of classes) {
    await client.send(new PutObjectCommand({ Bucket, Key: "c", Body: "x", StorageClass, Metadata: { a: "b" } }));
    assert.equal(await classOf("c"), StorageClass);
    const CopySource = `${Bucket}/c`;
    await client.send(new CopyObjectCommand({ Bucket, Key: "d", CopySource }));
    assert.equal(await classOf("d"), "STANDARD");
    await client.send(new CopyObjectCommand({ Bucket, Key: "c", CopySource, StorageClass: "ONEZONE_IA" }));
    assert.equal(await classOf("c"), "ONEZONE_IA");
    assert.deepEqual((await client.send(new HeadObjectCommand({ Bucket, Key: "c" }))).Metadata, { a: "b" });
  }
  const at = { Bucket, Key: "p" };
  const { UploadId = "" } = await client.send(
    new CreateMultipartUploadCommand({ ...at, StorageClass: "GLACIER_IR" }),
  );
  const parts = [await upload(client, "p", UploadId, 1, "one")];
  assert.equal((await client.send(new ListPartsCommand({ ...at, UploadId }))).StorageClass, "GLACIER_IR");
  assert.equal(
    (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.[0].StorageClass,
    "GLACIER_IR",
  );
  await complete(client, "p", UploadId, parts);
  assert.equal(await classOf("p"), "GLACIER_IR");
});

storeTest("embedded S3 attributes: versions are named, and a marker has none", async (given) => {
  const { client, attributes } = attributesOf(given);
  const at = { Bucket: "maps", Key: "v" };
  const { VersionId: first } = await client.send(new PutObjectCommand({ ...at, Body: "1" }));
  const { VersionId: second } = await client.send(new PutObjectCommand({ ...at, Body: "22" }));
  const of = async (VersionId?: string) => {
    const answer = await attributes("v", { Bucket: "maps", VersionId });
    return [answer.VersionId, answer.ObjectSize];
  };
  assert.deepEqual([await of(), await of(first)], [[second, 2], [first, 1]]);
  const { VersionId: marker } = await client.send(new DeleteObjectCommand(at));
  assert.equal(await errorOf(of()), "404 NoSuchKey");
  assert.equal(await errorOf(of(marker)), "405 MethodNotAllowed");
});

storeTest("embedded S3 attributes: parts are shown and paged, with checksums where they have some", async (given) => {
  const { client, attributes } = attributesOf(given);
  const id = await start(client, "counted");
  await complete(client, "counted", id, [await upload(client, "counted", id, 1, "one")]);
  const plain = (await attributes("counted")).ObjectParts;
  assert.deepEqual([plain?.TotalPartsCount, plain?.Parts], [1, [{
    PartNumber: 1,
    Size: 3,
    ChecksumCRC64NVME: "sUmeCqrLO7M=",
  }]]);

  const at = { Bucket, Key: "summed" };
  const pieces = [pattern(5 * MIB, 1), pattern(5 * MIB, 2), "end"];
  const { Parts, ...whole } = await uploadInParts(client, at, pieces, { ChecksumAlgorithm: "SHA256" });
  const { Checksum, ObjectParts, ETag } = await attributes("summed");
  assert.deepEqual(Checksum, {
    ChecksumSHA256: whole.ChecksumSHA256?.replace(/-3$/, ""),
    ChecksumType: "COMPOSITE",
  });
  assert.equal(`"${ETag}"`, whole.ETag);
  const shown = Parts.map(({ PartNumber, ChecksumSHA256 }, i) => {
    return { ChecksumSHA256, PartNumber, Size: pieces[i].length };
  });
  assert.deepEqual(ObjectParts?.Parts, shown);
  assert.deepEqual([ObjectParts?.TotalPartsCount, ObjectParts?.IsTruncated, ObjectParts?.MaxParts], [3, false, 1000]);
  const first = (await attributes("summed", { MaxParts: 2 })).ObjectParts;
  assert.deepEqual(first?.Parts?.map((part) => part.PartNumber), [1, 2]);
  assert.deepEqual([first?.IsTruncated, first?.NextPartNumberMarker, first?.PartNumberMarker], [true, "2", "0"]);
  const second = (await attributes("summed", { MaxParts: 2, PartNumberMarker: "2" })).ObjectParts;
  assert.deepEqual(second?.Parts?.map((part) => part.PartNumber), [3]);
  assert.deepEqual([second?.IsTruncated, second?.NextPartNumberMarker], [false, "3"]);
  const none = (await attributes("summed", { MaxParts: 0 })).ObjectParts;
  assert.deepEqual([none?.Parts, none?.IsTruncated, none?.TotalPartsCount], [undefined, false, 3]);
  assert.equal(await errorOf(attributes("summed", { PartNumberMarker: "x" })), "400 InvalidArgument");
  for (const MaxParts of [-1, 1e12, JSON.parse('"x"'), JSON.parse('" "')]) {
    assert.equal((await attributes("summed", { MaxParts })).ObjectParts?.Parts?.length, 3, `${MaxParts}`);
  }
});
