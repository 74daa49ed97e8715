import fc from "fast-check";
import assert from "node:assert/strict";
import { gatewayTest, s3Error } from "@/tests/routes/gateway_fixture.ts";

gatewayTest("buckets: listed with their owner", async ({ call, answer, seen }) => {
  answer(() =>
    new Response(
      `<ListAllMyBucketsResult><Owner><ID>i</ID></Owner><Buckets><Bucket><Name>a</Name><CreationDate>2024-01-01T00:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>`,
    )
  );
  const response = await call("/api/v1/buckets");
  assert.deepEqual(await response.json(), {
    buckets: [{ Name: "a", CreationDate: "2024-01-01T00:00:00Z" }],
    owner: { DisplayName: null, ID: "i" },
  });
  assert.equal(seen[0].target, "/");
  assert.equal(response.headers.get("cache-control"), "private, no-store");
});

gatewayTest("buckets: created, taken, badly named", async ({ call, answer, seen }) => {
  answer(() => new Response(null));
  const post = (body: unknown) => call("/api/v1/buckets", { method: "POST", body: JSON.stringify(body) });
  const created = await post({ bucket: "new-bucket" });
  assert.equal(created.status, 201);
  assert.deepEqual(await created.json(), { status: "created", bucket: "new-bucket" });
  assert.deepEqual([seen[0].method, seen[0].target, seen[0].headers.get("content-length")], [
    "PUT",
    "/new-bucket",
    "0",
  ]);
  answer(() => s3Error(409, "BucketAlreadyOwnedByYou", "Yours"));
  const taken = await post({ bucket: "new-bucket" });
  assert.equal(taken.status, 409);
  assert.deepEqual(await taken.json(), { detail: "bucket 'new-bucket': Yours" });
  const count = seen.length;
  for (const bucket of ["..", "a/b", "\ud800"]) {
    assert.equal((await post({ bucket })).status, 400);
  }
  for (const body of [{}, { bucket: "" }, { bucket: 5 }, []]) {
    const refused = await post(body);
    assert.equal(refused.status, 422);
    assert.equal((await refused.json()).detail[0].loc[0], "body");
  }
  assert.equal(seen.length, count);
});

gatewayTest("buckets: a region other than the first is named to the store", async ({ call, answer, seen }) => {
  answer(() => new Response(null));
  await (await call("/api/v1/buckets", { method: "POST", body: '{"bucket":"b"}' })).body?.cancel();
  assert.match(seen[0].body, /<LocationConstraint>eu-north-1<\/LocationConstraint>/);
  assert.equal(seen[0].headers.get("content-length"), String(seen[0].body.length));
}, { gateway: { region: "eu-north-1" } });

gatewayTest("bucket: HEAD and DELETE answer what the store says", async ({ call, answer, seen }) => {
  answer(() => new Response(null, { status: 204 }));
  assert.equal((await call("/api/v1/buckets/b", { method: "HEAD" })).status, 200);
  const deleted = await call("/api/v1/buckets/b", { method: "DELETE" });
  assert.deepEqual(await deleted.json(), { status: "deleted", bucket: "b" });
  assert.deepEqual(seen.map(({ method }) => method), ["HEAD", "DELETE"]);
  answer(() => s3Error(409, "BucketNotEmpty", "Not empty"));
  assert.equal((await call("/api/v1/buckets/b", { method: "DELETE" })).status, 409);
  for (const status of [403, 404]) {
    answer(() => new Response(null, { status }));
    const head = await call("/api/v1/buckets/b", { method: "HEAD" });
    assert.equal(head.status, status);
    assert.equal(await head.text(), "");
  }
});

gatewayTest("objects: a page is listed with what was asked for", async ({ call, answer, seen }) => {
  answer(() =>
    new Response(
      `<ListBucketResult><EncodingType>url</EncodingType><KeyCount>2</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>` +
        `<Contents><Key>a%2Fb+c</Key><Size>3</Size></Contents><CommonPrefixes><Prefix>d%2F</Prefix></CommonPrefixes></ListBucketResult>`,
    )
  );
  const response = await call(
    "/api/v1/buckets/b/objects?prefix=a%20%2B&delimiter=/&max_keys=2&continuation_token=t%26",
  );
  assert.deepEqual(await response.json(), {
    objects: [{ Key: "a/b c", Size: 3, LastModified: null, ETag: null, StorageClass: null, Owner: null }],
    common_prefixes: ["d/"],
    is_truncated: true,
    next_continuation_token: "n",
    key_count: 2,
  });
  const { searchParams, pathname } = new URL(seen[0].target, "http://x");
  assert.equal(pathname, "/b");
  assert.deepEqual(Object.fromEntries(searchParams), {
    "list-type": "2",
    "max-keys": "2",
    "fetch-owner": "true",
    "encoding-type": "url",
    prefix: "a +",
    delimiter: "/",
    "continuation-token": "t&",
  });
  for (const query of ["max_keys=1001", "max_keys=-1", "max_keys=x", "max_keys=1e2"]) {
    const refused = await call(`/api/v1/buckets/b/objects?${query}`);
    assert.equal(refused.status, 422, query);
    assert.deepEqual((await refused.json()).detail[0].loc, ["query", "max_keys"]);
  }
  answer(() => s3Error(404, "NoSuchBucket", "The specified bucket does not exist"));
  const gone = await call("/api/v1/buckets/nob/objects");
  assert.deepEqual(await gone.json(), { detail: "bucket 'nob': The specified bucket does not exist" });
});

