import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { startApplication } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { logIn, madeDigest, putMade, residentBytes, streamDigest } from "./gateway_client.ts";

const SIZE = 300 * 1024 * 1024;
const shared = sharedByFile(startApplication, async (application) => {
  const { code } = await application.stop();
  assert.equal(code, 0);
});
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

Deno.test({
  name: "whole application: 300 MiB go in by both ways and come out the same, in bounded memory",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const application = await shared();
    const curator = await logIn(application.site, "archive/curator");
    const made = await curator.call("PUT", "/mapi/tenants/archive/namespaces", { name: "scans", hardQuota: "2 GB" });
    assert.equal(made.status, 201);
    assert.deepEqual(await made.json(), { status: "created", name: "scans" });
    const { buckets } = await curator.json("GET", "/buckets");
    assert.ok(Array.isArray(buckets) && buckets.some(({ Name }) => Name === "scans"));

    const small = await putMade(
      `${curator.base}/buckets/scans/objects/warm`,
      { authorization: curator.authorization },
      1024,
      0,
    );
    assert.equal(small.status, 200, small.text);
    const before = residentBytes(application.pid);
    let highest = before;
    const measure = () => {
      highest = Math.max(highest, residentBytes(application.pid));
    };

    const presigned = await curator.json("POST", "/presign", {
      bucket: "scans",
      key: "länk/A 1+2.tif",
      method: "put_object",
      expires_in: 600,
    });
    const byLink = await putMade(String(presigned.url), {}, SIZE, 1, measure);
    assert.equal(byLink.status, 200, byLink.text);
    const through = await putMade(
      `${curator.base}/buckets/scans/objects/${encodeURIComponent("genom/A 50%.tif")}`,
      { authorization: curator.authorization, "content-type": "image/tiff" },
      SIZE,
      2,
      measure,
    );
    assert.equal(through.status, 200, through.text);

    const listed = await curator.json("GET", "/buckets/scans/objects?prefix=");
    assert.ok(Array.isArray(listed.objects));
    assert.deepEqual(listed.objects.map(({ Key, Size }) => [Key, Size]), [
      ["genom/A 50%.tif", SIZE],
      ["länk/A 1+2.tif", SIZE],
      ["warm", 1024],
    ]);

    const download = await curator.call("GET", `/buckets/scans/objects/${encodeURIComponent("länk/A 1+2.tif")}`);
    assert.equal(download.status, 200);
    assert.deepEqual(await streamDigest(download.body), { digest: madeDigest(SIZE, 1), size: SIZE });
    measure();
    const growth = highest - before;
    assert.ok(growth < MAX_GROWTH_BYTES, `memory grew by ${Math.round(growth / 2 ** 20)} MiB`);

    const keys = await curator.json("GET", "/credentials");
    const client = new S3Client({
      endpoint: String(keys.endpoint_url),
      region: "us-east-1",
      forcePathStyle: true,
      credentials: {
        accessKeyId: String(keys.access_key_id),
        secretAccessKey: String(keys.secret_access_key),
      },
    });
    const { KeyCount } = await client.send(new ListObjectsV2Command({ Bucket: "scans", Prefix: "genom/" }));
    assert.equal(KeyCount, 1);
    const { Body, ContentType } = await client.send(
      new GetObjectCommand({ Bucket: "scans", Key: "genom/A 50%.tif" }),
    );
    assert.equal(ContentType, "image/tiff");
    const stream = Body?.transformToWebStream() as AsyncIterable<Uint8Array>;
    assert.deepEqual(await streamDigest(stream), { digest: madeDigest(SIZE, 2), size: SIZE });
  },
});

Deno.test("whole application: reader is refused what it may not touch", async () => {
  const application = await shared();
  const reader = await logIn(application.site, "archive/reader");
  const { buckets } = await reader.json("GET", "/buckets");
  assert.ok(Array.isArray(buckets));
  assert.deepEqual(buckets.map(({ Name }) => Name), ["campaigns"]);
  const refused: [string, string, unknown?][] = [
    ["GET", "/buckets/letters/objects"],
    ["HEAD", "/buckets/maps"],
    ["GET", `/buckets/letters/objects/${encodeURIComponent("1794/Åbo, 3 maj.txt")}`],
    ["PUT", "/buckets/campaigns/objects/x", "x"],
    ["POST", "/buckets", { bucket: "mine" }],
    ["DELETE", "/buckets/campaigns"],
    ["PUT", "/mapi/tenants/archive/namespaces", { name: "mine" }],
    ["GET", "/mapi/tenants"],
  ];
  for (const [method, path, body] of refused) {
    const answer = await reader.call(method, path, body);
    assert.equal(answer.status, 403, `${method} ${path}`);
    await answer.body?.cancel();
  }
  const stranger = await logIn(application.site, "archive/reader", "not-the-password");
  assert.equal((await stranger.call("HEAD", "/buckets/campaigns")).status, 403);
  const list = await stranger.call("GET", "/buckets");
  assert.equal(list.status, 401);
  await list.body?.cancel();
});
