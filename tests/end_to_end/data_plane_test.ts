import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { EMBEDDED_FORMS } from "@/embedded/store/s3/issued_forms.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { type GatewayClient, logIn, streamDigest } from "./gateway_client.ts";
import { sendParts } from "./part_upload.ts";

const MIB = 1024 * 1024;

const sharedApplication = sharedByFile(
  () => startApplication({ env: STORAGE_ONLY }),
  (application) => application.stop(),
);

async function withBucket(bucket: string, body: (client: GatewayClient) => Promise<void>): Promise<void> {
  const client = await logIn((await sharedApplication()).site, "archive/curator");
  const made = await client.call("POST", "/buckets", { bucket });
  assert.deepEqual([made.status, await made.json()], [201, { status: "created", bucket }]);
  await body(client);
}

const partBytes = (number: number, length: number) => Buffer.alloc(length, `part ${number};`);

Deno.test("whole application: a file goes up in parts, one of them twice, and comes out whole", async () => {
  await withBucket("parts", async (client) => {
    const upload = { bucket: "parts", key: "film/å 1.mkv", sizeBytes: 42 * MIB + 5, partBytes: 5 * MIB, breaksOnce: 3 };
    const { uploadId, parts, broken } = await sendParts(client, { ...upload, bytes: partBytes });
    assert.deepEqual([parts.length, broken], [9, 1]);

    const path = `/buckets/parts/multipart/${upload.key}`;
    const listed = await client.json("GET", `${path}/parts?upload_id=${uploadId}&max_parts=4`);
    assert.ok(Array.isArray(listed.parts));
    assert.deepEqual(listed.parts.map(({ PartNumber, Size, ETag }) => [PartNumber, Size, ETag]), [
      [1, 5 * MIB, parts[0].ETag],
      [2, 5 * MIB, parts[1].ETag],
      [3, 5 * MIB, parts[2].ETag],
      [4, 5 * MIB, parts[3].ETag],
    ]);
    assert.deepEqual([listed.is_truncated, listed.next_part_number_marker], [true, 4]);
    const uploads = await client.json("GET", "/buckets/parts/uploads");
    assert.ok(Array.isArray(uploads.uploads));
    assert.deepEqual(uploads.uploads.map(({ Key, UploadId }) => [Key, UploadId]), [[upload.key, uploadId]]);

    const wrong = await client.call("POST", `${path}/complete`, {
      upload_id: uploadId,
      parts: [{ ...parts[0], ETag: '"00"' }],
    });
    assert.equal(wrong.status, 400, await wrong.text());
    const done = await client.json("POST", `${path}/complete`, { upload_id: uploadId, parts });
    assert.deepEqual([done.bucket, done.key], ["parts", upload.key]);
    const hash = createHash("sha256");
    for (let number = 1; number <= 9; number++) hash.update(partBytes(number, number < 9 ? 5 * MIB : 2 * MIB + 5));
    const read = await client.call("GET", `/buckets/parts/objects/${upload.key}`);
    assert.equal(read.headers.get("etag"), done.etag);
    assert.deepEqual(await streamDigest(read.body), { digest: hash.digest("hex"), size: upload.sizeBytes });

    const dropped = await sendParts(client, {
      ...upload,
      key: "dropped",
      sizeBytes: MIB,
      breaksOnce: 0,
      bytes: partBytes,
    });
    const abort = () => client.call("POST", "/buckets/parts/multipart/dropped/abort", { upload_id: dropped.uploadId });
    assert.deepEqual(await (await abort()).json(), { status: "aborted" });
    const again = await abort();
    assert.equal(again.status, 404, await again.text());
    assert.deepEqual((await client.json("GET", "/buckets/parts/uploads")).uploads, []);
    assert.equal((await client.call("HEAD", "/buckets/parts/objects/dropped")).status, 404);
  });
});

