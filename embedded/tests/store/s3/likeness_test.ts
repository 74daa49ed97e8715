import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketAclCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { clientOf, makeUser, statusOf } from "@/embedded/tests/store/acl_fixture.ts";
import { archiveMapi, errorOf } from "@/embedded/tests/store/mapi_fixture.ts";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { codeOf, signedFetch } from "./signed_fetch.ts";

storeTest("S3: bucket names may have dots by S3's rules, and are namespaces", async ({ store, client }) => {
  for (const Bucket of ["press.archive.example", "1.2.3", "a.b-c.d1", "x".repeat(30) + "." + "y".repeat(32)]) {
    await client.send(new CreateBucketCommand({ Bucket }));
    await client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "x" }));
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: "k" }));
    assert.equal(await Body?.transformToString(), "x");
    const changed = await archiveMapi(store, "POST", `/namespaces/${Bucket}`, {
      name: Bucket,
      description: "dotted",
    });
    assert.equal(changed.status, 200, changed.text);
    await client.send(new DeleteObjectCommand({ Bucket, Key: "k" }));
    await client.send(new DeleteBucketCommand({ Bucket }));
  }
  const wrong = [
    "a..b",
    ".ab",
    "ab.",
    "a.-b",
    "a-.b",
    "192.168.5.123",
    "a_b",
    "xn--a.b",
    "a.b.",
    "ab",
    "x".repeat(64),
  ];
  for (const name of wrong) {
    const made = await signedFetch(store.s3("archive"), { method: "PUT", path: `/${name}` });
    assert.deepEqual([made.status, await codeOf(made)], [400, "InvalidBucketName"], name);
  }
  assert.equal((await archiveMapi(store, "PUT", "/namespaces", { name: "a..b" })).status, 400);
  const nameless = await signedFetch(store.s3("archive"), { method: "PUT", path: "/" });
  assert.deepEqual([nameless.status, await codeOf(nameless)], [405, "MethodNotAllowed"]);
});

storeTest("S3: deleting an absent key of a versioned bucket creates a marker, each time", async ({ client }) => {
  const at = { Bucket: "markers", Key: "absent" };
  await client.send(new CreateBucketCommand(at));
  const status = async (Status: "Enabled" | "Suspended") =>
    await client.send(new PutBucketVersioningCommand({ ...at, VersioningConfiguration: { Status } }));
  const markers = async () => {
    const { DeleteMarkers, Versions } = await client.send(new ListObjectVersionsCommand(at));
    assert.equal(Versions, undefined);
    return (DeleteMarkers ?? []).map(({ VersionId, IsLatest }) => [VersionId, IsLatest]);
  };
  assert.equal((await client.send(new DeleteObjectCommand(at))).DeleteMarker, undefined);
  assert.deepEqual(await markers(), []);
  await status("Enabled");
  const first = await client.send(new DeleteObjectCommand(at));
  assert.equal(first.DeleteMarker, true);
  const second = await client.send(new DeleteObjectCommand(at));
  assert.deepEqual(await markers(), [[second.VersionId, true], [first.VersionId, false]]);
  await status("Suspended");
  for (let i = 0; i < 2; i++) assert.equal((await client.send(new DeleteObjectCommand(at))).VersionId, "null");
  assert.deepEqual(await markers(), [["null", true], [second.VersionId, false], [first.VersionId, false]]);
  for (const [VersionId] of await markers()) {
    await client.send(new DeleteObjectCommand({ ...at, VersionId: String(VersionId) }));
  }
  assert.deepEqual(await markers(), []);
  await client.send(new DeleteBucketCommand(at));
});

storeTest("embedded S3: HeadBucket is for those who may list the bucket", async ({ store }) => {
  const id = await makeUser(store, "other");
  const other = clientOf(store, "other");
  const head = () => statusOf(other.send(new HeadBucketCommand({ Bucket: "letters" })));
  const grant = async (permission: "GrantRead" | "GrantWrite" | "GrantReadACP" | "GrantWriteACP") => {
    const curator = clientOf(store, "curator");
    await curator.send(new PutBucketAclCommand({ Bucket: "letters", [permission]: `id=${id}` }));
  };
  assert.equal(await head(), 403);
  for (const permission of ["GrantWrite", "GrantReadACP", "GrantWriteACP"] as const) {
    await grant(permission);
    assert.equal(await head(), 403, permission);
  }
  await grant("GrantRead");
  assert.equal(await head(), 200);
  assert.equal((await fetch(`${store.s3("archive")}/letters`, { method: "HEAD" })).status, 403);
  assert.equal(await statusOf(other.send(new HeadBucketCommand({ Bucket: "none" }))), 404);
});

