import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { s3Keys, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { signedFetch } from "./signed_fetch.ts";

const keys = { ...s3Keys("curator", SAMPLE_PASSWORD), service: "s3", region: "us-east-1", retries: 0 };
const code = async (answer: Response) =>
  `${answer.status} ${/<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1] ?? ""}`;

storeTest("embedded S3: a response without a 100 Continue before it closes the connection", async ({ store }) => {
  const url = new URL(`${store.s3("archive")}/letters/empty`);
  const signed = await new AwsClient(keys).sign(url.href, { method: "PUT", body: "" });
  const headers = [...signed.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const connection = await Deno.connect({ hostname: url.hostname, port: Number(url.port) });
  const request =
    `PUT ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${headers}expect: 100-continue\r\ncontent-length: 0\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const buffer = new Uint8Array(4096);
  let answer = "";
  while (!answer.includes("\r\n\r\n")) {
    const size = await connection.read(buffer);
    assert.ok(size);
    answer += new TextDecoder().decode(buffer.subarray(0, size));
  }
  connection.close();
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(answer, /\r\nconnection: close\r\n/i);
});

storeTest("embedded S3: the time of a request may be in Date, and is required", async ({ store }) => {
  const url = `${store.s3("archive")}/letters/absent`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/20260101/us-east-1/s3/aws4_request,` +
    `SignedHeaders=host;x-amz-content-sha256,Signature=${"0".repeat(64)}`;
  const get = async (headers: Record<string, string>) =>
    await code(
      await fetch(url, { headers: { authorization, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...headers } }),
    );
  assert.equal(await get({}), "403 AccessDenied");
  assert.equal(await get({ "x-amz-date": "yesterday" }), "403 AccessDenied");
  assert.equal(await get({ date: "yesterday" }), "403 AccessDenied");
  assert.equal(await get({ date: "Thu, 01 Jan 2026 00:00:00 GMT" }), "403 RequestTimeTooSkewed");
});

storeTest("embedded S3: a digest is also checked for an absent body", async ({ store }) => {
  const client = new AwsClient(keys);
  const get = async (digest: string) => {
    const headers = { "x-amz-content-sha256": digest };
    return await code(await client.fetch(`${store.s3("archive")}/letters/absent`, { headers }));
  };
  assert.equal(await get("a".repeat(64)), "400 XAmzContentSHA256Mismatch");
  assert.equal(await get("abc"), "400 InvalidArgument");
  assert.equal(await get("UNSIGNED-PAYLOAD"), "404 NoSuchKey");
});

storeTest("embedded S3: conditions of a delete hold for one and for many", async ({ store, client }) => {
  const Bucket = "guarded";
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
  const at = { Bucket, Key: "k" };
  const old = await client.send(new PutObjectCommand({ ...at, Body: "old" }));
  const now = await client.send(new PutObjectCommand({ ...at, Body: "now" }));
  const remove = (given: object) => storeErrorCode(client.send(new DeleteObjectCommand({ ...at, ...given })));
  assert.equal(await remove({ IfMatch: old.ETag }), "PreconditionFailed");
  assert.equal(await remove({ IfMatch: now.ETag, VersionId: old.VersionId }), "PreconditionFailed");
  assert.equal(await remove({ IfMatchSize: 3 }), "NotImplemented");
  const Objects = [{ Key: "k", ETag: old.ETag }, { Key: "absent", ETag: old.ETag }];
  const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  assert.deepEqual([Deleted, Errors?.map(({ Code }) => Code)], [undefined, ["PreconditionFailed", "NoSuchKey"]]);
  await client.send(new HeadObjectCommand(at));
  await client.send(new DeleteObjectCommand({ ...at, IfMatch: old.ETag, VersionId: old.VersionId }));
  await client.send(new DeleteObjectCommand({ ...at, IfMatch: now.ETag }));
  assert.equal(await storeErrorCode(client.send(new HeadObjectCommand(at))), "NotFound");
  const versions = async () => {
    const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
    return [Versions.length, DeleteMarkers.length];
  };
  const before = await versions();
  const marker = (await client.send(new ListObjectVersionsCommand({ Bucket }))).DeleteMarkers?.[0].VersionId;
  for (const IfMatch of [now.ETag, "*"]) {
    assert.equal(await remove({ IfMatch }), "NoSuchKey", "a delete marker is current");
    assert.equal(await remove({ Key: "absent", IfMatch }), "NoSuchKey");
    assert.equal(await remove({ IfMatch, VersionId: marker }), "NoSuchVersion");
    assert.equal(await remove({ IfMatch, VersionId: old.VersionId }), "NoSuchVersion");
  }
  assert.deepEqual(await versions(), before);
  for (const header of ["if-none-match", "if-modified-since", "if-unmodified-since"]) {
    const refused = await signedFetch(store.s3("archive"), {
      method: "DELETE",
      path: `/${Bucket}/k`,
      headers: { [header]: header === "if-none-match" ? "*" : new Date().toUTCString() },
    });
    assert.equal(refused.status, 501, header);
    await refused.body?.cancel();
  }
});

storeTest("embedded S3: another kind of bucket and a broken body are rejected", async ({ store, client }) => {
  const create = (given: object) => storeErrorCode(client.send(new CreateBucketCommand({ Bucket: "odd", ...given })));
  assert.equal(await create({ ObjectLockEnabledForBucket: true }), "NotImplemented");
  assert.equal(await create({ CreateBucketConfiguration: { Tags: [{ Key: "a", Value: "b" }] } }), "NotImplemented");
  const raw = new AwsClient(keys);
  const put = async (body: string) =>
    await code(await raw.fetch(`${store.s3("archive")}/odd`, { method: "PUT", body }));
  assert.equal(await put("<broken"), "400 MalformedXML");
  assert.equal(await storeErrorCode(client.send(new HeadBucketCommand({ Bucket: "odd" }))), "NotFound");
  await client.send(
    new CreateBucketCommand({ Bucket: "odd", CreateBucketConfiguration: { LocationConstraint: "eu-north-1" } }),
  );
  const again = { CreateBucketConfiguration: { LocationConstraint: "eu-north-1" as const } };
  assert.equal(await create(again), "BucketAlreadyOwnedByYou");
  assert.equal(await create({}), "ok");
});
