import assert from "node:assert/strict";
import fc from "fast-check";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

Deno.test("buckets: listed with their owner", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
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
});

Deno.test("buckets: created, taken, badly named", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
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
      const refused = await post({ bucket });
      assert.equal(refused.status, 400);
      await refused.body?.cancel();
    }
    for (const body of [{}, { bucket: "" }, { bucket: 5 }, []]) {
      const refused = await post(body);
      assert.equal(refused.status, 422);
      assert.equal((await refused.json()).detail[0].loc[0], "body");
    }
    assert.equal(seen.length, count);
  });
});

Deno.test("buckets: a region other than the first is named to the store", async () => {
  await withGateway({ gateway: { region: "eu-north-1" } }, async ({ call, answer, seen }) => {
    answer(() => new Response(null));
    await (await call("/api/v1/buckets", { method: "POST", body: '{"bucket":"b"}' })).body?.cancel();
    assert.match(seen[0].body, /<LocationConstraint>eu-north-1<\/LocationConstraint>/);
    assert.equal(seen[0].headers.get("content-length"), String(seen[0].body.length));
  });
});

Deno.test("bucket: HEAD and DELETE answer what the store says", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(null, { status: 204 }));
    assert.equal((await call("/api/v1/buckets/b", { method: "HEAD" })).status, 200);
    const deleted = await call("/api/v1/buckets/b", { method: "DELETE" });
    assert.deepEqual(await deleted.json(), { status: "deleted", bucket: "b" });
    assert.deepEqual(seen.map(({ method }) => method), ["HEAD", "DELETE"]);
    answer(() => s3Error(409, "BucketNotEmpty", "Not empty"));
    const full = await call("/api/v1/buckets/b", { method: "DELETE" });
    assert.equal(full.status, 409);
    await full.body?.cancel();
    for (const status of [403, 404]) {
      answer(() => new Response(null, { status }));
      const head = await call("/api/v1/buckets/b", { method: "HEAD" });
      assert.equal(head.status, status);
      assert.equal(await head.text(), "");
    }
  });
});

Deno.test("objects: a page is listed with what was asked for", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
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
});

Deno.test("objects: start_after begins a listing after any key, and is not sent beside a token", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
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
  });
});
