import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { MAX_FORM_PART_BYTES, UPLOAD_SIZES } from "@/lib/s3/upload/object_upload.ts";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

const MIB = 1024 * 1024;
const BEGUN = "<InitiateMultipartUploadResult><UploadId>u/1+2</UploadId></InitiateMultipartUploadResult>";
const KEY = "/api/v1/buckets/b/multipart/d/film%20%C3%A5";
const TARGET = "/b/d/film%20%C3%A5";

Deno.test("multipart: begun with the headers of the object to be", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(BEGUN));
    const headers = { "content-type": "video/mp4", "x-amz-meta-a": "1" };
    const begun = await call(KEY, { method: "POST", headers });
    assert.deepEqual([begun.status, await begun.json()], [201, { bucket: "b", key: "d/film å", upload_id: "u/1+2" }]);
    assert.deepEqual([seen[0].method, seen[0].target], ["POST", `${TARGET}?uploads=`]);
    assert.deepEqual([seen[0].headers.get("content-type"), seen[0].headers.get("x-amz-meta-a")], ["video/mp4", "1"]);
    await (await call(KEY, { method: "POST", headers: { "content-type": "application/json" } })).body?.cancel();
    assert.equal(seen[1].headers.get("content-type"), null, "JSON is what clients say without meaning it");
    await (await call("/api/v1/buckets/b/multipart/x/abort?as=object", { method: "POST" })).body?.cancel();
    assert.equal(seen[2].target, "/b/x/abort?uploads=");
    answer(() => new Response("<InitiateMultipartUploadResult/>"));
    assert.equal((await call(KEY, { method: "POST" })).status, 502);
    assert.equal((await call(KEY, { method: "DELETE" })).status, 405);
  });
});

Deno.test("multipart: URLs of the parts, of a new upload or of one that is named", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(BEGUN));
    const post = async (body: unknown) => {
      const response = await call(`${KEY}/presign`, { method: "POST", body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    };
    const { body } = await post({ file_size: 75 * MIB });
    const { urls, ...rest } = body;
    assert.deepEqual(rest, {
      bucket: "b",
      key: "d/film å",
      upload_id: "u/1+2",
      part_size: 25 * MIB,
      total_parts: 3,
      expires_in: 3600,
    });
    assert.equal(seen.length, 1);
    assert.deepEqual(urls.map(({ part_number }: { part_number: number }) => part_number), [1, 2, 3]);
    assert.ok(urls[2].url.startsWith(`https://share.example.org${TARGET}?uploadId=u%2F1%2B2&partNumber=3&X-Amz-`));

    const named = await post({ file_size: 50 * MIB + 1, part_size: 50 * MIB, upload_id: "mine", validity: 604_800 });
    assert.deepEqual([named.body.upload_id, named.body.total_parts, named.body.expires_in], ["mine", 2, 604_800]);
    assert.equal(seen.length, 1, "no new upload");

    const over = await post({ file_size: 50_000 * MIB + 1, part_size: 5 * MIB });
    assert.equal(over.status, 400);
    assert.equal(
      over.body.detail,
      "Too many parts (10001). Increase part_size or reduce file_size. S3 maximum is 10,000 parts.",
    );
    assert.equal(
      (await post({ file_size: 50_000 * MIB, part_size: 5 * MIB, upload_id: "u" })).body.urls.length,
      10_000,
    );
    for (
      const bad of [
        {},
        { file_size: 0 },
        { file_size: 1.5 },
        { file_size: 1, part_size: 5 * MIB - 1 },
        {
          file_size: 1,
          part_size: 5 * 1024 * MIB + 1,
        },
        { file_size: 1, expires_in: 0 },
        { file_size: 1, expires_in: 604_801 },
      ]
    ) {
      assert.equal((await post(bad)).status, 422, JSON.stringify(bad));
    }
    const dots = await call("/api/v1/buckets/b/multipart/a%2F..%2Fb/presign", {
      method: "POST",
      body: '{"file_size":1}',
    });
    assert.equal(dots.status, 400, "no URL could carry the key");
    await dots.body?.cancel();
    assert.equal(seen.length, 1, "no upload is begun for a refusal");
  });
});

