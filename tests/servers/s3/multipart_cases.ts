import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { refusal, type S3Case } from "./contract_server.ts";

const PART_BYTES = 5 * 1024 * 1024;

interface Place {
  Bucket: string;
  Key: string;
}

/** Uploads in parts. */
export const MULTIPART_CASES: readonly S3Case[] = [
  {
    name: "parts in any order become one object, with its metadata and tags",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "delar/stor fil.bin" };
      const parts = [Buffer.alloc(PART_BYTES, "a"), Buffer.alloc(PART_BYTES, "b"), Buffer.from("end")];
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ ...at, Metadata: { a: "1" }, ContentType: "image/jp2", Tagging: "a=b" }),
      );
      const sent: CompletedPart[] = [];
      for (const number of [3, 1, 2]) sent.unshift(await upload(client, at, UploadId, number, parts[number - 1]));
      sent.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
      const listed = await client.send(new ListPartsCommand({ ...at, UploadId, MaxParts: 2 }));
      assert.deepEqual(listed.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size]), [[1, PART_BYTES], [
        2,
        PART_BYTES,
      ]]);
      assert.deepEqual([listed.IsTruncated, listed.NextPartNumberMarker], [true, "2"]);
      const done = await complete(client, at, UploadId, sent);
      assert.match(done.ETag ?? "", /^"[0-9a-f]{32}-3"$/);
      const { Body, Metadata, ContentType } = await client.send(new GetObjectCommand(at));
      assert.ok(Buffer.concat(parts).equals(await Body?.transformToByteArray() ?? new Uint8Array()));
      assert.deepEqual([Metadata, ContentType], [{ a: "1" }, "image/jp2"]);
      const { TagSet } = await client.send(new GetObjectTaggingCommand(at));
      assert.deepEqual(TagSet, [{ Key: "a", Value: "b" }]);
      const across = await client.send(
        new GetObjectCommand({ ...at, Range: `bytes=${PART_BYTES - 2}-${PART_BYTES + 1}` }),
      );
      assert.equal(await across.Body?.transformToString(), "aabb");
    },
  },
  {
    name: "a complete is refused for small parts, unknown parts and parts out of order",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "refused" };
      const UploadId = await begin(client, at);
      const one = await upload(client, at, UploadId, 1, "small");
      const two = await upload(client, at, UploadId, 2, "small, too");
      const outcome = (parts: CompletedPart[]) => refusal(complete(client, at, UploadId, parts));
      assert.equal(await outcome([one, two]), "400 EntityTooSmall");
      assert.equal(await outcome([two, one]), "400 InvalidPartOrder");
      assert.equal(await outcome([one, { ...two, PartNumber: 3 }]), "400 InvalidPart");
      assert.equal(await outcome([{ ...one, ETag: '"00000000000000000000000000000000"' }]), "400 InvalidPart");
      assert.equal(await refusal(client.send(new HeadObjectCommand(at))), "404 NotFound");
      assert.equal(await outcome([one]), "no refusal");
    },
  },
  {
    name: "uploads under way are listed by prefix and ended by an abort",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      const UploadId = await begin(client, { Bucket, Key: "a/1" });
      await begin(client, { Bucket, Key: "b/2" });
      const keys = async (given: object) =>
        (await client.send(new ListMultipartUploadsCommand({ Bucket, ...given }))).Uploads?.map(({ Key }) => Key);
      assert.deepEqual(await keys({}), ["a/1", "b/2"]);
      assert.deepEqual(await keys({ Prefix: "a/" }), ["a/1"]);
      assert.deepEqual(await keys({ KeyMarker: "a/1" }), ["b/2"]);
      const abort = () => client.send(new AbortMultipartUploadCommand({ Bucket, Key: "a/1", UploadId }));
      await abort();
      assert.deepEqual(await keys({}), ["b/2"]);
      const part = upload(client, { Bucket, Key: "a/1" }, UploadId, 1, "late");
      assert.equal(await refusal(part), "404 NoSuchUpload");
    },
  },
  {
    name: "parts are copied from ranges of an object",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      await client.send(new PutObjectCommand({ Bucket, Key: "källa", Body: "0123456789" }));
      const at = { Bucket, Key: "copied" };
      const UploadId = await begin(client, at);
      const copy = (PartNumber: number, CopySourceRange?: string) =>
        client.send(
          new UploadPartCopyCommand({
            ...at,
            UploadId,
            PartNumber,
            CopySourceRange,
            CopySource: `${Bucket}/k%C3%A4lla`,
          }),
        );
      const { CopyPartResult } = await copy(1, "bytes=2-5");
      assert.match(await refusal(copy(2, "bytes=2-")), /^400 InvalidArgument/);
      assert.match(await refusal(copy(2, "bytes=2-50")), /^4\d\d Invalid/);
      await complete(client, at, UploadId, [{ ...CopyPartResult, PartNumber: 1 }]);
      assert.equal(await (await client.send(new GetObjectCommand(at))).Body?.transformToString(), "2345");
    },
  },
  {
    name: "a part with another checksum than its upload's is refused",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "checked" };
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: "SHA256" }));
      const part = (ChecksumAlgorithm: "SHA256" | "CRC32") =>
        client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: "x", ChecksumAlgorithm }));
      assert.equal(await refusal(part("CRC32")), "400 InvalidRequest");
      const { ETag, ChecksumSHA256 } = await part("SHA256");
      const done = await complete(client, at, UploadId, [{ ETag, ChecksumSHA256, PartNumber: 1 }]);
      assert.match(done.ChecksumSHA256 ?? "", /^[A-Za-z0-9+/]{43}=-1$/);
    },
  },
];

async function begin(client: S3Client, at: Place): Promise<string> {
  return (await client.send(new CreateMultipartUploadCommand(at))).UploadId ?? "";
}

/** Sends a part; gives it as a complete names it. */
async function upload(
  client: S3Client,
  at: Place,
  UploadId: string | undefined,
  PartNumber: number,
  Body: Buffer | string,
): Promise<CompletedPart> {
  const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
  return { ETag, ChecksumCRC32, PartNumber };
}

function complete(client: S3Client, at: Place, UploadId: string | undefined, Parts: CompletedPart[]) {
  return client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
}
