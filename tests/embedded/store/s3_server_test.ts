import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { errorHandler } from "@/embedded/store/s3/s3_server.ts";
import { startStore } from "./store_fixture.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

async function errorOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error.name;
  }
  return "ok";
}

async function keys(client: S3Client, bucket: string): Promise<string[]> {
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return (Contents ?? []).map(({ Key }) => Key ?? "");
}

Deno.test("embedded S3: any Unicode text is a key, and listings are in the binary order of UTF-8", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  await client.send(new CreateBucketCommand({ Bucket: "odd-keys" }));
  const odd = [
    "a b+c%20.txt",
    "å/ä ö.txt",
    "\u{1F600}",
    "\uffee",
    "a//b",
    "d",
    "d/",
    "d/x",
    "tab\tand\u0001",
    "z".repeat(1024),
  ];
  for (const key of odd) {
    await client.send(new PutObjectCommand({ Bucket: "odd-keys", Key: key, Body: key }));
  }
  const inOrder = [...odd].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: "odd-keys", EncodingType: "url" }));
  assert.deepEqual(Contents?.map(({ Key }) => decodeURIComponent(Key ?? "")), inOrder);
  for (const key of odd) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: "odd-keys", Key: key }));
    assert.equal(await Body?.transformToString(), key);
  }
});

Deno.test(
  "embedded S3: buckets are created, listed, checked and deleted; a full one is not deleted",
  leaks,
  async () => {
    await using store = await startStore();
    const client = store.client("archive", "curator");
    await client.send(new CreateBucketCommand({ Bucket: "Fresh-1" }));
    await client.send(new CreateBucketCommand({ Bucket: "fresh-1" }));
    await client.send(new HeadBucketCommand({ Bucket: "FRESH-1" }));
    const { Buckets } = await client.send(new ListBucketsCommand({}));
    assert.deepEqual(Buckets?.map(({ Name }) => Name), ["campaigns", "Fresh-1", "letters", "maps"]);
    assert.equal(await errorOf(client.send(new DeleteBucketCommand({ Bucket: "maps" }))), "BucketNotEmpty");
    await client.send(new DeleteBucketCommand({ Bucket: "fresh-1" }));
    assert.equal(await errorOf(client.send(new HeadBucketCommand({ Bucket: "fresh-1" }))), "NotFound");
    for (const Bucket of ["ab", "-edge", "under_score", "xn--a"]) {
      assert.equal(await errorOf(client.send(new CreateBucketCommand({ Bucket }))), "InvalidBucketName");
    }
  },
);

Deno.test("embedded S3: access follows the data permissions, and tenants are apart", leaks, async () => {
  await using store = await startStore();
  const reader = store.client("archive", "reader");
  const { Buckets } = await reader.send(new ListBucketsCommand({}));
  assert.deepEqual(Buckets?.map(({ Name }) => Name), ["campaigns"]);
  assert.deepEqual(await keys(reader, "campaigns"), []);
  const denied = [
    new PutObjectCommand({ Bucket: "campaigns", Key: "x", Body: "x" }),
    new DeleteObjectCommand({ Bucket: "campaigns", Key: "x" }),
    new ListObjectsV2Command({ Bucket: "letters" }),
    new GetObjectCommand({ Bucket: "maps", Key: "utkast.txt" }),
    new CreateBucketCommand({ Bucket: "mine" }),
    new DeleteBucketCommand({ Bucket: "campaigns" }),
  ];
  // deno-lint-ignore no-explicit-any -- the client's overloads do not take a union of commands
  for (const command of denied) assert.equal(await errorOf(reader.send(command as any)), "AccessDenied");
  const foreign = store.client("research", "curator");
  assert.equal(await errorOf(foreign.send(new ListBucketsCommand({}))), "SignatureDoesNotMatch");
  const wrong = store.client("archive", "curator", "wrong-password");
  assert.equal(await errorOf(wrong.send(new ListBucketsCommand({}))), "SignatureDoesNotMatch");
});

