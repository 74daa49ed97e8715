import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { errorOf } from "@/embedded/tests/store/mapi_fixture.ts";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { Bucket, complete, MIB, pattern, start, upload, uploadInParts } from "./multipart_fixture.ts";

storeTest("embedded S3 part numbers: a part is read by its number, counted in order", async ({ client }) => {
  const pieces = [pattern(5 * MIB, 1), pattern(5 * MIB + 7, 2), pattern(10, 3)];
  const id = await start(client, "k");
  const parts = [];
  for (const [i, number] of [2, 5, 9].entries()) parts.push(await upload(client, "k", id, number, pieces[i]));
  const { ETag } = await complete(client, "k", id, parts);
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  let first = 0;
  for (const [i, piece] of pieces.entries()) {
    const at = { Bucket, Key: "k", PartNumber: i + 1 };
    const range = `bytes ${first}-${first + piece.length - 1}/${size}`;
    for (const command of [new GetObjectCommand(at), new HeadObjectCommand(at)]) {
      const answer = await (command instanceof GetObjectCommand ? client.send(command) : client.send(command));
      assert.equal(answer.$metadata.httpStatusCode, 206);
      assert.deepEqual([answer.ContentRange, answer.PartsCount, answer.ETag], [range, 3, ETag]);
      assert.equal(answer.ContentLength, piece.length);
      if (!("Body" in answer)) continue;
      const body = await answer.Body?.transformToByteArray() ?? new Uint8Array();
      assert.equal(Buffer.compare(body, piece), 0);
    }
    first += piece.length;
  }
  const get = (more: object) => errorOf(client.send(new GetObjectCommand({ Bucket, Key: "k", ...more })));
  assert.equal(await get({ PartNumber: 4 }), "416 InvalidPartNumber");
  assert.equal(await get({ PartNumber: 10_000 }), "416 InvalidPartNumber");
  for (const PartNumber of [0, 10_001, -1, 1.5]) assert.equal(await get({ PartNumber }), "400 InvalidArgument");
  assert.equal(await get({ PartNumber: 1, Range: "bytes=0-1" }), "400 InvalidRequest");
  assert.equal(await get({ PartNumber: 1, IfNoneMatch: ETag }), "304 Unknown");
  const head = client.send(new HeadObjectCommand({ Bucket, Key: "k", PartNumber: 4 })).catch((error) => error);
  assert.equal((await head).$metadata.httpStatusCode, 416);
  const whole = await client.send(new HeadObjectCommand({ Bucket, Key: "k" }));
  assert.deepEqual([whole.$metadata.httpStatusCode, whole.PartsCount, whole.ContentRange], [200, undefined, undefined]);
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: "k", PartNumber: 3 }));
  assert.deepEqual(new Uint8Array(await (await fetch(url)).arrayBuffer()), pieces[2]);
});

storeTest("embedded S3 part numbers: an object that has no parts is its own first one", async ({ client }) => {
  for (const Body of ["whole", "large".repeat(10_000)]) {
    await client.send(new PutObjectCommand({ Bucket, Key: "plain", Body }));
    const answer = await client.send(new GetObjectCommand({ Bucket, Key: "plain", PartNumber: 1 }));
    assert.equal(answer.$metadata.httpStatusCode, 206);
    assert.deepEqual(
      [answer.ContentRange, answer.PartsCount, await answer.Body?.transformToString()],
      [`bytes 0-${Body.length - 1}/${Body.length}`, undefined, Body],
    );
    const second = client.send(new GetObjectCommand({ Bucket, Key: "plain", PartNumber: 2 }));
    assert.equal(await errorOf(second), "416 InvalidPartNumber");
  }
  await client.send(new PutObjectCommand({ Bucket, Key: "empty", Body: new Uint8Array() }));
  const empty = await client.send(new GetObjectCommand({ Bucket, Key: "empty", PartNumber: 1 }));
  assert.deepEqual([empty.ContentLength, empty.ContentRange], [0, undefined]);
  assert.equal(await empty.Body?.transformToString(), "");
});

storeTest("embedded S3 part numbers: with the checksum mode, the checksum is that of the part", async ({ client }) => {
  const pieces = [pattern(5 * MIB, 1), pattern(9, 2)];
  for (const ChecksumType of ["COMPOSITE", "FULL_OBJECT"] as const) {
    const at = { Bucket, Key: `summed-${ChecksumType}` };
    const checksum = { ChecksumAlgorithm: "CRC32C", ChecksumType } as const;
    const { ChecksumCRC32C: whole, Parts } = await uploadInParts(client, at, pieces, checksum);
    for (const { PartNumber = 0, ChecksumCRC32C } of Parts) {
      const part = { ...at, PartNumber };
      const head = await client.send(new HeadObjectCommand({ ...part, ChecksumMode: "ENABLED" }));
      const got = await client.send(new GetObjectCommand({ ...part, ChecksumMode: "ENABLED" }));
      assert.equal((await got.Body?.transformToByteArray())?.length, pieces[PartNumber - 1].length);
      for (const answer of [head, got]) {
        assert.deepEqual([answer.ChecksumCRC32C, answer.ChecksumType], [ChecksumCRC32C, ChecksumType]);
      }
      assert.equal((await client.send(new HeadObjectCommand(part))).ChecksumCRC32C, undefined);
    }
    const read = await client.send(new HeadObjectCommand({ ...at, ChecksumMode: "ENABLED" }));
    assert.equal(read.ChecksumCRC32C, whole);
    const range = await client.send(new GetObjectCommand({ ...at, Range: "bytes=0-1", ChecksumMode: "ENABLED" }));
    assert.equal((await range.Body?.transformToByteArray())?.length, 2);
    assert.equal(range.ChecksumCRC32C, undefined, "a range is neither the object nor a part");
  }
  await client.send(new PutObjectCommand({ Bucket, Key: "one", Body: "x", ChecksumAlgorithm: "SHA1" }));
  const only = await client.send(
    new GetObjectCommand({ Bucket, Key: "one", PartNumber: 1, ChecksumMode: "ENABLED" }),
  );
  assert.equal(await only.Body?.transformToString(), "x");
  const plain = await client.send(new HeadObjectCommand({ Bucket, Key: "one", ChecksumMode: "ENABLED" }));
  assert.deepEqual([only.ChecksumSHA1, only.ChecksumType], [plain.ChecksumSHA1, plain.ChecksumType]);
});