Deno.test("multipart: a key or an upload id that ten thousand URLs would repeat without bound is 422 by its name", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(BEGUN));
    const presign = async (key: string, upload_id: string) => {
      const body = JSON.stringify({ file_size: 50_000 * MIB, part_size: 5 * MIB, upload_id });
      const response = await call(`/api/v1/buckets/b/multipart/${key}/presign`, { method: "POST", body });
      return { status: response.status, body: await response.json() };
    };
    const longest = await presign("%C3%A5".repeat(512), "+".repeat(1024));
    assert.deepEqual([longest.status, longest.body.urls.length], [200, 10_000]);
    const key = await presign("k".repeat(1025), "u");
    assert.deepEqual([key.status, key.body.detail[0].loc], [422, ["path", "key"]]);
    const id = await presign("k", "u".repeat(1025));
    assert.deepEqual([id.status, id.body.detail[0].loc], [422, ["body", "upload_id"]]);
    assert.equal(seen.length, 0);
  });
});

Deno.test("multipart: completed with the parts in the order given; an error under status 200 is an error", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() =>
      new Response("\n \n<CompleteMultipartUploadResult><ETag>&quot;e-2&quot;</ETag></CompleteMultipartUploadResult>")
    );
    const post = (body: unknown) => call(`${KEY}/complete`, { method: "POST", body: JSON.stringify(body) });
    const parts = [{ ETag: '"b"', PartNumber: 2 }, { ETag: "a", PartNumber: 1 }];
    const done = await post({ upload_id: "u&1", parts });
    assert.deepEqual([done.status, await done.json()], [200, { bucket: "b", key: "d/film å", etag: '"e-2"' }]);
    assert.deepEqual([seen[0].method, seen[0].target], ["POST", `${TARGET}?uploadId=u%261`]);
    assert.equal(
      seen[0].body,
      '<?xml version="1.0" encoding="UTF-8"?><CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
        "<Part><ETag>&quot;b&quot;</ETag><PartNumber>2</PartNumber></Part><Part><ETag>a</ETag><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>",
    );
    for (
      const [status, code, expected] of [
        [200, "InvalidPart", 400],
        [200, "EntityTooSmall", 400],
        [200, "PreconditionFailed", 412],
        [200, "OperationAborted", 409],
        [200, "InternalError", 502],
        [400, "InvalidPartOrder", 400],
        [404, "NoSuchUpload", 404],
      ] as const
    ) {
      answer(() => s3Error(status, code, "why"));
      const failed = await post({ upload_id: "u", parts });
      assert.deepEqual([failed.status, await failed.json()], [expected, { detail: "object 'd/film å': why" }], code);
    }
    const sent = seen.length;
    for (
      const bad of [
        { parts },
        { upload_id: "u" },
        { upload_id: "u", parts: [] },
        { upload_id: "", parts },
        {
          upload_id: "u",
          parts: [{ PartNumber: 0, ETag: "e" }],
        },
        { upload_id: "u", parts: [{ PartNumber: 10_001, ETag: "e" }] },
        { upload_id: "u", parts: [{ PartNumber: 1 }] },
      ]
    ) {
      const refused = await post(bad);
      assert.equal(refused.status, 422, JSON.stringify(bad));
      await refused.body?.cancel();
    }
    assert.equal(seen.length, sent);
  });
});

Deno.test("multipart: ten thousand parts with long ETags fit in one completion", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response("<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>"));
    const parts = Array.from({ length: 10_000 }, (_, i) => ({ PartNumber: i + 1, ETag: `"${"f".repeat(128)}"` }));
    const done = await call(`${KEY}/complete`, { method: "POST", body: JSON.stringify({ upload_id: "u", parts }) });
    assert.equal(done.status, 200);
    await done.body?.cancel();
    assert.equal(seen[0].body.split("<Part>").length, 10_001);
  });
});