Deno.test("embedded S3: ranges, conditions and metadata are returned", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const at = { Bucket: "letters", Key: "ranges.bin" };
  const body = new Uint8Array(100_000).map((_, i) => i % 251);
  await client.send(
    new PutObjectCommand({
      ...at,
      Body: body,
      ContentType: "image/jp2",
      Metadata: { Volume: "A1" },
      CacheControl: "no-cache",
    }),
  );
  const head = await client.send(new HeadObjectCommand(at));
  assert.equal(head.ContentLength, 100_000);
  assert.equal(head.ContentType, "image/jp2");
  assert.equal(head.CacheControl, "no-cache");
  assert.deepEqual(head.Metadata, { volume: "A1" });
  assert.equal(head.ETag, `"${createHash("md5").update(body).digest("hex")}"`);
  const cases: [string, number, number][] = [["bytes=0-9", 0, 10], ["bytes=99990-", 99_990, 100_000], [
    "bytes=-5",
    99_995,
    100_000,
  ]];
  for (const [Range, from, to] of cases) {
    const part = await client.send(new GetObjectCommand({ ...at, Range }));
    assert.deepEqual(await part.Body?.transformToByteArray(), body.slice(from, to));
    assert.equal(part.ContentRange, `bytes ${from}-${to - 1}/100000`);
  }
  assert.equal(await errorOf(client.send(new GetObjectCommand({ ...at, Range: "bytes=100000-" }))), "InvalidRange");
  assert.equal(await errorOf(client.send(new GetObjectCommand({ ...at, IfMatch: '"other"' }))), "PreconditionFailed");
  assert.equal(
    await errorOf(client.send(new PutObjectCommand({ ...at, Body: "x", IfNoneMatch: "*" }))),
    "PreconditionFailed",
  );
  const unchanged = await getSignedUrl(client, new GetObjectCommand(at), { expiresIn: 60 });
  const notModified = await fetch(unchanged, { headers: { "if-none-match": head.ETag ?? "" } });
  assert.equal(notModified.status, 304);
  assert.equal(notModified.headers.get("etag"), head.ETag);
});

Deno.test("embedded S3: versions and markers are real where versioning is on", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const at = { Bucket: "maps", Key: "versions.txt" };
  const first = await client.send(new PutObjectCommand({ ...at, Body: "first" }));
  const second = await client.send(new PutObjectCommand({ ...at, Body: "second" }));
  assert.match(first.VersionId ?? "", /^[0-9]+$/);
  assert.ok(Number(second.VersionId) > Number(first.VersionId));
  const read = async (VersionId?: string) =>
    await (await client.send(new GetObjectCommand({ ...at, VersionId }))).Body?.transformToString();
  assert.equal(await read(), "second");
  assert.equal(await read(first.VersionId), "first");
  const marker = await client.send(new DeleteObjectCommand(at));
  assert.equal(marker.DeleteMarker, true);
  assert.equal(await errorOf(read()), "NoSuchKey");
  assert.equal(await read(second.VersionId), "second");
  assert.ok(!(await keys(client, "maps")).includes("versions.txt"));
  await client.send(new DeleteObjectCommand({ ...at, VersionId: marker.VersionId }));
  assert.equal(await read(), "second");
  await client.send(new DeleteObjectCommand({ ...at, VersionId: second.VersionId }));
  assert.equal(await read(), "first");
});

Deno.test("embedded S3: listings page by prefix and delimiter without losing or repeating a key", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  await client.send(new CreateBucketCommand({ Bucket: "pages" }));
  const all = ["a", "b/1", "b/2", "b/3", "c", "d/e/1", "d/f", "e"];
  for (const Key of all) await client.send(new PutObjectCommand({ Bucket: "pages", Key, Body: "x" }));
  for (const MaxKeys of [1, 2, 3, 1000]) {
    const seen: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket: "pages", Delimiter: "/", MaxKeys, ContinuationToken }),
      );
      assert.ok((page.KeyCount ?? 0) <= MaxKeys);
      seen.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ""));
      seen.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ""));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken);
    assert.deepEqual(seen.sort(), ["a", "b/", "c", "d/", "e"]);
  }
  const under = await client.send(new ListObjectsV2Command({ Bucket: "pages", Prefix: "d/", Delimiter: "/" }));
  assert.deepEqual(under.CommonPrefixes?.map(({ Prefix }) => Prefix), ["d/e/"]);
  assert.deepEqual(under.Contents?.map(({ Key }) => Key), ["d/f"]);
});

Deno.test("embedded S3: presigned URLs write and read, and end with their time", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const at = { Bucket: "letters", Key: "delad länk+1.txt" };
  const put = await getSignedUrl(client, new PutObjectCommand(at), { expiresIn: 60 });
  assert.equal((await fetch(put, { method: "PUT", body: "via länk" })).status, 200);
  const get = await getSignedUrl(client, new GetObjectCommand(at), { expiresIn: 60 });
  assert.equal(await (await fetch(get)).text(), "via länk");
  const expired = await getSignedUrl(client, new GetObjectCommand(at), {
    expiresIn: 60,
    signingDate: new Date(Date.now() - 61_000),
  });
  const late = await fetch(expired);
  assert.equal(late.status, 403);
  assert.match(await late.text(), /<Code>AccessDenied<\/Code>/);
  const changed = await fetch(get.replace("1.txt", "2.txt"));
  assert.equal(changed.status, 403);
  assert.match(await changed.text(), /SignatureDoesNotMatch/);
});