storeTest("embedded S3: every response is sandboxed, and its type is not sniffed", async ({ store }) => {
  const origin = store.s3("archive");
  const client = store.client("archive", "curator");
  const page = { Bucket: "letters", Key: "page.html", Body: "<script>1</script>", ContentType: "text/html" };
  await client.send(new PutObjectCommand({ ...page, ACL: "public-read" }));
  const answers = [
    await fetch(`${origin}/letters/page.html`),
    await fetch(`${origin}/letters/page.html`, { headers: { range: "bytes=0-3" } }),
    await fetch(`${origin}/letters/page.html`, { method: "HEAD" }),
    await fetch(`${origin}/letters/page.html`, { headers: { "if-none-match": "*" } }),
    await fetch(`${origin}/letters/page.html`, { method: "OPTIONS", headers: { origin: "https://a.example" } }),
    await fetch(`${origin}/letters/absent.html`),
    await fetch(`${origin}/`),
    await fetch(`${origin}/letters?uploads`, { method: "POST" }),
    await fetch(`${store.server.address(null)?.s3}/letters`),
    await signedFetch(origin, { method: "GET", path: "/letters" }),
    await signedFetch(origin, { method: "DELETE", path: "/letters/absent" }),
  ];
  for (const answer of answers) {
    await answer.body?.cancel();
    const headers = ["x-content-type-options", "content-security-policy"].map((name) => answer.headers.get(name));
    assert.deepEqual(headers, ["nosniff", "sandbox"], `${answer.status} ${answer.url}`);
  }
  assert.equal(await errorOf(client.send(new HeadBucketCommand({ Bucket: "none" }))), "404 NotFound");
});

storeTest("embedded S3: an empty continuation token is that of the first page", async ({ client }) => {
  const page = await client.send(new ListObjectsV2Command({ Bucket: "letters", ContinuationToken: "" }));
  assert.deepEqual([page.ContinuationToken, page.KeyCount, page.IsTruncated], ["", 3, false]);
  const odd = client.send(new ListObjectsV2Command({ Bucket: "letters", ContinuationToken: "x" }));
  assert.equal(await errorOf(odd), "400 InvalidArgument");
});

storeTest("S3: listings of version 1 repeat their prefix as it is, where XML can hold it", async ({ store }) => {
  const list = async (version: string, prefix: string) => {
    const query = `encoding-type=url&${version}prefix=${prefix}`;
    const answer = await signedFetch(store.s3("archive"), { method: "GET", path: "/letters", query });
    return /<Prefix>([^]*)<\/Prefix>/.exec(await answer.text())?.[1];
  };
  assert.deepEqual([await list("", "a%20%0A"), await list("list-type=2&", "a%20%0A")], ["a \n", "a%20%0A"]);
  assert.equal(await list("", "a%01"), "a%01");
});

storeTest("S3: a signature may be of the path as it was sent, and an empty header signs nothing", async ({ store }) => {
  const origin = store.s3("archive");
  const client = store.client("archive", "curator");
  await client.send(new PutObjectCommand({ Bucket: "letters", Key: "what!(now)", Body: "x" }));
  for (const path of ["/letters/what!(now)", "/letters/what%21%28now%29"]) {
    assert.equal(await (await signedFetch(origin, { method: "GET", path })).text(), "x", path);
  }
  const empty = await fetch(`${origin}/letters/what!(now)`, { headers: { authorization: "" } });
  assert.deepEqual([empty.status, await codeOf(empty)], [403, "AccessDenied"]);
});

storeTest("S3: If-None-Match of a write may be an ETag that the present object must not have", async ({ client }) => {
  const at = { Bucket: "letters", Key: "once" };
  const put = (Body: string, IfNoneMatch: string) =>
    errorOf(client.send(new PutObjectCommand({ ...at, Body, IfNoneMatch })));
  const { ETag = "" } = await client.send(new PutObjectCommand({ ...at, Body: "one" }));
  for (const tag of [ETag, ETag.replaceAll('"', "")]) assert.equal(await put("two", tag), "412 PreconditionFailed");
  assert.equal(await put("two", '"a", "b"'), "501 NotImplemented");
  assert.equal(await put("two", '"another"'), "ok");
  assert.equal(await put("three", ETag), "ok");
  assert.equal(await (await client.send(new GetObjectCommand(at))).Body?.transformToString(), "three");
  await client.send(new DeleteObjectCommand(at));
  assert.equal(await put("four", ETag), "ok", "there is no object whose ETag it is");
});

storeTest("embedded S3: a listing that may be in any order is in order, and has no delimiter", async ({ store }) => {
  const list = async (query: string) => {
    const answer = await signedFetch(store.s3("archive"), { method: "GET", path: "/letters", query });
    return [answer.status, await codeOf(answer)];
  };
  for (const version of ["", "&list-type=2"]) {
    assert.deepEqual(await list(`allow-unordered=true${version}`), [200, "none"]);
    assert.deepEqual(await list(`allow-unordered=true&delimiter=%2F${version}`), [400, "InvalidArgument"]);
    assert.deepEqual(await list(`allow-unordered=false&delimiter=%2F${version}`), [200, "none"]);
  }
});