Deno.test("multipart: aborted, parts listed, a part written through the gateway", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(null, { status: 204 }));
    const aborted = await call(`${KEY}/abort`, { method: "POST", body: '{"upload_id":"u 1"}' });
    assert.deepEqual(await aborted.json(), { status: "aborted" });
    assert.deepEqual([seen[0].method, seen[0].target], ["DELETE", `${TARGET}?uploadId=u%201`]);
    answer(() => s3Error(404, "NoSuchUpload", "gone"));
    assert.equal((await call(`${KEY}/abort`, { method: "POST", body: '{"upload_id":"u"}' })).status, 404);

    answer(() =>
      new Response(
        `<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>2</NextPartNumberMarker><Part><PartNumber>2</PartNumber>` +
          `<ETag>"e"</ETag><Size>5</Size><LastModified>2024-01-01T00:00:00.000Z</LastModified></Part></ListPartsResult>`,
      )
    );
    const listed = await call(`${KEY}/parts?upload_id=u&max_parts=1&part_number_marker=1`);
    assert.deepEqual(await listed.json(), {
      bucket: "b",
      key: "d/film å",
      upload_id: "u",
      parts: [{ PartNumber: 2, ETag: '"e"', Size: 5, LastModified: "2024-01-01T00:00:00Z" }],
      is_truncated: true,
      next_part_number_marker: 2,
    });
    assert.equal(seen[seen.length - 1].target, `${TARGET}?uploadId=u&max-parts=1&part-number-marker=1`);
    for (const query of ["", "?upload_id=u&max_parts=0", "?upload_id=u&max_parts=1001"]) {
      const refused = await call(`${KEY}/parts${query}`);
      assert.equal(refused.status, 422, query);
      await refused.body?.cancel();
    }

    answer(() => new Response(null, { headers: { etag: '"p"' } }));
    const part = await call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body: "bytes" });
    assert.deepEqual(await part.json(), { part_number: 3, etag: '"p"' });
    const sent = seen[seen.length - 1];
    assert.deepEqual([sent.method, sent.target, sent.body, sent.headers.get("content-length")], [
      "PUT",
      `${TARGET}?uploadId=u&partNumber=3`,
      "bytes",
      "5",
    ]);
    for (const query of ["upload_id=u&part_number=0", "upload_id=u&part_number=10001", "part_number=1"]) {
      const refused = await call(`${KEY}?${query}`, { method: "PUT", body: "x" });
      assert.equal(refused.status, 422, query);
      await refused.body?.cancel();
    }
  });
});

Deno.test("multipart: an upload id that is half a character is 422 by its name, and nothing is asked", async () => {
  await withGateway({}, async ({ call, seen }) => {
    const parts = [{ PartNumber: 1, ETag: "e" }];
    for (const [operation, rest] of [["complete", { parts }], ["abort", {}], ["presign", { file_size: 1 }]] as const) {
      const body = JSON.stringify({ upload_id: "\ud800", ...rest });
      const response = await call(`${KEY}/${operation}`, { method: "POST", body });
      assert.equal(response.status, 422, operation);
      assert.deepEqual((await response.json()).detail[0].loc, ["body", "upload_id"]);
    }
    assert.equal(seen.length, 0);
  });
});

