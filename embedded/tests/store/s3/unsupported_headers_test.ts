import assert from "node:assert/strict";
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  ListBucketsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { read, upload } from "./multipart_fixture.ts";
import { codeOf, signedFetch } from "./signed_fetch.ts";

storeTest("S3 headers: what no operation provides is rejected and changes nothing", async ({ store }) => {
  const origin = store.s3("archive");
  const client = store.client("archive", "curator");
  await client.send(new PutObjectCommand({ Bucket: "campaigns", Key: "k", Body: "kept" }));
  const customerKey = { "x-amz-server-side-encryption-customer-algorithm": "AES256" };
  const refused: [code: string, method: string, query: string, headers: Record<string, string>][] = [
    ["NotImplemented", "GET", "", customerKey],
    ["NotImplemented", "HEAD", "", customerKey],
    ["NotImplemented", "PUT", "", { "x-amz-server-side-encryption": "aws:kms" }],
    ["NotImplemented", "PUT", "", { "x-amz-object-lock-mode": "COMPLIANCE" }],
    ["NotImplemented", "PUT", "", { "x-amz-website-redirect-location": "/" }],
    ["InvalidStorageClass", "PUT", "", { "x-amz-storage-class": "GLACIER" }],
    ["NotImplemented", "PUT", "", { "x-amz-checksum-algorithm": "XXHASH64" }],
    ["InvalidRequest", "PUT", "", { "x-amz-checksum-algorithm": "SHA1", "x-amz-checksum-crc32": "AAAAAA==" }],
    ["InvalidRequest", "PUT", "", { "x-amz-checksum-type": "HALF" }],
    ["InvalidStorageClass", "POST", "uploads=", { "x-amz-storage-class": "DEEP_ARCHIVE" }],
    ["NotImplemented", "PUT", "partNumber=1&uploadId=u", {
      "x-amz-copy-source": "campaigns/k",
      "x-amz-copy-source-server-side-encryption-customer-algorithm": "AES256",
    }],
    ["PreconditionFailed", "DELETE", "", { "if-match": '"0"' }],
    ["NotImplemented", "DELETE", "", { "if-none-match": '"0"' }],
    ["NotImplemented", "PUT", "", { "if-unmodified-since": "Sat, 01 Jan 2000 00:00:00 GMT" }],
    ["NotImplemented", "PUT", "", {
      "x-amz-copy-source": "campaigns/other",
      "if-modified-since": "Sat, 01 Jan 2000 00:00:00 GMT",
    }],
    ["NotImplemented", "DELETE", "", { "x-amz-if-match-size": "1" }],
  ];
  for (const [code, method, query, headers] of refused) {
    const response = await signedFetch(origin, { method, path: "/campaigns/k", query, headers });
    assert.equal(await codeOf(response), method === "HEAD" ? "501" : code, JSON.stringify([method, headers]));
  }
  assert.equal(new TextDecoder().decode(await read(client, "k")), "kept");
  const lock = (value: string) =>
    signedFetch(origin, {
      method: "PUT",
      path: "/locked",
      headers: { "x-amz-bucket-object-lock-enabled": value },
    }).then(codeOf);
  assert.equal(await lock("true"), "NotImplemented");
  assert.equal(await lock("false"), "none");
  const standard = { method: "PUT", path: "/campaigns/s", headers: { "x-amz-storage-class": "STANDARD" } };
  assert.equal(await codeOf(await signedFetch(origin, { ...standard, body: new Uint8Array(1) })), "none");
});

storeTest("S3 headers: another owner than the expected is rejected, at both ends of a copy", async ({ client }) => {
  const owner = (await client.send(new ListBucketsCommand({}))).Owner?.ID ?? "";
  const errorOf = (promise: Promise<unknown>) => promise.then(() => "none", (error) => error.name);
  const put = (ExpectedBucketOwner: string) =>
    errorOf(client.send(new PutObjectCommand({ Bucket: "campaigns", Key: "k", Body: "x", ExpectedBucketOwner })));
  assert.equal(await put("somebody"), "AccessDenied");
  assert.equal(await put(owner), "none");
  const copy = (ExpectedSourceBucketOwner: string) =>
    errorOf(
      client.send(
        new CopyObjectCommand({
          Bucket: "campaigns",
          Key: "c",
          CopySource: "campaigns/k",
          ExpectedSourceBucketOwner,
        }),
      ),
    );
  assert.equal(await copy("somebody"), "AccessDenied");
  assert.equal(await copy(owner), "none");
});

storeTest("S3 headers: If-Match * on a write requires any object of the key", async ({ store }) => {
  const put = { method: "PUT", path: "/campaigns/any", headers: { "if-match": "*" } };
  assert.equal(await codeOf(await signedFetch(store.s3("archive"), put)), "NoSuchKey");
  assert.equal(await codeOf(await signedFetch(store.s3("archive"), { ...put, headers: {} })), "none");
  assert.equal(await codeOf(await signedFetch(store.s3("archive"), put)), "none");
});

