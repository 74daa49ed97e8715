import {
  AbortMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type UploadPartCommandInput,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { joinedBytes } from "@/lib/std/body_reader.ts";
import { errorOf, eventually } from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { bodyFiles, Bucket, complete, md5, MIB, pattern, read, start, upload } from "./multipart_fixture.ts";
import { checksum } from "@/embedded/tests/store/checksum.ts";

storeTest("multipart: parts are copied out of objects, whole or in ranges", async ({ client }) => {
  const source = pattern(6 * MIB, 9);
  const { ETag } = await client.send(new PutObjectCommand({ Bucket: "letters", Key: "från å+b", Body: source }));
  const id = await start(client, "copied");
  const copy = (PartNumber: number, more: object = {}) =>
    client.send(
      new UploadPartCopyCommand({
        Bucket,
        Key: "copied",
        UploadId: id,
        PartNumber,
        CopySource: `letters/${encodeURIComponent("från å+b")}`,
        ...more,
      }),
    );
  const one = await copy(1);
  assert.equal(one.CopyPartResult?.ETag, `"${md5(source)}"`);
  const two = await copy(2, { CopySourceRange: "bytes=10-99", CopySourceIfMatch: ETag });
  assert.equal(two.CopyPartResult?.ETag, `"${md5(source.subarray(10, 100))}"`);
  const refused: [string, object][] = [
    ["400 InvalidArgument", { CopySourceRange: "bytes=9-5" }],
    ["416 InvalidRange", { CopySourceRange: `bytes=0-${source.length}` }],
    ["412 PreconditionFailed", { CopySourceIfNoneMatch: ETag }],
    ["404 NoSuchBucket", { CopySource: "missing/key" }],
  ];
  for (const [expected, more] of refused) assert.equal(await errorOf(copy(3, more)), expected);
  await complete(client, "copied", id, [
    { PartNumber: 1, ETag: one.CopyPartResult?.ETag },
    { PartNumber: 2, ETag: two.CopyPartResult?.ETag },
  ]);
  assert.equal(md5(await read(client, "copied")), md5(joinedBytes([source, source.subarray(10, 100)])));

  const next = await start(client, "of-parts");
  const range = `bytes=${6 * MIB - 5}-${6 * MIB + 4}`;
  const { CopyPartResult } = await client.send(
    new UploadPartCopyCommand({
      Bucket,
      Key: "of-parts",
      UploadId: next,
      PartNumber: 1,
      CopySource: "/campaigns/copied",
      CopySourceRange: range,
    }),
  );
  assert.equal(CopyPartResult?.ETag, `"${md5(joinedBytes([source.subarray(-5), source.subarray(10, 15)]))}"`);
});

storeTest("multipart: checksums of parts are stored, checked and joined", async ({ client }) => {
  const pieces = [pattern(5 * MIB, 1), pattern(1000, 2)];
  const base64Crc = (bytes: Uint8Array) => checksum("crc32", bytes);
  for (const ChecksumType of ["COMPOSITE", "FULL_OBJECT"] as const) {
    const Key = ChecksumType;
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: "CRC32", ChecksumType }),
    );
    assert.ok(UploadId);
    const wrong = client.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "x", ChecksumCRC32: base64Crc(pieces[0]) }),
    );
    assert.equal(await errorOf(wrong), "400 BadDigest");
    const parts: { PartNumber: number; ETag: string | undefined; ChecksumCRC32: string }[] = [];
    for (const [i, Body] of pieces.entries()) {
      const ChecksumCRC32 = base64Crc(Body);
      const part: UploadPartCommandInput = {
        Bucket,
        Key,
        UploadId,
        PartNumber: i + 1,
        Body,
        ChecksumCRC32: i === 0 ? ChecksumCRC32 : undefined,
      };
      const answer = await client.send(new UploadPartCommand(part));
      assert.equal(answer.ChecksumCRC32, ChecksumCRC32);
      parts.push({ PartNumber: i + 1, ETag: answer.ETag, ChecksumCRC32 });
    }
    const mixed = [parts[0], { ...parts[1], ChecksumCRC32: parts[0].ChecksumCRC32 }];
    assert.equal(await errorOf(complete(client, Key, UploadId, mixed)), "400 InvalidPart");
    const badWhole = complete(client, Key, UploadId, parts, { ChecksumCRC32: parts[0].ChecksumCRC32 });
    assert.equal(await errorOf(badWhole), "400 BadDigest");
    const answer = await complete(client, Key, UploadId, parts);
    const digests = Uint8Array.from(parts.map((part) => atob(part.ChecksumCRC32)).join(""), (c) => c.charCodeAt(0));
    const expected = ChecksumType === "FULL_OBJECT" ? base64Crc(joinedBytes(pieces)) : `${base64Crc(digests)}-2`;
    assert.deepEqual([answer.ChecksumCRC32, answer.ChecksumType], [expected, ChecksumType]);
  }
});