Deno.test("multipart: a completion has a longer timeout than other requests", async () => {
  await withGateway({ gateway: { s3TimeoutMs: 1000 } }, async ({ call, answer }) => {
    const held: ((response: Response) => void)[] = [];
    const both = Promise.withResolvers<void>();
    answer((request, { target }) => {
      if (target.includes("uploads")) {
        const id = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
        return new Response(id);
      }
      if (request.method === "PUT") return new Response(null, { headers: { ETag: '"e"' } });
      return new Promise<Response>((resolve) => {
        held.push(resolve);
        if (request.method === "POST" && held.length === 2) both.resolve();
      });
    });
    const parts = [{ PartNumber: 1, ETag: "e" }];
    const body = JSON.stringify({ upload_id: "u", parts });
    const byClient = call(`${KEY}/complete`, { method: "POST", body });
    const chunked = new Blob([new Uint8Array(17 * 1024 * 1024)]).stream();
    const byGateway = call("/api/v1/buckets/b/objects/k", { method: "PUT", body: chunked });
    await both.promise;
    const listing = await call("/api/v1/buckets/b/objects");
    const said = [listing.status, await listing.json()];
    const done = "<CompleteMultipartUploadResult><ETag>e-1</ETag></CompleteMultipartUploadResult>";
    for (const answerNow of held) answerNow(new Response(done));
    for (const waiting of [byClient, byGateway]) {
      const response = await waiting;
      assert.deepEqual([response.status, (await response.json()).etag], [200, "e-1"]);
    }
    assert.deepEqual(said, [504, { detail: "S3 read timed out", code: "store_timeout" }]);
  });
});

Deno.test("multipart: a part whose answer names no entity tag is 502", async () => {
  await withGateway({}, async ({ call, answer }) => {
    answer(() => new Response(null));
    const response = await call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body: "x" });
    assert.equal(response.status, 502);
    assert.match((await response.json()).detail, / part 3: the store's response has no ETag$/);
  });
});

Deno.test("multipart: the file of a form is a part, with its length and without the form around it", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(null, { headers: { ETag: '"e"' } }));
    for (const size of [0, 1, 300_000, 6 * MIB]) {
      const file = Buffer.alloc(size, "0123456789a").toString();
      const form = new FormData();
      form.set("note", "passed over");
      form.set("file", new File([file], "scan.tif"));
      const response = await call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body: form });
      assert.deepEqual([response.status, await response.json()], [200, { part_number: 3, etag: '"e"' }]);
      const [{ headers, target, body }] = seen.splice(0);
      assert.deepEqual([headers.get("content-length"), target], [String(size), `${TARGET}?uploadId=u&partNumber=3`]);
      assert.ok(body === file, `${size} bytes`);
    }
  });
});

Deno.test("multipart: a form without a file is 422, a malformed one 400, too long a file 413, and no part is sent", async () => {
  await withGateway({}, async ({ call, seen }) => {
    const put = (body: BodyInit, headers?: HeadersInit) =>
      call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body, headers });
    const other = new FormData();
    other.set("other", "x");
    const long = new FormData();
    long.set("file", new File([new Uint8Array(MAX_FORM_PART_BYTES + 1)], "x"));
    const broken = put("--b\r\nno header", { "Content-Type": "multipart/form-data; boundary=b" });
    for (const [answer, status] of [[put(other), 422], [broken, 400], [put(long), 413]] as const) {
      const response = await answer;
      assert.equal(response.status, status, await response.text());
    }
    assert.equal(seen.length, 0);
    assert.equal(UPLOAD_SIZES.pool.freeBytes, 256 * MIB, "memory was not released");
  });
});

const DIGESTS = ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="];