storeTest("S3 headers: a complete with a checksum of an unknown algorithm is rejected", async ({ store, client }) => {
  const at = { Bucket: "campaigns", Key: "unknown" };
  const { UploadId = "" } = await client.send(new CreateMultipartUploadCommand(at));
  const { ETag } = await upload(client, at.Key, UploadId, 1, "x");
  const body = new TextEncoder().encode(
    `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${ETag}</ETag></Part></CompleteMultipartUpload>`,
  );
  const sent = { method: "POST", path: "/campaigns/unknown", query: `uploadId=${UploadId}`, body };
  const headers = { "x-amz-checksum-xxhash64": "AAAAAAAAAAA=" };
  assert.equal(await codeOf(await signedFetch(store.s3("archive"), { ...sent, headers })), "NotImplemented");
  assert.equal(await codeOf(await signedFetch(store.s3("archive"), sent)), "none");
});

storeTest("S3 headers: metadata in UTF-8 is signed as its text and returned in encoded words", async ({ store }) => {
  const origin = store.s3("archive");
  const headers = { "x-amz-meta-title": "Göteborgs  rådhusrätt" };
  const at = { path: "/campaigns/utf8" };
  // Runs of spaces count as one in a signature.
  const spaced = await signedFetch(origin, { ...at, method: "PUT", headers, body: new Uint8Array(1) });
  assert.equal(await codeOf(spaced), "SignatureDoesNotMatch");
  headers["x-amz-meta-title"] = "Göteborgs rådhusrätt";
  assert.equal(await codeOf(await signedFetch(origin, { ...at, method: "PUT", headers })), "none");
  const got = await signedFetch(origin, { ...at, method: "HEAD" });
  assert.equal(got.headers.get("x-amz-meta-title"), "=?UTF-8?B?R8O2dGVib3JncyByw6VkaHVzcsOkdHQ=?=");
  const odd = {
    "x-amz-meta-q": "=?utf-8?q?l=C3=A4n?=",
    "x-amz-meta-plain": "=?utf-8?b?cGxhaW4=?=",
    "content-disposition": 'attachment; filename="län.pdf"',
  };
  // Lines of one header are joined by a comma alone; a blank of a single line stays.
  const lines = { "x-amz-meta-lines": ["å", "b"], "x-amz-meta-more": ["c", "d"] };
  const sent = { ...odd, "x-amz-meta-single": "a, b" };
  assert.equal(await codeOf(await signedFetch(origin, { ...at, method: "PUT", headers: sent, lines })), "none");
  const { headers: shown } = await signedFetch(origin, { ...at, method: "HEAD" });
  assert.deepEqual(
    ["q", "plain", "lines", "more", "single"].map((name) => shown.get(`x-amz-meta-${name}`)),
    ["=?UTF-8?B?bMOkbg==?=", "plain", "=?UTF-8?B?w6UsYg==?=", "c,d", "a, b"],
  );
  assert.equal(shown.get("content-disposition"), "attachment; filename=\"l_n.pdf\"; filename*=UTF-8''l%C3%A4n.pdf");
  const disposition = 'inline; filename="日本.pdf"';
  const query = `response-content-disposition=${encodeRfc3986(disposition)}`;
  const overridden = await signedFetch(origin, { ...at, method: "HEAD", query });
  assert.match(
    overridden.headers.get("content-disposition") ?? "",
    /^inline; filename="__.pdf"; filename\*=UTF-8''%E6/,
  );
  const named = { "x-amz-checksum-algorithm": "sha1", "x-amz-checksum-type": "full_object" };
  const digested = await signedFetch(origin, { ...at, method: "PUT", headers: named });
  assert.equal(digested.headers.get("x-amz-checksum-sha1"), "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
  // 2 KiB are bytes of the text, not of its encoding.
  const put = (length: number) =>
    signedFetch(origin, { ...at, method: "PUT", headers: { "x-amz-meta-a": "å".repeat(length) } });
  assert.deepEqual([await codeOf(await put(1023)), await codeOf(await put(1024))], ["none", "MetadataTooLarge"]);
});

storeTest("S3 listings: a key with a byte order mark at its front is shown with it", async ({ store }) => {
  const origin = store.s3("archive");
  const path = `/campaigns/${encodeURIComponent("\ufeffk")}`;
  assert.equal(await codeOf(await signedFetch(origin, { method: "PUT", path })), "none");
  assert.equal(await codeOf(await signedFetch(origin, { method: "POST", path, query: "uploads=" })), "none");
  for (const query of ["", "list-type=2", "versions=", "uploads="]) {
    const listed = await signedFetch(origin, { method: "GET", path: "/campaigns", query });
    assert.match(await listed.text(), /<Key>\ufeffk<\/Key>/, query);
  }
});