storeTest("multipart: a composite checksum may lack its part count, CRC64NVME is the default", async ({ client }) => {
  const bodies = [pattern(5 * MIB, 1), pattern(5 * MIB, 2), new Uint8Array(3)];
  const send = async (Key: string, create: Partial<CreateMultipartUploadCommandInput>) => {
    const { UploadId = "" } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...create }));
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    for (const [i, body] of bodies.entries()) parts.push(await upload(client, Key, UploadId, i + 1, body));
    return (more: Partial<CompleteMultipartUploadCommandInput> = {}) => complete(client, Key, UploadId, parts, more);
  };
  const digest = createHash("sha256");
  for (const body of bodies) digest.update(createHash("sha256").update(body).digest());
  const composite = digest.digest("base64");
  const completeComposite = await send("composite", { ChecksumAlgorithm: "SHA256" });
  assert.equal(await errorOf(completeComposite({ ChecksumSHA256: `${composite}-2` })), "400 BadDigest");
  assert.equal(await errorOf(completeComposite({ ChecksumSHA256: `${"A".repeat(43)}=` })), "400 BadDigest");
  const typed = { ChecksumType: "composite" as never };
  assert.equal((await completeComposite({ ChecksumSHA256: composite, ...typed })).ChecksumSHA256, `${composite}-3`);

  const ChecksumCRC64NVME = checksum("crc64nvme", joinedBytes(bodies));
  const completeDefault = await send("default", {});
  assert.equal(await errorOf(completeDefault({ ChecksumCRC64NVME: "AAAAAAAAAAA=" })), "400 BadDigest");
  const { ChecksumCRC64NVME: joined, ChecksumType } = await completeDefault({ ChecksumCRC64NVME });
  assert.deepEqual([joined, ChecksumType], [ChecksumCRC64NVME, "FULL_OBJECT"]);
  const copied = { Bucket, Key: "copied", CopySource: `${Bucket}/composite` };
  const { CopyObjectResult } = await client.send(new CopyObjectCommand(copied));
  assert.deepEqual(
    [CopyObjectResult?.ChecksumSHA256, CopyObjectResult?.ChecksumType],
    [checksum("sha256", joinedBytes(bodies)), "FULL_OBJECT"],
  );
});

storeTest("multipart: deleting a bucket ends its uploads, and frees their space", async ({ store, client }) => {
  const files = bodyFiles(store.folder);
  await client.send(new CreateBucketCommand({ Bucket: "fresh" }));
  const at = { Bucket: "fresh", Key: "k" };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: pattern(5 * MIB, 1) }));
  await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 2, Body: "small" }));
  await client.send(new PutObjectCommand({ ...at, Body: "x" }));
  const deletion = () => errorOf(client.send(new DeleteBucketCommand({ Bucket: "fresh" })));
  assert.equal(await deletion(), "409 BucketNotEmpty");
  const { Parts } = await client.send(new ListPartsCommand({ ...at, UploadId }));
  assert.equal(Parts?.length, 2, "a refused deletion ends no upload");
  await client.send(new DeleteObjectCommand(at));
  assert.equal(await deletion(), "ok");
  await client.send(new CreateBucketCommand({ Bucket: "fresh" }));
  const part = client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 3, Body: "late" }));
  assert.equal(await errorOf(part), "404 NoSuchUpload");
  const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: "fresh" }));
  assert.equal(Uploads, undefined);
  await eventually(files.join(), () => Promise.resolve(bodyFiles(store.folder).join()));
});

Deno.test("multipart: uploads expire at the start when their bucket's days are over", async () => {
  const folder = Deno.makeTempDirSync();
  const first = await startStore(folder);
  const client = first.client("archive", "curator");
  const expired: [string, string][] = [];
  for (let i = 0; i < 9; i++) {
    expired.push([`old-${i}`, await start(client, `old-${i}`)]);
    await upload(client, `old-${i}`, expired[i][1], 1, pattern(64 * 1024, i));
  }
  const young = await start(client, "young");
  await client.send(new CreateBucketCommand({ Bucket: "for-ever" }));
  const kept = await client.send(new CreateMultipartUploadCommand({ Bucket: "for-ever", Key: "k" }));
  await first.stop();
  const day = 24 * 60 * 60 * 1000;
  const index = openIndexForWriting(folder);
  index.prepare("UPDATE uploads SET started_ms = started_ms - ?").run(30 * day);
  index.prepare("UPDATE uploads SET started_ms = started_ms + ? WHERE id = ?").run(day, young);
  index.exec(
    "UPDATE buckets SET record = json_set(record, '$.multipartUploadAutoAbortDays', 0) WHERE folded = 'for-ever'",
  );
  index.close();

  await using store = await startStore(folder);
  const later = store.client("archive", "curator");
  const { Uploads } = await later.send(new ListMultipartUploadsCommand({ Bucket }));
  assert.deepEqual(Uploads?.map(({ UploadId }) => UploadId), [young]);
  await later.send(new ListPartsCommand({ Bucket: "for-ever", Key: "k", UploadId: kept.UploadId }));
  const named = openIndexForWriting(folder);
  assert.equal(named.prepare("SELECT count(*) AS n FROM parts").get()?.n, 0);
  named.close();
});

storeTest("multipart: an upload needs the permission to write", async ({ store, client }) => {
  const id = await start(client, "k");
  const reader = store.client("archive", "reader");
  const refused = [
    reader.send(new CreateMultipartUploadCommand({ Bucket, Key: "k" })),
    reader.send(new UploadPartCommand({ Bucket, Key: "k", UploadId: id, PartNumber: 1, Body: "x" })),
    reader.send(new AbortMultipartUploadCommand({ Bucket, Key: "k", UploadId: id })),
  ];
  assert.deepEqual(new Set(await Promise.all(refused.map(errorOf))), new Set(["403 AccessDenied"]));
});