Deno.test("multipart: the body of a new upload is read only where it says that it is JSON", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(BEGUN));
    const types = [
      "",
      "text/plain",
      "application/octet-stream",
      "application/x-www-form-urlencoded",
      "application/jsonl",
    ];
    for (const type of types) {
      for (
        const body of [
          "no JSON",
          '{"checksum_algorithm":"MD5"}',
          '{"checksum_algorithm":"SHA256"}',
          "x".repeat(2 * MIB),
        ]
      ) {
        const response = await call(KEY, {
          method: "POST",
          headers: type === "" ? {} : { "content-type": type },
          body: new TextEncoder().encode(body),
        });
        assert.equal(response.status, 201, `${type}: ${await response.text()}`);
        const { headers } = seen[seen.length - 1];
        assert.equal(headers.get("x-amz-checksum-algorithm"), null);
        assert.equal(headers.get("content-type"), type === "" ? null : type);
      }
    }
    seen.length = 0;
    for (const type of ["application/json", "Application/JSON;charset=utf-8"]) {
      for (const body of ["no JSON", '{"checksum_algorithm":"MD5"}']) {
        const response = await call(KEY, { method: "POST", headers: { "content-type": type }, body });
        assert.equal(response.status, 422, `${type}: ${await response.text()}`);
      }
    }
    assert.equal(seen.length, 0);
  });
});

Deno.test("multipart: an upload with checksums is begun with the algorithm, its URLs sign them, its completion has them", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"));
    const post = async (path: string, body?: unknown) => {
      const response = await call(path, {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8" },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    };
    const algorithm = () => seen[seen.length - 1].headers.get("x-amz-checksum-algorithm");
    for (const body of [undefined, null, {}, { checksum_algorithm: null }]) {
      assert.equal((await post(KEY, body)).status, 201);
      assert.equal(algorithm(), null);
    }
    assert.equal((await post(KEY, { checksum_algorithm: "SHA256" })).status, 201);
    assert.equal(algorithm(), "SHA256");
    assert.equal((await post(KEY, { content_type: "image/tiff" })).status, 201);
    assert.deepEqual([seen[seen.length - 1].headers.get("content-type"), algorithm()], ["image/tiff", null]);
    for (
      const body of [{ checksum_algorithm: "MD5" }, { checksum_algorithm: "" }, { content_type: "å" }, "SHA256", []]
    ) {
      assert.equal((await post(KEY, body)).status, 422, JSON.stringify(body));
    }

    const size = { file_size: 20 * MIB, part_size: 5 * MIB };
    const checksums = [{ part_number: 4, sha256: DIGESTS[1] }, { part_number: 2, sha256: DIGESTS[0] }];
    const whole = await post(`${KEY}/presign`, {
      ...size,
      checksums: [...checksums, { part_number: 1, sha256: DIGESTS[0] }, { part_number: 3, sha256: DIGESTS[0] }],
    });
    assert.equal(whole.body.urls.every(({ headers }: Record<string, unknown>) => headers !== undefined), true);
    assert.equal(algorithm(), "SHA256");
    const { body } = await post(`${KEY}/presign`, { ...size, upload_id: "u", checksums });
    assert.deepEqual(body.urls.map(({ part_number, headers }: Record<string, unknown>) => [part_number, headers]), [
      [1, undefined],
      [2, { "x-amz-checksum-sha256": DIGESTS[0] }],
      [3, undefined],
      [4, { "x-amz-checksum-sha256": DIGESTS[1] }],
    ]);
    for (const { part_number, url } of body.urls) {
      const names = part_number % 2 === 0 ? "host;x-amz-checksum-sha256" : "host";
      assert.equal(new URL(url).searchParams.get("X-Amz-SignedHeaders"), names);
    }
    const begun = seen.length;
    assert.equal((await post(`${KEY}/presign`, { ...size, upload_id: "u", checksums })).status, 200);
    const some = { ...size, upload_id: "u", part_numbers: [4, 1], checksums: [checksums[0]] };
    const { urls, total_parts } = (await post(`${KEY}/presign`, some)).body;
    assert.equal(total_parts, 4);
    assert.deepEqual(urls.map(({ part_number, headers }: Record<string, unknown>) => [part_number, headers]), [
      [4, { "x-amz-checksum-sha256": DIGESTS[1] }],
      [1, undefined],
    ]);
    assert.deepEqual(await post(`${KEY}/presign`, { ...some, part_numbers: [1, 5] }), {
      status: 400,
      body: { detail: "part_numbers: part 5 is not one of the 4 parts" },
    });
    const rejected: [unknown, number, string?][] = [
      [[{ part_number: 5, sha256: DIGESTS[0] }], 400, "checksums: part 5 is not one of the 4 parts"],
      [[...checksums, checksums[0]], 400, "checksums: part 4 is named twice"],
      [checksums, 400, "checksums: part 1 has none, and a new upload needs those of all 4 parts"],
      [
        [...checksums, { part_number: 1, sha256: DIGESTS[0] }],
        400,
        "checksums: part 3 has none, and a new upload needs those of all 4 parts",
      ],
      [[{ part_number: 0, sha256: DIGESTS[0] }], 422],
      [[{ part_number: 1, sha256: "x" }], 422],
      [[{ part_number: 1 }], 422],
    ];
    for (const [checksums, status, detail] of rejected) {
      const response = await post(`${KEY}/presign`, { ...size, checksums });
      assert.equal(response.status, status);
      if (detail) assert.deepEqual(response.body, { detail });
    }
    assert.equal(seen.length, begun, "no other upload was begun");
    const all = Array.from({ length: 10_000 }, (_, n) => ({ part_number: n + 1, sha256: DIGESTS[0] }));
    const most = { file_size: 10_000 * 5 * MIB, part_size: 5 * MIB, checksums: all };
    assert.equal((await post(`${KEY}/presign`, most)).body.urls.length, 10_000);

    answer(() => new Response("<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>"));
    const parts = [{ PartNumber: 1, ETag: "a", ChecksumSHA256: DIGESTS[0] }, {
      PartNumber: 2,
      ETag: "b",
      ChecksumSHA256: null,
    }];
    assert.equal((await post(`${KEY}/complete`, { upload_id: "u", parts })).status, 200);
    assert.ok(seen[seen.length - 1].body.includes(
      `<Part><ETag>a</ETag><ChecksumSHA256>${DIGESTS[0]}</ChecksumSHA256><PartNumber>1</PartNumber></Part>` +
        "<Part><ETag>b</ETag><PartNumber>2</PartNumber></Part>",
    ));
    const wrong = { upload_id: "u", parts: [{ PartNumber: 1, ETag: "a", ChecksumSHA256: "x" }] };
    assert.equal((await post(`${KEY}/complete`, wrong)).status, 422);
  });
});

