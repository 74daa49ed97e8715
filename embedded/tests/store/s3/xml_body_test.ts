import assert from "node:assert/strict";
import { HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { read, start, upload } from "./multipart_fixture.ts";
import { codeOf, signedFetch } from "./signed_fetch.ts";
import { checksum } from "@/embedded/tests/store/checksum.ts";

const crc32 = (text: string) => checksum("crc32", text);

/** An XML body in two unsigned pieces, with its checksum behind it. */
function chunked(xml: string, { checksum = crc32(xml), size = xml.length } = {}) {
  const [a, b] = [xml.slice(0, 7), xml.slice(7)];
  const framed = `7\r\n${a}\r\n${b.length.toString(16)}\r\n${b}\r\n0\r\nx-amz-checksum-crc32:${checksum}\r\n\r\n`;
  return {
    body: new TextEncoder().encode(framed),
    payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    headers: {
      "content-encoding": "aws-chunked",
      "x-amz-decoded-content-length": String(size),
      "x-amz-trailer": "x-amz-checksum-crc32",
    },
  };
}

storeTest("S3 XML bodies: chunked ones with a checksum in the trailer are read like any other", async ({ store }) => {
  const origin = store.s3("archive");
  const client = store.client("archive", "curator");
  const key = { Bucket: "campaigns", Key: "k" };
  await client.send(new PutObjectCommand({ ...key, Body: "x" }));
  const exists = () => client.send(new HeadObjectCommand(key)).then(() => true, () => false);
  const xml = "<Delete><Object><Key>k</Key></Object></Delete>";
  const remove = async (sent: ReturnType<typeof chunked>) =>
    codeOf(await signedFetch(origin, { method: "POST", path: "/campaigns", query: "delete=", ...sent }));
  assert.equal(await remove(chunked(xml, { checksum: crc32("other") })), "BadDigest");
  assert.equal(await remove(chunked(xml, { size: xml.length - 1 })), "IncompleteBody");
  assert.equal(await remove(chunked(xml, { size: xml.length + 1 })), "IncompleteBody");
  assert.equal(await exists(), true);
  assert.equal(await remove(chunked(xml)), "none");
  assert.equal(await exists(), false);
});

storeTest("S3 XML: a complete may be chunked; its header's checksum is of the object", async ({ store, client }) => {
  const id = await start(client, "k");
  const { ETag } = await upload(client, "k", id, 1, "body");
  const sent = chunked(
    `<CompleteMultipartUpload><Part><PartNumber> 1\n</PartNumber><ETag>${ETag}</ETag></Part></CompleteMultipartUpload>`,
  );
  const at = { method: "POST", path: "/campaigns/k", query: `uploadId=${id}` };
  // Nothing was asked of this upload, so a checksum of the object cannot hold.
  const ofObject = { ...sent.headers, "x-amz-checksum-crc32": crc32("body") };
  assert.equal(
    await codeOf(await signedFetch(store.s3("archive"), { ...at, ...sent, headers: ofObject })),
    "BadDigest",
  );
  assert.equal(await codeOf(await signedFetch(store.s3("archive"), { ...at, ...sent })), "none");
  assert.equal(new TextDecoder().decode(await read(client, "k")), "body");
});
