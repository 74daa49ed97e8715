import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { startStore } from "./store_fixture.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

interface Listed {
  Key?: string;
  ChecksumAlgorithm?: string[];
  ChecksumType?: string;
}

const kinds = (listed: Listed[] = []) =>
  listed.map(({ Key, ChecksumAlgorithm, ChecksumType }) => [Key, ChecksumAlgorithm, ChecksumType]);

Deno.test("listings: name the algorithm and the type of an object's checksum", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const Bucket = "maps";
  const Prefix = "sums/";
  const put = (name: string, further = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key: Prefix + name, Body: "a", ...further }));
  await put("a", { ChecksumAlgorithm: "SHA256" });
  await put("b");
  const at = { Bucket, Key: `${Prefix}c` };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: "CRC32" }));
  const part = { ...at, UploadId, PartNumber: 1, Body: "a", ChecksumAlgorithm: "CRC32" as const };
  const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand(part));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload }));
  const wanted = [
    ["sums/a", ["SHA256"], "FULL_OBJECT"],
    ["sums/b", ["CRC64NVME"], "FULL_OBJECT"],
    ["sums/c", ["CRC32"], "COMPOSITE"],
  ];
  assert.deepEqual(kinds((await client.send(new ListObjectsCommand({ Bucket, Prefix }))).Contents), wanted);
  const folded = new ListObjectsV2Command({ Bucket, Prefix, Delimiter: "/" });
  assert.deepEqual(kinds((await client.send(folded)).Contents), wanted);

  await client.send(new DeleteObjectCommand({ Bucket, Key: "sums/a" }));
  const { Versions, DeleteMarkers } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix }));
  assert.deepEqual(kinds(Versions), wanted);
  assert.deepEqual(DeleteMarkers?.map(({ Key, IsLatest }) => [Key, IsLatest]), [["sums/a", true]]);
});