Deno.test("multipart: the checksum of a part goes to the store with it, and comes back in the list", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response(null, { headers: { ETag: '"e"' } }));
    const headers = {
      "x-amz-checksum-sha256": DIGESTS[0],
      "content-md5": "XUFAKrxLKna5cZ2REBfFkg==",
      "x-amz-meta-a": "1",
    };
    const part = await call(`${KEY}?upload_id=u&part_number=1`, { method: "PUT", body: "hello", headers });
    assert.equal(part.status, 200, await part.text());
    assert.equal(seen[0].headers.get("x-amz-checksum-sha256"), DIGESTS[0]);
    assert.equal(seen[0].headers.get("content-md5"), headers["content-md5"]);
    assert.equal(seen[0].headers.get("x-amz-meta-a"), null);
    const form = new FormData();
    form.set("file", new File(["hello"], "x"));
    const inForm = await call(`${KEY}?upload_id=u&part_number=1`, { method: "PUT", body: form, headers });
    assert.equal(inForm.status, 200, await inForm.text());
    assert.equal(seen[1].headers.get("x-amz-checksum-sha256"), null, "that of the form is not the file's");
    answer(() =>
      new Response(
        `<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>5</Size><ChecksumSHA256>${DIGESTS[0]}` +
          "</ChecksumSHA256></Part></ListPartsResult>",
      )
    );
    const { parts } = await (await call(`${KEY}/parts?upload_id=u`)).json();
    assert.deepEqual(parts, [{ PartNumber: 1, ETag: "e", Size: 5, LastModified: null, ChecksumSHA256: DIGESTS[0] }]);
  });
});
