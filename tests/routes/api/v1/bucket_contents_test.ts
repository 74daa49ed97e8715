import assert from "node:assert/strict";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

Deno.test("versions: a page is listed with what was asked for", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() =>
      new Response(
        `<ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextKeyMarker>a%2Fb</NextKeyMarker><NextVersionIdMarker>9</NextVersionIdMarker>` +
          `<Version><Key>a%2Fb</Key><VersionId>9</VersionId><IsLatest>true</IsLatest><Size>3</Size></Version>` +
          `<DeleteMarker><Key>c</Key><VersionId>8</VersionId><IsLatest>false</IsLatest></DeleteMarker></ListVersionsResult>`,
      )
    );
    const path = "/api/v1/buckets/b/versions?prefix=a%26&max_keys=2&key_marker=k%20%2B&version_id_marker=7";
    assert.deepEqual(await (await call(path)).json(), {
      versions: [{
        Key: "a/b",
        VersionId: "9",
        IsLatest: true,
        LastModified: null,
        ETag: null,
        Size: 3,
        StorageClass: null,
        Owner: null,
      }],
      delete_markers: [{ Key: "c", VersionId: "8", IsLatest: false, LastModified: null, Owner: null }],
      is_truncated: true,
      next_key_marker: "a/b",
      next_version_id_marker: "9",
      key_count: 2,
    });
    assert.deepEqual(Object.fromEntries(new URL(seen[0].target, "http://x").searchParams), {
      versions: "",
      "max-keys": "2",
      "encoding-type": "url",
      prefix: "a&",
      "key-marker": "k +",
      "version-id-marker": "7",
    });
    for (const query of ["version_id_marker=7", "version_id_marker=7&key_marker="]) {
      await (await call(`/api/v1/buckets/b/versions?${query}`)).body?.cancel();
      assert.ok(!seen[seen.length - 1].target.includes("marker"), "a version alone names no place of a listing");
    }
    for (const query of ["max_keys=1001", "max_keys=-1", "max_keys=x"]) {
      const refused = await call(`/api/v1/buckets/b/versions?${query}`);
      assert.equal(refused.status, 422, query);
      await refused.body?.cancel();
    }
  });
});

Deno.test("uploads: a page is listed with its markers, 1 to 1000 at a time", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() =>
      new Response(
        `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>u2</NextUploadIdMarker>` +
          `<Upload><Key>a</Key><UploadId>u2</UploadId><StorageClass>STANDARD</StorageClass><Initiated>2024-01-01T00:00:00.500Z</Initiated></Upload></ListMultipartUploadsResult>`,
      )
    );
    const page = await call("/api/v1/buckets/b/uploads?prefix=a&max_uploads=1&key_marker=a&upload_id_marker=u1");
    assert.deepEqual(await page.json(), {
      bucket: "b",
      uploads: [{ Key: "a", UploadId: "u2", Initiated: "2024-01-01T00:00:00.500000Z", StorageClass: "STANDARD" }],
      is_truncated: true,
      next_key_marker: "a",
      next_upload_id_marker: "u2",
    });
    assert.deepEqual(Object.fromEntries(new URL(seen[0].target, "http://x").searchParams), {
      uploads: "",
      "max-uploads": "1",
      "encoding-type": "url",
      prefix: "a",
      "key-marker": "a",
      "upload-id-marker": "u1",
    });
    await (await call("/api/v1/buckets/b/uploads")).body?.cancel();
    assert.equal(new URL(seen[1].target, "http://x").searchParams.get("max-uploads"), "1000");
    for (const query of ["max_uploads=0", "max_uploads=1001", "max_uploads=many"]) {
      const refused = await call(`/api/v1/buckets/b/uploads?${query}`);
      assert.equal(refused.status, 422, query);
      assert.deepEqual((await refused.json()).detail[0].loc, ["query", "max_uploads"]);
    }
    answer(() => new Response("<html>"));
    assert.equal((await call("/api/v1/buckets/b/uploads")).status, 502);
    answer(() => s3Error(404, "NoSuchBucket", "gone"));
    assert.equal((await call("/api/v1/buckets/b/uploads")).status, 404);
  });
});