Deno.test("whole application: versions, copies, folders, bulk work and a forced delete", async () => {
  await withBucket("work", async (client) => {
    const put = async (key: string, body: string, headers?: Record<string, string>) => {
      const answer = await client.call("PUT", `/buckets/work/objects/${encodeURIComponent(key)}`, body, headers);
      assert.equal(answer.status, 200, await answer.text());
    };
    assert.deepEqual((await client.json("GET", "/buckets/work/versioning")).mfa_delete, null);
    assert.deepEqual(await client.json("PUT", "/buckets/work/versioning", { status: "enabled" }), {
      status: "updated",
      versioning: "Enabled",
    });
    assert.equal((await client.json("GET", "/buckets/work/versioning")).status, "Enabled");

    await put("a & <b>/å\r.txt", "one", { "content-type": "text/plain", "x-amz-meta-page": "7" });
    await put("a & <b>/å\r.txt", "two", { "content-type": "text/plain", "x-amz-meta-page": "8" });
    const copied = await client.json("POST", "/buckets/work/objects/copies/x/copy", {
      source_bucket: "work",
      source_key: "a & <b>/å\r.txt",
    });
    assert.deepEqual(copied, { status: "copied", bucket: "work", key: "copies/x" });
    const head = await client.call("HEAD", "/buckets/work/objects/copies/x");
    assert.deepEqual([head.headers.get("content-type"), head.headers.get("x-amz-meta-page")], ["text/plain", "8"]);
    const absent = await client.call("POST", "/buckets/work/objects/y/copy", {
      source_bucket: "work",
      source_key: "no",
    });
    assert.equal(absent.status, 404, await absent.text());
    const folder = await client.call("POST", "/buckets/work/objects/folder", { folder_name: "empty" });
    assert.deepEqual([folder.status, await folder.json()], [201, { bucket: "work", key: "empty/", status: "created" }]);

    const grouped = await client.json("GET", "/buckets/work/objects?prefix=&delimiter=/");
    assert.deepEqual([grouped.objects, grouped.common_prefixes], [[], ["a & <b>/", "copies/", "empty/"]]);

    const links = await client.json("POST", "/buckets/work/objects/presign", { keys: ["a & <b>/å\r.txt", "copies/x"] });
    assert.ok(Array.isArray(links.urls));
    for (const { url } of links.urls) assert.equal(await (await fetch(url)).text(), "two");

    const deleted = await client.json("POST", "/buckets/work/objects/delete", {
      keys: ["a & <b>/å\r.txt", "never there"],
      prefix: "copies/",
    });
    assert.deepEqual(deleted, { status: "deleted", deleted: 3, errors: [] });
    const versions = await client.json("GET", "/buckets/work/versions?prefix=a");
    assert.ok(Array.isArray(versions.versions) && Array.isArray(versions.delete_markers));
    assert.deepEqual(versions.versions.map(({ Key, Size, IsLatest }) => [Key, Size, IsLatest]), [
      ["a & <b>/å\r.txt", 3, false],
      ["a & <b>/å\r.txt", 3, false],
    ]);
    assert.deepEqual(versions.delete_markers.map(({ IsLatest }) => IsLatest), [true]);
    assert.equal(versions.key_count, 3);
    const first = await client.json("GET", "/buckets/work/versions?max_keys=1");
    assert.equal(first.is_truncated, true);
    const rest = await client.json(
      "GET",
      `/buckets/work/versions?key_marker=${
        encodeURIComponent(String(first.next_key_marker))
      }&version_id_marker=${first.next_version_id_marker}`,
    );
    // The key that was never there has a marker: a bulk deletion does not look first.
    assert.equal(Number(first.key_count) + Number(rest.key_count), 3 + 2 + 1 + 1, "nothing twice, nothing left out");
    assert.deepEqual([rest.next_key_marker, rest.next_version_id_marker], [null, null]);

    const path = "/buckets/work/objects?max_keys=1";
    const { next_continuation_token: token } = await client.json("GET", path);
    assert.match(String(token), new RegExp(EMBEDDED_FORMS.continuationToken));
    assert.match(String(first.next_version_id_marker), new RegExp(EMBEDDED_FORMS.versionIdMarker));
    assert.match(String(versions.versions[0].VersionId), new RegExp(EMBEDDED_FORMS.versionId));
    for (const [text, status] of [["", 200], ["YWI", 200], ["YWJj", 200], ["YWJ", 400], ["YWI=", 400], ["a", 400]]) {
      const page = await client.call("GET", `${path}&continuation_token=${text}`);
      assert.equal(page.status, status, await page.text());
      assert.equal(new RegExp(EMBEDDED_FORMS.continuationToken).test(String(text)), status === 200);
    }

    const nothing = await client.call("DELETE", "/buckets/work/objects/absent");
    assert.equal(nothing.status, 404, await nothing.text());
    const unmarked = await client.json("GET", "/buckets/work/versions?prefix=absent");
    assert.equal(unmarked.key_count, 0, "what was not there gets no marker from the gateway");
    for (const ETag of ["x", '"abc"', "0".repeat(32)]) {
      const complete = { upload_id: "unknown", parts: [{ PartNumber: 1, ETag }] };
      const unknown = await client.call("POST", "/buckets/work/multipart/left/complete", complete);
      assert.equal(unknown.status, 404, await unknown.text());
    }

    const begun = await client.call("POST", "/buckets/work/multipart/left");
    assert.equal(begun.status, 201, await begun.text());
    const full = await client.call("DELETE", "/buckets/work");
    assert.equal(full.status, 409, await full.text());
    assert.deepEqual(await client.json("DELETE", "/buckets/work?force=true"), { status: "deleted", bucket: "work" });
    assert.equal((await client.call("HEAD", "/buckets/work")).status, 404);
    const gone = await client.call("DELETE", "/buckets/work?force=true");
    assert.equal(gone.status, 404, await gone.text());
  });
});
