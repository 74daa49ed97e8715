import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { joinedBytes } from "@/lib/std/body_reader.ts";
import { errorOf } from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import {
  bodyFiles,
  Bucket,
  complete,
  md5,
  MIB,
  type Parts,
  pattern,
  read,
  start,
  upload,
  uploadInParts,
} from "./multipart_fixture.ts";

storeTest("multipart: an ETag is the MD5 of the parts' MD5s, and a complete can be repeated", async ({ client }) => {
  const Key = "big/map å.tif";
  const pieces = [pattern(5 * MIB, 1), pattern(6 * MIB + 3, 2), pattern(100, 3)];
  const { again, Parts, ...answer } = await uploadInParts(client, { Bucket, Key }, pieces);
  const digests = Uint8Array.fromHex(pieces.map((piece) => md5(piece)).join(""));
  assert.equal(answer.ETag, `"${md5(digests)}-3"`);
  const whole = joinedBytes(pieces);
  const second = pieces[0].length + pieces[1].length;
  for (const [from, to] of [[10, second + 9], [second - 1, second + 99], [second, second]]) {
    assert.equal(md5(await read(client, Key, `bytes=${from}-${to}`)), md5(whole.subarray(from, to + 1)));
  }
  const repeated = await again();
  assert.deepEqual([repeated.ETag, repeated.VersionId], [answer.ETag, answer.VersionId]);
  const { UploadId = "" } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  assert.equal(await errorOf(complete(client, Key, UploadId, Parts.slice(1))), "400 InvalidPart");
});

storeTest("multipart: a rejected complete may be corrected, and leave parts out", async ({ store, client }) => {
  const id = await start(client, "k");
  const one = await upload(client, "k", id, 1, pattern(5 * MIB, 1));
  const small = await upload(client, "k", id, 2, "small");
  const three = await upload(client, "k", id, 3, "end");
  const wrong: [string, Parts][] = [
    ["400 InvalidPartOrder", [one, one]],
    ["400 InvalidPart", [one, { ...small, ETag: "nonsense" }]],
    ["400 InvalidArgument", [one, { ...small, PartNumber: 10_001 }]],
    ["400 MalformedXML", []],
  ];
  for (const [expected, parts] of wrong) assert.equal(await errorOf(complete(client, "k", id, parts)), expected);
  assert.equal(await errorOf(complete(client, "k", id, [one], { MpuObjectSize: 5 })), "400 InvalidRequest");
  assert.equal(await errorOf(complete(client, "other", id, [one])), "404 NoSuchUpload");
  await complete(client, "k", id, [one, three], { MpuObjectSize: 5 * MIB + 3 });
  assert.equal((await read(client, "k")).length, 5 * MIB + 3);
  assert.equal(bodyFiles(store.folder).length, 1);
});

storeTest("multipart: conditions of a complete are checked with the write", async ({ client }) => {
  const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "old" }));
  const id = await start(client, "k");
  const parts = [await upload(client, "k", id, 1, "new")];
  assert.equal(await errorOf(complete(client, "k", id, parts, { IfNoneMatch: "*" })), "412 PreconditionFailed");
  assert.equal(await errorOf(complete(client, "k", id, parts, { IfMatch: '"other"' })), "412 PreconditionFailed");
  assert.equal(new TextDecoder().decode(await read(client, "k")), "old");
  await complete(client, "k", id, parts, { IfMatch: ETag });
  assert.equal(new TextDecoder().decode(await read(client, "k")), "new");
  const fresh = await start(client, "fresh");
  const freshParts = [await upload(client, "fresh", fresh, 1, "x")];
  await complete(client, "fresh", fresh, freshParts, { IfNoneMatch: "*" });
  await complete(client, "fresh", fresh, freshParts, { IfNoneMatch: "*" });
});

