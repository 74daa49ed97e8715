import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import fc from "fast-check";
import assert from "node:assert/strict";
import { request } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { quotaBytes, SoftQuotas } from "@/embedded/store/stored_buckets.ts";
import { printedErrors } from "@/tests/printed_errors.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";
import { archiveMapi, errorOf, eventually, namespace } from "./mapi_fixture.ts";
import { startStore, type Store, storeTest } from "./store_fixture.ts";

const MIB = 1024 * 1024;

/** The quota of the tests, in bytes: less than the management API takes, so that a test can fill it. */
const QUOTA = 6 * MIB;

const body = (size: number) => new Uint8Array(size).fill(65);
const put = (client: S3Client, Bucket: string, Key: string, size: number) =>
  errorOf(client.send(new PutObjectCommand({ Bucket, Key, Body: body(size) })));

/** Gives a bucket, or a whole tenant, the small quota. */
function limit(store: Store, table: "buckets" | "tenants", name: string): void {
  using index = new DatabaseSync(`${store.folder}/index.db`);
  index.exec("PRAGMA busy_timeout = 5000");
  index.prepare(`UPDATE ${table} SET record = json_set(record, '$.hardQuota', '6 MB') WHERE folded = ?`).run(name);
}

/** What the store has counted of a bucket and of the tenant archive. */
function counted(store: Store, bucket: string): { bucket: number; tenant: number; truth: number } {
  using index = new DatabaseSync(`${store.folder}/index.db`, { readOnly: true });
  const number = (sql: string, ...given: string[]) => Number(Object.values(index.prepare(sql).get(...given) ?? {})[0]);
  return {
    bucket: number("SELECT stored_bytes + part_bytes FROM buckets WHERE folded = ?", bucket),
    tenant: number("SELECT used_bytes FROM tenants WHERE folded = 'archive'"),
    truth: number(
      `SELECT (SELECT coalesce(sum(size), 0) FROM objects JOIN buckets ON id = bucket WHERE tenant = t.id) +
       (SELECT coalesce(sum(size), 0) FROM history JOIN buckets ON id = bucket WHERE tenant = t.id) +
       (SELECT coalesce(sum(size), 0) FROM parts JOIN uploads ON uploads.id = upload JOIN buckets ON buckets.id = bucket
        WHERE tenant = t.id) FROM tenants AS t WHERE folded = 'archive'`,
    ),
  };
}

Deno.test("quota: units are powers of 1024, and an invalid size means no limit", () => {
  assert.equal(quotaBytes("1 GB"), 1024 ** 3);
  assert.equal(quotaBytes("0.5 TB"), 1024 ** 4 / 2);
  assert.equal(quotaBytes("None"), Infinity);
  assert.equal(quotaBytes(null), Infinity);
  fc.assert(fc.property(fc.string(), (text) => quotaBytes(text) >= 0));
});

storeTest("quota: a bucket takes its last byte and no more; a smaller replacement passes", async ({ store }) => {
  const client = await namespace(store, "small", {});
  limit(store, "buckets", "small");
  assert.equal(await put(client, "small", "a", QUOTA - 10), "ok");
  assert.equal(await put(client, "small", "b", 11), "413 OutOfSpace");
  assert.equal(await put(client, "small", "b", 10), "ok");
  assert.equal(await put(client, "small", "c", 1), "413 OutOfSpace");
  assert.equal(await put(client, "small", "c", 0), "ok");
  assert.equal(await put(client, "small", "b", 10), "ok");
  assert.equal(await put(client, "small", "b", 11), "413 OutOfSpace");
  assert.equal(await put(client, "small", "b", 9), "ok");
  const copied = (Key: string) =>
    errorOf(client.send(new CopyObjectCommand({ Bucket: "small", Key, CopySource: "small/b" })));
  assert.equal(await copied("copy"), "413 OutOfSpace");
  await client.send(new DeleteObjectCommand({ Bucket: "small", Key: "b" }));
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "small" }));
  assert.deepEqual(Contents.map(({ Key, Size }) => [Key, Size]), [["a", QUOTA - 10], ["c", 0]]);
  const { bucket, tenant, truth } = counted(store, "small");
  assert.deepEqual([bucket, tenant], [QUOTA - 10, truth]);
});

