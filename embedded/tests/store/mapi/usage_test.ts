import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { archiveMapi, errorOf, namespace } from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

type Entry = Record<string, unknown>;

async function report(store: Store, path: string, query = ""): Promise<Entry[]> {
  const answer = await archiveMapi(store, "GET", `${path}/chargebackReport?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json().chargebackData;
}

/** Sums of a report's entries; an hour may end while a test runs. */
function sums(entries: readonly Entry[], ...members: string[]): number[] {
  return members.map((member) => entries.reduce((sum, entry) => sum + Number(entry[member]), 0));
}

Deno.test("usage: what was written, read and deleted is counted, and survives a restart", async () => {
  const store = await startStore();
  const client = await namespace(store, "used", {});
  const at = { Bucket: "used", Key: "a" };
  await client.send(new PutObjectCommand({ ...at, Body: "x".repeat(1000) }));
  await client.send(new PutObjectCommand({ ...at, Body: "x".repeat(300) }));
  await client.send(new PutObjectCommand({ ...at, Key: "b", Body: "x".repeat(50) }));
  for (const Range of [undefined, "bytes=0-9"]) {
    const { Body } = await client.send(new GetObjectCommand({ ...at, Range }));
    await Body?.transformToByteArray();
  }
  await client.send(new DeleteObjectCommand({ ...at, Key: "b" }));
  // What is refused did not happen.
  assert.equal(
    await errorOf(client.send(new PutObjectCommand({ ...at, Body: "x", IfNoneMatch: "*" }))),
    "412 PreconditionFailed",
  );
  assert.equal(await errorOf(client.send(new GetObjectCommand({ ...at, Key: "none" }))), "404 NoSuchKey");

  const statistics = (await archiveMapi(store, "GET", "/namespaces/used/statistics")).json();
  assert.deepEqual([statistics.objectCount, statistics.ingestedVolume, statistics.storageCapacityUsed], [1, 300, 300]);
  const check = async (store: Store) => {
    const [total, ...more] = await report(store, "/namespaces/used");
    assert.equal(more.length, 0);
    const { bytesIn, bytesOut, reads, writes, deletes, objectCount, ingestedVolume } = total;
    assert.deepEqual([bytesIn, bytesOut, reads, writes, deletes], [1350, 310, 2, 3, 1]);
    assert.deepEqual([objectCount, ingestedVolume], [1, 300]);
    assert.deepEqual([total.namespaceName, total.tenantName, total.valid, total.deleted], [
      "used",
      "archive",
      true,
      "false",
    ]);
    assert.match(String(total.startTime), /^\d{4}-\d\d-\d\dT\d\d:00:00\+0000$/);
    assert.match(String(total.endTime), /T\d\d:59:59\+0000$/);
  };
  await check(store);
  await store.stop();
  await using again = await startStore(store.folder);
  await check(again);
});

storeTest("usage: multipart uploads are counted while open, and as objects afterwards", async ({ store }) => {
  const client = await namespace(store, "parts", {});
  const start = async (Key: string) => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: "parts", Key }));
    return { Bucket: "parts", Key, UploadId };
  };
  const part = (at: Awaited<ReturnType<typeof start>>, PartNumber: number, size: number) =>
    client.send(new UploadPartCommand({ ...at, PartNumber, Body: Buffer.alloc(size) }));
  const now = async () => {
    const [one] = await report(store, "/namespaces/parts");
    const objects = [one.multipartObjects, one.multipartObjectParts, one.multipartObjectBytes];
    return [...objects, one.multipartUploads, one.multipartUploadParts, one.multipartUploadBytes];
  };
  const first = 5 * 1024 * 1024;
  const done = await start("done");
  const left = await start("left");
  const parts = [await part(done, 1, first), await part(done, 2, 10)];
  await part(left, 1, 7);
  await part(left, 1, 5);
  assert.deepEqual(await now(), [0, 0, 0, 2, 3, first + 15]);
  const Parts = parts.map(({ ETag }, i) => ({ ETag, PartNumber: i + 1 }));
  await client.send(new CompleteMultipartUploadCommand({ ...done, MultipartUpload: { Parts } }));
  assert.deepEqual(await now(), [1, 2, first + 10, 1, 1, 5]);
  await client.send(new AbortMultipartUploadCommand(left));
  assert.deepEqual(await now(), [1, 2, first + 10, 0, 0, 0]);
  await client.send(new DeleteObjectCommand({ Bucket: "parts", Key: "done" }));
  assert.deepEqual(await now(), [0, 0, 0, 0, 0, 0]);
});

storeTest("usage: a tenant's report sums its namespaces, with those that are gone", async ({ store }) => {
  const before = sums(await report(store, ""), "bytesIn", "writes", "deletes");
  const client = await namespace(store, "gone", {});
  await client.send(new PutObjectCommand({ Bucket: "gone", Key: "a", Body: "12345" }));
  await client.send(new DeleteObjectCommand({ Bucket: "gone", Key: "a" }));
  assert.equal((await archiveMapi(store, "DELETE", "/namespaces/gone")).status, 200);
  const after = await report(store, "");
  const grown = sums(after, "bytesIn", "writes", "deletes").map((sum, i) => sum - before[i]);
  assert.deepEqual(grown, [5, 1, 1]);
  assert.deepEqual([after[0].deleted, after[0].namespaceName], ["included", undefined]);
  const statistics = (await archiveMapi(store, "GET", "/statistics")).json();
  assert.equal(statistics.objectCount, after[0].objectCount);
  assert.equal(statistics.ingestedVolume, after[0].ingestedVolume);
});

storeTest("usage: intervals are whole, and a wrong parameter is rejected by its name", async ({ store }) => {
  const client = await namespace(store, "hours", {});
  await client.send(new PutObjectCommand({ Bucket: "hours", Key: "a", Body: "12345" }));
  const path = "/namespaces/hours";
  const hours = await report(store, path, "granularity=hour&start=2020-01-01T00:00:00Z");
  // Nothing is known of the time before it was made.
  assert.ok(hours.length >= 1 && hours.length <= 2);
  assert.deepEqual(sums(hours, "bytesIn"), [5]);
  const [day, ...days] = await report(store, path, "granularity=day");
  assert.ok(days.length <= 1);
  assert.match(`${day.startTime} ${day.endTime}`, /T00:00:00\+0000 .*T23:59:59\+0000$/);
  for (const outside of ["start=2020-01-01&end=2020-02-01T10:30:00%2B0200", "end=2020-02-01", "start=9999-12-31"]) {
    assert.deepEqual(await report(store, path, outside), [], outside);
  }
  for (
    const [query, name] of [["granularity=week", "granularity"], ["start=now", "start"], ["end=2020-13-01", "end"]]
  ) {
    const refused = await archiveMapi(store, "GET", `${path}/chargebackReport?${query}`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, new RegExp(name));
  }
  // Also within a day that is there.
  const today = new Date().toISOString().slice(0, 10);
  for (const query of ["start=2026-02-01&end=2026-01-01", `granularity=day&start=${today}T23:00&end=${today}T00:00`]) {
    assert.deepEqual(await report(store, path, query), [], query);
  }
  assert.equal((await archiveMapi(store, "GET", "/namespaces/none/statistics")).status, 404);
});