storeTest("multipart: a repeated part replaces the earlier one, an abort leaves nothing", async ({ store, client }) => {
  const before = bodyFiles(store.folder).length;
  const id = await start(client, "k");
  await upload(client, "k", id, 1, pattern(MIB, 1));
  const last = await upload(client, "k", id, 1, pattern(MIB, 2));
  await upload(client, "k", id, 2, "inline");
  assert.equal(bodyFiles(store.folder).length, before + 1);
  const { Parts } = await client.send(new ListPartsCommand({ Bucket, Key: "k", UploadId: id }));
  assert.deepEqual(Parts?.map((part) => [part.PartNumber, part.Size]), [[1, MIB], [2, 6]]);
  assert.equal(Parts?.[0].ETag, last.ETag);
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key: "k", UploadId: id }));
  assert.equal(bodyFiles(store.folder).length, before);
  const gone = [
    client.send(new AbortMultipartUploadCommand({ Bucket, Key: "k", UploadId: id })),
    client.send(new ListPartsCommand({ Bucket, Key: "k", UploadId: id })),
    client.send(new UploadPartCommand({ Bucket, Key: "k", UploadId: id, PartNumber: 1, Body: "x" })),
  ];
  assert.deepEqual(new Set(await Promise.all(gone.map(errorOf))), new Set(["404 NoSuchUpload"]));
});

storeTest("multipart: part numbers and digests are checked before a part counts", async ({ client }) => {
  const id = await start(client, "k");
  for (const PartNumber of [0, 10_001, -1, 1.5]) {
    const sent = client.send(new UploadPartCommand({ Bucket, Key: "k", UploadId: id, PartNumber, Body: "x" }));
    assert.equal(await errorOf(sent), "400 InvalidArgument");
  }
  const wrong = client.send(
    new UploadPartCommand({
      Bucket,
      Key: "k",
      UploadId: id,
      PartNumber: 1,
      Body: "x",
      ContentMD5: "1B2M2Y8AsgTpgAmY7PhCfg==",
    }),
  );
  assert.equal(await errorOf(wrong), "400 BadDigest");
  const { Parts } = await client.send(new ListPartsCommand({ Bucket, Key: "k", UploadId: id }));
  assert.equal(Parts, undefined);
});

Deno.test("multipart: objects in parts outlive a restart; overwritten or deleted they free every file", async () => {
  const folder = Deno.makeTempDirSync();
  const first = await startStore(folder);
  let client = first.client("archive", "curator");
  const before = bodyFiles(folder).length;
  const pieces = [pattern(5 * MIB, 1), pattern(MIB, 2)];
  for (const key of ["kept", "overwritten", "deleted"]) {
    const id = await start(client, key);
    await complete(client, key, id, [
      await upload(client, key, id, 1, pieces[0]),
      await upload(client, key, id, 2, pieces[1]),
    ]);
  }
  const underWay = await start(client, "under-way");
  const part = await upload(client, "under-way", underWay, 1, pieces[1]);
  assert.equal(bodyFiles(folder).length, before + 7);
  await first.stop();
  // As after a crash: no row names it.
  const orphan = `${folder}/${bodyFiles(folder)[0]}-orphan`;
  Deno.writeTextFileSync(orphan, "orphan");

  await using store = await startStore(folder);
  client = store.client("archive", "curator");
  assert.ok(!bodyFiles(folder).some((file) => file.endsWith("-orphan")));
  assert.equal(md5(await read(client, "kept")), md5(joinedBytes(pieces)));
  await complete(client, "under-way", underWay, [part]);
  assert.equal(md5(await read(client, "under-way")), md5(pieces[1]));
  await client.send(new PutObjectCommand({ Bucket, Key: "overwritten", Body: "small" }));
  await client.send(new DeleteObjectCommand({ Bucket, Key: "deleted" }));
  assert.equal(bodyFiles(folder).length, before + 3);
  assert.equal(md5(await read(client, "kept")), md5(joinedBytes(pieces)));
});