Deno.test("quota: old versions count, also after a restart", async () => {
  const store = await startStore();
  const client = await namespace(store, "small", { versioningSettings: { enabled: true } });
  limit(store, "buckets", "small");
  assert.equal(await put(client, "small", "a", 4 * MIB), "ok");
  assert.equal(await put(client, "small", "a", 4 * MIB), "413 OutOfSpace");
  await store.stop();
  await using again = await startStore(store.folder);
  const other = again.client("archive", "curator");
  assert.equal(await put(other, "small", "a", 2 * MIB), "ok");
  assert.equal(await put(other, "small", "a", 1), "413 OutOfSpace");
});

storeTest("quota: null versions are replaced within it while versioning is suspended", async ({ store }) => {
  const client = await namespace(store, "small", { versioningSettings: { enabled: true } });
  limit(store, "buckets", "small");
  await client.send(
    new PutBucketVersioningCommand({ Bucket: "small", VersioningConfiguration: { Status: "Suspended" } }),
  );
  assert.equal(await put(client, "small", "a", QUOTA), "ok");
  assert.equal(await put(client, "small", "a", QUOTA), "ok");
  assert.equal(await put(client, "small", "b", 1), "413 OutOfSpace");
});

storeTest("quota: concurrent writes never exceed it", async ({ store }) => {
  const client = await namespace(store, "small", {});
  limit(store, "buckets", "small");
  assert.equal(await put(client, "small", "base", QUOTA - 1000), "ok");
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => put(client, "small", `k${i}`, 100)));
  assert.equal(outcomes.filter((outcome) => outcome === "ok").length, 10);
  assert.equal(outcomes.filter((outcome) => outcome === "413 OutOfSpace").length, 10);
  assert.equal(counted(store, "small").bucket, QUOTA);
});

storeTest("quota: parts count before they are an object, and are freed by an abort", async ({ store }) => {
  const client = await namespace(store, "small", {});
  limit(store, "buckets", "small");
  const at = { Bucket: "small", Key: "whole" };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const part = (PartNumber: number, size: number) =>
    errorOf(client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body: body(size) })));
  assert.equal(await part(1, 5 * MIB), "ok");
  assert.equal(await part(2, MIB + 1), "413 OutOfSpace");
  assert.equal(await put(client, "small", "beside", MIB + 1), "413 OutOfSpace");
  // A part takes the place of the one before it.
  assert.equal(await part(1, 5 * MIB), "ok");
  assert.equal(await put(client, "small", "beside", MIB), "ok");
  const copied = client.send(
    new UploadPartCopyCommand({ ...at, UploadId, PartNumber: 2, CopySource: "small/beside" }),
  );
  assert.equal(await errorOf(copied), "413 OutOfSpace");
  await client.send(new DeleteObjectCommand({ Bucket: "small", Key: "beside" }));
  assert.equal(await part(2, MIB), "ok");
  const Parts: { PartNumber: number; ETag?: string }[] = [];
  for (const [PartNumber, size] of [[1, 5 * MIB], [2, MIB]]) {
    const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body: body(size) }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  assert.equal(counted(store, "small").bucket, QUOTA);
  await client.send(new DeleteObjectCommand(at));

  const second = await client.send(new CreateMultipartUploadCommand(at));
  const upload = { ...at, UploadId: second.UploadId };
  await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: body(QUOTA) }));
  assert.equal(await put(client, "small", "beside", 1), "413 OutOfSpace");
  await client.send(new AbortMultipartUploadCommand(upload));
  assert.equal(await put(client, "small", "beside", QUOTA), "ok");
  const { bucket, tenant, truth } = counted(store, "small");
  assert.deepEqual([bucket, tenant], [QUOTA, truth]);
});

storeTest("quota: a tenant's quota limits all its buckets together", async ({ store }) => {
  const client = await namespace(store, "one", {});
  await namespace(store, "two", {});
  limit(store, "tenants", "archive");
  const { tenant } = counted(store, "one");
  assert.ok(tenant > 0);
  assert.equal(await put(client, "one", "a", QUOTA - tenant - 5), "ok");
  assert.equal(await put(client, "two", "a", 6), "413 OutOfSpace");
  assert.equal(await put(client, "two", "a", 5), "ok");
  await client.send(new DeleteObjectCommand({ Bucket: "one", Key: "a" }));
  assert.equal(await put(client, "two", "b", 6), "ok");
});