gatewayTest(
  "objects: start_after begins a listing after any key, and is not sent beside a token",
  async ({ call, answer, seen }) => {
    answer(() => new Response("<ListBucketResult/>"));
    const sent = async (query: URLSearchParams) => {
      const response = await call(`/api/v1/buckets/b/objects?${query}`);
      assert.equal(response.status, 200, await response.text());
      return new URL(seen[seen.length - 1].target, "http://x").searchParams;
    };
    const key = fc.string({ unit: "binary", minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(key, async (start_after) => {
        assert.equal((await sent(new URLSearchParams({ start_after }))).get("start-after"), start_after);
      }),
      { numRuns: 50 },
    );
    assert.equal((await sent(new URLSearchParams({ start_after: "" }))).get("start-after"), null);
    assert.equal(
      (await sent(new URLSearchParams({ start_after: "a", continuation_token: "" }))).get("start-after"),
      "a",
    );
    const both = await sent(new URLSearchParams({ start_after: "a", continuation_token: "t" }));
    assert.deepEqual([both.get("start-after"), both.get("continuation-token")], [null, "t"]);
  },
);

gatewayTest("versions: a page is listed with what was asked for", async ({ call, answer, seen }) => {
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
    assert.equal((await call(`/api/v1/buckets/b/versions?${query}`)).status, 422, query);
  }
});

gatewayTest("uploads: a page is listed with its markers, 1 to 1000 at a time", async ({ call, answer, seen }) => {
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

gatewayTest(
  "buckets: a store's own word for too many of them is 400, under whatever status it says it",
  async ({ call, answer }) => {
    for (const status of [400, 409, 500]) {
      answer(() => s3Error(status, "TooManyBuckets", "You have attempted to create more buckets than allowed"));
      const response = await call("/api/v1/buckets", { method: "POST", body: '{"bucket":"notes"}' });
      assert.equal(response.status, 400);
      assert.deepEqual(await response.json(), {
        detail: "bucket 'notes': You have attempted to create more buckets than allowed",
      });
    }
  },
);

gatewayTest(
  "force delete: over HTTP, with the caller's own credentials at both protocols",
  async ({ call, answer, seen }) => {
    answer((request, { target }) => {
      if (target.includes("uploads")) return new Response("<ListMultipartUploadsResult/>");
      if (target.includes("versions")) return new Response("<ListVersionsResult/>");
      if (target.includes("list-type")) return new Response("<ListBucketResult/>");
      if (target.startsWith("/mapi/")) return new Response(null);
      return request.method === "DELETE" ? s3Error(409, "BucketNotEmpty", "records") : new Response(null);
    });
    const deleted = await call("/api/v1/buckets/b?force=true", { method: "DELETE" });
    assert.deepEqual([deleted.status, await deleted.json()], [200, { status: "deleted", bucket: "b" }]);
    const mapi = seen.filter(({ target }) => target.startsWith("/mapi/"));
    assert.deepEqual(mapi.map(({ method, target, body }) => [method, target, body]), [
      [
        "POST",
        "/mapi/tenants/archive/namespaces/b/versioningSettings",
        '{"keepDeletionRecords":false,"prune":true,"pruneDays":0}',
      ],
      ["POST", "/mapi/tenants/archive/namespaces/b", '{"searchEnabled":false}'],
      ["DELETE", "/mapi/tenants/archive/namespaces/b", ""],
    ]);
    assert.equal(mapi[0].headers.get("authorization"), "HCP Y3VyYXRvcg==:2a9d119df47ff993b662a8ef36f9ea20");
    seen.length = 0;
    const plain = await call("/api/v1/buckets/b?force=false", { method: "DELETE" });
    assert.deepEqual([plain.status, await plain.json()], [409, { detail: "bucket 'b': records" }]);
    assert.equal(seen.length, 1, "without force nothing is removed");
    assert.equal((await call("/api/v1/buckets/b?force=perhaps", { method: "DELETE" })).status, 422);
  },
);