storeTest("multipart: a completed upload is a version, and its files go with it", async ({ store, client }) => {
  const at = { Bucket: "maps", Key: "versions" };
  const before = bodyFiles(store.folder).length;
  const old = await uploadInParts(client, at, [pattern(MIB, 1)]);
  const current = await uploadInParts(client, at, [pattern(MIB, 2)]);
  assert.ok(old.VersionId && current.VersionId && old.VersionId !== current.VersionId);
  assert.equal((await old.again()).VersionId, old.VersionId);
  const version = async (VersionId?: string) => {
    const { Body } = await client.send(new GetObjectCommand({ ...at, VersionId }));
    return md5(await Body?.transformToByteArray() ?? "");
  };
  assert.equal(await version(), md5(pattern(MIB, 2)));
  assert.equal(await version(old.VersionId), md5(pattern(MIB, 1)));
  await client.send(new DeleteObjectCommand({ ...at, VersionId: current.VersionId }));
  assert.equal(await version(), md5(pattern(MIB, 1)));
  assert.equal(bodyFiles(store.folder).length, before + 1);
  await client.send(new DeleteObjectCommand({ ...at, VersionId: old.VersionId }));
  assert.equal(bodyFiles(store.folder).length, before);
  assert.equal(await errorOf(old.again()), "404 NoSuchUpload");
});

storeTest("multipart: a read gets its version whole though it is overwritten meanwhile", async ({ store, client }) => {
  const pieces = [pattern(8 * MIB, 1), pattern(8 * MIB, 2), pattern(8 * MIB, 3)];
  const id = await start(client, "k");
  const parts = [];
  for (const [i, piece] of pieces.entries()) parts.push(await upload(client, "k", id, i + 1, piece));
  await complete(client, "k", id, parts);
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: "k" }));
  const response = await fetch(url);
  const reader = response.body?.getReader();
  const begun = await reader?.read();
  await client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "new" }));
  assert.deepEqual(bodyFiles(store.folder), []);
  const hash = createHash("md5").update(begun?.value ?? "");
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) hash.update(part.value);
  assert.equal(hash.digest("hex"), md5(joinedBytes(pieces)));
});

storeTest("multipart: one empty part is an empty object", async ({ client }) => {
  const id = await start(client, "empty");
  await complete(client, "empty", id, [await upload(client, "empty", id, 1, "")]);
  assert.equal((await read(client, "empty")).length, 0);
  assert.equal(await errorOf(read(client, "empty", "bytes=0-0")), "416 InvalidRange");
});

storeTest("races: a copy of an object that is overwritten meanwhile is a whole version", async ({ client }) => {
  const bodies = [pattern(300_000, 1), pattern(700_000, 2), pattern(900, 3)];
  const digests = bodies.map(md5);
  const put = (i: number) => client.send(new PutObjectCommand({ Bucket, Key: "source", Body: bodies[i % 3] }));
  await put(0);
  const copied = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
    await put(i);
    const Key = `copy-${i}`;
    const { CopyObjectResult } = await client.send(
      new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/source` }),
    );
    return [CopyObjectResult?.ETag, `"${md5(await read(client, Key))}"`];
  }));
  for (const [etag, digest] of copied) {
    assert.equal(etag, digest);
    assert.ok(digests.includes(String(digest).slice(1, -1)));
  }
});

storeTest("races: an upload is completed or aborted, and leaves no other file", async ({ store, client }) => {
  const [first, again, last] = [pattern(5 * MIB, 4), pattern(5 * MIB, 5), pattern(100_000, 6)];
  for (let round = 0; round < 6; round++) {
    const Key = `raced-${round}`;
    const UploadId = await start(client, Key);
    const parts = [await upload(client, Key, UploadId, 1, first), await upload(client, Key, UploadId, 2, last)];
    const end = (promise: Promise<unknown>) => promise.then(() => "done", (error) => String(error.name));
    const [replaced, completed, aborted] = await Promise.all([
      end(upload(client, Key, UploadId, 1, again)),
      end(complete(client, Key, UploadId, parts)),
      end(
        round % 2 === 0 ? client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })) : Promise.resolve(),
      ),
    ]);
    assert.ok(["done", "NoSuchUpload"].includes(replaced), replaced);
    if (completed === "done") {
      assert.equal(md5(await read(client, Key)), md5(joinedBytes([first, last])));
      if (round % 2 === 0) assert.equal(aborted, "NoSuchUpload");
    } else {
      assert.equal(
        round % 2 === 0 ? completed : "InvalidPart",
        completed === "InvalidPart" ? "InvalidPart" : "NoSuchUpload",
      );
    }
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await end(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
  }
  // The next change takes the last files with it.
  await client.send(new PutObjectCommand({ Bucket, Key: "small", Body: "x" }));
  assert.deepEqual(bodyFiles(store.folder), []);
});