Deno.test(
  "embedded S3: only pages of allowed origins and requests with loopback names are served",
  leaks,
  async () => {
    await using store = await startStore();
    store.server.allowOrigins(["http://127.0.0.1:8000"]);
    const preflight = (origin: string) =>
      fetch(`${store.s3("archive")}/letters/x`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "PUT", "access-control-request-headers": "content-type" },
      });
    const ours = await preflight("http://127.0.0.1:8000");
    assert.equal(ours.status, 204);
    assert.equal(ours.headers.get("access-control-allow-origin"), "http://127.0.0.1:8000");
    assert.equal(ours.headers.get("access-control-allow-headers"), "content-type");
    const foreign = await preflight("https://elsewhere.example");
    assert.equal(foreign.status, 403);
    assert.equal(foreign.headers.get("access-control-allow-origin"), null);
    const port = Number(new URL(store.s3("archive")).port);
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    await connection.write(
      new TextEncoder().encode("GET / HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n"),
    );
    const misdirected = await new Response(connection.readable).text();
    assert.match(misdirected, /^HTTP\/1.1 421 /);
    assert.match(misdirected, /<Code>MisdirectedRequest<\/Code>.*<RequestId>[0-9a-f-]{36}<\/RequestId>/);
  },
);

Deno.test("embedded S3: a store that stops says so to clients of both protocols", async () => {
  const answer = errorHandler("ServiceUnavailable")(new Request("http://127.0.0.1:20000/letters/x"));
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "5"]);
  assert.equal(answer.headers.get("x-hcp-errormessage"), "The store is stopping");
  assert.match(answer.headers.get("x-amz-request-id") ?? "", /^[0-9a-f-]{36}$/);
  assert.match(await answer.text(), /<Code>ServiceUnavailable<\/Code>/);
});

Deno.test("embedded S3: what it does not provide is 501, never a wrong success", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const at = { Bucket: "letters", Key: "1794/Åbo, 3 maj.txt" };
  assert.equal(await errorOf(client.send(new PutBucketPolicyCommand({ ...at, Policy: "{}" }))), "NotImplemented");
  assert.equal(
    await errorOf(client.send(new PutBucketWebsiteCommand({ ...at, WebsiteConfiguration: {} }))),
    "NotImplemented",
  );
  const locked = new PutObjectCommand({ ...at, Body: "x", ObjectLockMode: "GOVERNANCE" });
  assert.equal(await errorOf(client.send(locked)), "NotImplemented");
});

Deno.test("embedded S3: a body that does not match its digest, or ends early, is never an object", leaks, async () => {
  await using store = await startStore();
  const client = store.client("archive", "curator");
  const at = { Bucket: "letters", Key: "broken.bin" };
  assert.equal(
    await errorOf(client.send(new PutObjectCommand({ ...at, Body: "abc", ContentMD5: "AAAAAAAAAAAAAAAAAAAAAA==" }))),
    "BadDigest",
  );
  const url = new URL(await getSignedUrl(client, new PutObjectCommand(at), { expiresIn: 60 }));
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(url.port) });
  await connection.write(
    new TextEncoder().encode(
      `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: 100000\r\n\r\n${
        "x".repeat(50_000)
      }`,
    ),
  );
  // The sender is done, so the store answers; what it answers is that the body is not whole.
  await connection.closeWrite();
  assert.match(await new Response(connection.readable).text(), /^(HTTP\/1.1 400 |$)/);
  assert.equal(await errorOf(client.send(new HeadObjectCommand(at))), "NotFound");
  assert.ok(!(await keys(client, "letters")).includes("broken.bin"));
  assert.deepEqual(
    [...Deno.readDirSync(`${store.folder}/bodies`)].flatMap((
      { name },
    ) => [...Deno.readDirSync(`${store.folder}/bodies/${name}`)]),
    [],
  );
});

Deno.test("embedded S3: ports, objects and versions are the same after a restart", leaks, async () => {
  const folder = Deno.makeTempDirSync();
  const first = await startStore(folder);
  const url = await getSignedUrl(
    first.client("archive", "curator"),
    new GetObjectCommand({ Bucket: "maps", Key: "Malmöhus län/blad 1+2.txt" }),
    { expiresIn: 600 },
  );
  const before = await (await fetch(url)).text();
  await first.stop();
  await using _second = await startStore(folder);
  assert.equal(await (await fetch(url)).text(), before);
  assert.match(before, /rättad/);
});
