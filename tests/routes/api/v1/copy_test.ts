import assert from "node:assert/strict";
import { CONDITION_TABLES } from "@/lib/s3/store_kind.ts";
import { gatewayTest, s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

const GIB = 1024 ** 3;
const COPIED = '<CopyObjectResult><ETag>"e"</ETag></CopyObjectResult>';
const body = JSON.stringify({ source_bucket: "from", source_key: "a b/å?.txt" });
const path = "/api/v1/buckets/to/objects/c%20d/copy";

gatewayTest("copy: the store copies, with the metadata; the answer names the copy", async ({ call, answer, seen }) => {
  answer((request) => new Response(request.method === "HEAD" ? null : COPIED, { headers: { "x-amz-meta-a": "1" } }));
  const response = await call(path, { method: "POST", body });
  assert.deepEqual(await response.json(), { status: "copied", bucket: "to", key: "c d" });
  assert.deepEqual(seen.map(({ method, target }) => [method, target]), [
    ["HEAD", "/from/a%20b/%C3%A5%3F.txt"],
    ["PUT", "/to/c%20d"],
  ]);
  assert.equal(seen[1].headers.get("x-amz-copy-source"), "/from/a%20b/%C3%A5%3F.txt");
  assert.equal(seen[1].headers.get("x-amz-metadata-directive"), "COPY");
  answer(() => new Response(null, { status: 404 }));
  const missing = await call(path, { method: "POST", body });
  assert.deepEqual([missing.status, await missing.json()], [404, { detail: "object 'a b/å?.txt': Not Found" }]);
  answer((request) =>
    request.method === "HEAD" ? new Response(null) : s3Error(200, "InternalError", "We failed half way")
  );
  const failed = await call(path, { method: "POST", body });
  assert.deepEqual([failed.status, await failed.json()], [502, { detail: "object 'c d': We failed half way" }]);
  for (const bad of [{}, { source_bucket: "b" }, { source_bucket: "", source_key: "k" }]) {
    assert.equal((await call(path, { method: "POST", body: JSON.stringify(bad) })).status, 422);
  }
});

/** A store whose source is so large that it goes by parts. */
function largeSource(size: number, part: (number: number, tries: number) => Response) {
  const tries = new Map<number, number>();
  return (request: Request, { target }: { target: string }) => {
    const { searchParams } = new URL(target, "http://x");
    if (request.method === "HEAD") {
      return new Response(null, {
        headers: { "content-length": String(size), etag: '"src"', "content-type": "image/tiff", "x-amz-meta-a": "1" },
      });
    }
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    if (searchParams.has("uploads")) {
      return new Response("<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>");
    }
    if (request.method === "POST") {
      return new Response('<CompleteMultipartUploadResult><ETag>"m-2"</ETag></CompleteMultipartUploadResult>');
    }
    const number = Number(searchParams.get("partNumber"));
    tries.set(number, (tries.get(number) ?? 0) + 1);
    return part(number, tries.get(number) ?? 0);
  };
}

gatewayTest(
  "copy: above 5 GiB part by part, each tried again, metadata kept, the ranges without gap",
  async ({ call, answer, seen }) => {
    const size = 5 * GIB + 1;
    answer(
      largeSource(
        size,
        (number, tries) =>
          number === 3 && tries === 1
            ? s3Error(503, "SlowDown", "later")
            : new Response(`<CopyPartResult><ETag>"p${number}"</ETag></CopyPartResult>`),
      ),
    );
    const response = await call(path, { method: "POST", body });
    assert.deepEqual([response.status, await response.json()], [200, { status: "copied", bucket: "to", key: "c d" }]);
    const begun = seen[1];
    assert.deepEqual([begun.method, begun.target], ["POST", "/to/c%20d?uploads="]);
    assert.deepEqual([begun.headers.get("content-type"), begun.headers.get("x-amz-meta-a")], ["image/tiff", "1"]);
    const parts = seen.filter(({ method }) => method === "PUT");
    assert.equal(parts.length, 12, "eleven parts, one of them twice");
    const ranges = new Map(parts.map(({ target, headers }) => {
      assert.equal(headers.get("x-amz-copy-source-if-match"), '"src"');
      const [from, to] = (headers.get("x-amz-copy-source-range") ?? "").replace("bytes=", "").split("-").map(Number);
      return [Number(new URL(target, "http://x").searchParams.get("partNumber")), { from, to }];
    }));
    let next = 0;
    for (let number = 1; number <= 11; number++) {
      assert.equal(ranges.get(number)?.from, next);
      next = (ranges.get(number)?.to ?? 0) + 1;
    }
    assert.equal(next, size);
    const completion = seen[seen.length - 1];
    assert.equal(completion.target, "/to/c%20d?uploadId=u%2F1");
    assert.match(
      completion.body,
      /<Part><ETag>&quot;p1&quot;<\/ETag><PartNumber>1<\/PartNumber><\/Part>.*<PartNumber>11</,
    );
  },
);

gatewayTest("copy: a part that fails aborts the upload and is the answer", async ({ call, answer, seen }) => {
  answer(
    largeSource(
      6 * GIB,
      (number) =>
        number === 2
          ? s3Error(412, "PreconditionFailed", "changed")
          : new Response(`<CopyPartResult><ETag>"p${number}"</ETag></CopyPartResult>`),
    ),
  );
  const response = await call(path, { method: "POST", body });
  assert.deepEqual([response.status, await response.json()], [412, { detail: "object 'c d' part 2: changed" }]);
  const last = seen[seen.length - 1];
  assert.deepEqual([last.method, last.target], ["DELETE", "/to/c%20d?uploadId=u%2F1"]);
  assert.ok(!seen.some(({ method, target }) => method === "POST" && target.includes("uploadId")));
});

gatewayTest("copy: a client that goes in the middle leaves no upload behind", async ({ call, answer }) => {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<string>();
  const store = largeSource(6 * GIB, () => new Response(null, { status: 599 }));
  answer(async (request, seen) => {
    if (request.method === "DELETE") aborted.resolve(seen.target);
    if (request.method === "PUT") {
      started.resolve();
      await aborted.promise;
    }
    return store(request, seen);
  });
  const client = new AbortController();
  const left = assert.rejects(call(path, { method: "POST", body, signal: client.signal }));
  await started.promise;
  client.abort();
  assert.equal(await aborted.promise, "/to/c%20d?uploadId=u%2F1");
  await left;
});

gatewayTest(
  "copy: above 5 GiB its conditions are those of the completion and of each part",
  async ({ call, answer, seen }) => {
    const store = largeSource(6 * GIB, () => new Response('<CopyPartResult><ETag>"p"</ETag></CopyPartResult>'));
    answer((request, given) => {
      const { pathname } = new URL(given.target, "http://x");
      if (request.method === "HEAD" && pathname === "/to/c%20d") return new Response(null, { status: 404 });
      return request.headers.has("if-none-match")
        ? s3Error(412, "PreconditionFailed", "appeared")
        : store(request, given);
    });
    const copy = async (headers: Record<string, string>) => {
      const response = await call(path, { method: "POST", body, headers });
      return [response.status, await response.text()] as const;
    };
    const source = { "x-amz-copy-source-if-match": '"other", "src"' };
    const [status, text] = await copy({ ...source, "If-None-Match": '"x"' });
    assert.deepEqual([status, text.includes("appeared")], [412, true]);
    const last = seen[seen.length - 1];
    assert.deepEqual([last.method, last.target], ["DELETE", "/to/c%20d?uploadId=u%2F1"], "the upload is aborted");
    const parts = seen.filter(({ method }) => method === "PUT");
    assert.ok(parts.length > 0 && parts.every(({ headers }) => headers.get("x-amz-copy-source-if-match") === '"src"'));
    assert.equal((await copy(source))[0], 200);
    assert.equal((await copy({ "x-amz-copy-source-if-match": '"other"' }))[0], 412);
  },
);

Deno.test("folder: an empty object whose key ends with one slash; one that exists is never written", async () => {
  const conditions = [() => Promise.resolve(CONDITION_TABLES.embedded), () => Promise.resolve(null)];
  for (const [isUnguarded, support] of conditions.entries()) {
    await withGateway({ gateway: { conditions: support } }, async ({ call, answer, seen }) => {
      const post = async (folder_name: unknown) => {
        const body = JSON.stringify({ folder_name });
        const response = await call("/api/v1/buckets/b/objects/folder", { method: "POST", body });
        return [response.status, await response.json()];
      };
      const written = () => seen.filter(({ method }) => method === "PUT");
      answer(({ method }) => new Response(null, { status: method === "HEAD" ? 404 : 200 }));
      for (const [name, key] of [["x", "x/"], ["x/", "x/"], ["a/b å", "a/b å/"]]) {
        assert.deepEqual(await post(name), [201, { bucket: "b", key, status: "created" }]);
      }
      const [, , { target, headers }] = written();
      assert.deepEqual([target, headers.get("content-length")], ["/b/a/b%20%C3%A5/", "0"]);
      assert.equal(headers.get("if-none-match"), isUnguarded ? null : "*");
      for (const name of ["", "/", "//", null, 1]) assert.equal((await post(name))[0], 422, String(name));
      answer(({ method }) =>
        method === "HEAD" ? new Response(null, { status: 404 }) : s3Error(404, "NoSuchBucket", "gone")
      );
      assert.deepEqual((await post("x"))[1], { detail: "folder 'x/': gone" });

      const before = written().length;
      const marker = (bytes: number) =>
        new Response(null, { headers: { "content-length": String(bytes), etag: '"m"' } });
      answer(() => marker(0));
      assert.equal((await post("x"))[0], 201);
      answer(() => marker(3));
      assert.deepEqual(await post("x"), [409, { detail: "folder 'x/': an object with bytes has this key" }]);
      answer(({ method }) => method === "HEAD" ? new Response(null, { status: 403 }) : new Response(null));
      assert.equal((await post("x"))[0], isUnguarded ? 403 : 201, "a caller who may not read");
      assert.equal(written().length, isUnguarded ? before : before + 1);
      for (const [bytes, status] of [[0, 201], [3, 409]]) {
        let looks = 0;
        answer(({ method }) =>
          method !== "HEAD"
            ? s3Error(412, "PreconditionFailed", "appeared")
            : looks++ === 0
            ? new Response(null, { status: 404 })
            : marker(bytes)
        );
        assert.equal((await post("x"))[0], status, "it appears meanwhile");
      }
      answer(({ method, headers }) =>
        method === "HEAD"
          ? new Response(null, { status: 404 })
          : headers.has("if-none-match")
          ? s3Error(412, "PreconditionFailed", "a delete marker")
          : new Response()
      );
      assert.equal((await post("x"))[0], 201);
    });
  }
});