storeTest("quota: a body that cannot fit is rejected before it is sent", async ({ store }) => {
  const client = await namespace(store, "small", {});
  limit(store, "buckets", "small");
  const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: "small", Key: "large" }));
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = request(url, {
      method: "PUT",
      headers: { "content-length": QUOTA + 1 },
      signal: AbortSignal.timeout(10_000),
    }, (response) => {
      resolve(response.statusCode);
      sending.destroy();
    });
    sending.on("error", reject);
    sending.write("A");
  });
  assert.equal(status, 413);
});

storeTest("quota: namespaceQuota bounds the number of namespaces, on both protocols", async ({ store }) => {
  const index = new DatabaseSync(`${store.folder}/index.db`);
  index.exec("UPDATE tenants SET record = json_set(record, '$.namespaceQuota', '4') WHERE folded = 'archive'");
  index.close();
  const client = await namespace(store, "fourth", {});
  assert.equal(await errorOf(client.send(new CreateBucketCommand({ Bucket: "fifth" }))), "400 InvalidRequest");
  const { status, text } = await archiveMapi(store, "PUT", "/namespaces", { name: "fifth" });
  assert.match(`${status} ${text}`, /^400 .*namespaceQuota/);
  assert.equal((await archiveMapi(store, "DELETE", "/namespaces/fourth")).status, 200);
  await client.send(new CreateBucketCommand({ Bucket: "fifth" }));
});

testInFolder("soft quotas: warn once for each, and again after usage fell below it", (folder) => {
  using index = openIndexForWriting(folder);
  index.exec(
    `INSERT INTO tenants (name, folded, record, created_ms) VALUES ('Arc', 'arc', '${record("1 GB", 50)}', 1)`,
  );
  const bucket = (name: string, record: string) =>
    index.exec(
      `INSERT INTO buckets (tenant, name, folded, guid, versioning, record, created_ms)
       VALUES (1, '${name}', '${name}', '${name}', 'off', '${record}', 1)`,
    );
  bucket("small", record("1 MB", 85));
  bucket("parts", record("1 MB", 10));
  bucket("endless", record("None", 0));
  const hold = (name: string, stored: number, parts: number) =>
    index.exec(`UPDATE buckets SET stored_bytes = ${stored}, part_bytes = ${parts} WHERE name = '${name}'`);

  const told: string[] = [];
  const quotas = new SoftQuotas(new Statements(index), (message) => told.push(message));
  const check = () => {
    quotas.check();
    return told.splice(0);
  };
  hold("endless", 1e12, 0);
  hold("small", 0.84 * 1024 * 1024, 0);
  hold("parts", 0, 0.0625 * 1024 * 1024);
  assert.deepEqual(check(), []);
  hold("small", 0.875 * 1024 * 1024, 0);
  assert.deepEqual(check(), ["namespace small of tenant Arc holds 87.5 % of its hardQuota of 1 MB (softQuota 85 %)"]);
  hold("parts", 0.0625 * 1024 * 1024, 0.0625 * 1024 * 1024);
  index.exec(`UPDATE tenants SET used_bytes = ${1024 ** 3}`);
  assert.deepEqual(check(), [
    "tenant Arc holds 100.0 % of its hardQuota of 1 GB (softQuota 50 %)",
    "namespace parts of tenant Arc holds 12.5 % of its hardQuota of 1 MB (softQuota 10 %)",
  ]);
  assert.deepEqual(check(), []);
  hold("small", 0, 0);
  assert.deepEqual(check(), []);
  hold("small", 1024 * 1024, 0);
  assert.equal(check().length, 1);
  index.close();
});

Deno.test("soft quotas: a store warns of a namespace after its quota was lowered", async () => {
  using printed = printedErrors();
  await using store = await startStore();
  await namespace(store, "tight", { hardQuota: "1 GB", softQuota: 95 });
  {
    using index = openIndexForWriting(store.folder);
    index.exec(`UPDATE buckets SET stored_bytes = ${0.5 * 1024 ** 3} WHERE name = 'tight'`);
  }
  const warning =
    "embedded store: namespace tight of tenant archive holds 50.0 % of its hardQuota of 1 GB (softQuota 40 %)";
  assert.equal((await archiveMapi(store, "POST", "/namespaces/tight", { softQuota: 40 })).status, 200);
  await eventually(true, async () => {
    await archiveMapi(store, "GET", "/namespaces/tight");
    return printed.lines.includes(warning);
  });
});

function record(hardQuota: string, softQuota: number): string {
  return JSON.stringify({ hardQuota, softQuota });
}
