import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { MAX_FORM_PART_BYTES, UPLOAD_SIZES } from "@/lib/s3/object_upload.ts";
import { gatewayTest, s3Error } from "@/tests/routes/gateway_fixture.ts";

const MIB = 1024 * 1024;
const BEGUN = "<InitiateMultipartUploadResult><UploadId>u/1+2</UploadId></InitiateMultipartUploadResult>";
const COMPLETED = "<CompleteMultipartUploadResult><ETag>&quot;e-2&quot;</ETag></CompleteMultipartUploadResult>";
const KEY = "/api/v1/buckets/b/multipart/d/film%20%C3%A5";
const TARGET = "/b/d/film%20%C3%A5";
const DIGESTS = ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="];

gatewayTest("multipart: begun with the headers of the object to be", async ({ call, answer, seen }) => {
  answer(() => new Response(BEGUN));
  const begun = await call(KEY, { method: "POST", headers: { "content-type": "video/mp4", "x-amz-meta-a": "1" } });
  assert.deepEqual([begun.status, await begun.json()], [201, { bucket: "b", key: "d/film å", upload_id: "u/1+2" }]);
  const [{ method, target, headers }] = seen;
  assert.deepEqual([method, target], ["POST", `${TARGET}?uploads=`]);
  assert.deepEqual([headers.get("content-type"), headers.get("x-amz-meta-a")], ["video/mp4", "1"]);
  await (await call(KEY, { method: "POST", headers: { "content-type": "application/json" } })).body?.cancel();
  assert.equal(seen[1].headers.get("content-type"), null, "JSON is what clients say without meaning it");
  await (await call("/api/v1/buckets/b/multipart/x/abort?as=object", { method: "POST" })).body?.cancel();
  assert.equal(seen[2].target, "/b/x/abort?uploads=");
  answer(() => new Response("<InitiateMultipartUploadResult/>"));
  assert.equal((await call(KEY, { method: "POST" })).status, 502);
  assert.equal((await call(KEY, { method: "DELETE" })).status, 405);
});

gatewayTest("multipart: URLs of the parts, of a new upload or of one that is named", async ({ post, answer, seen }) => {
  answer(() => new Response(BEGUN));
  const presign = (body: unknown) => post(`${KEY}/presign`, body);
  const { urls, ...rest } = (await presign({ file_size: 75 * MIB })).body;
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

  const order = { file_size: 50 * MIB + 1, part_size: 50 * MIB, upload_id: "mine", validity: 604_800 };
  const { body: named } = await presign(order);
  assert.deepEqual([named.upload_id, named.total_parts, named.expires_in], ["mine", 2, 604_800]);
  assert.equal(seen.length, 1, "no new upload");

  const most = { file_size: 50_000 * MIB, part_size: 5 * MIB };
  const detail = "Too many parts (10001). Increase part_size or reduce file_size. S3 maximum is 10,000 parts.";
  assert.deepEqual(await presign({ ...most, file_size: most.file_size + 1 }), { status: 400, body: { detail } });
  assert.equal((await presign({ ...most, upload_id: "u" })).body.urls.length, 10_000);
  const bad: [field: string, value: number | undefined][] = [
    ["file_size", undefined],
    ["file_size", 0],
    ["file_size", 1.5],
    ["part_size", 5 * MIB - 1],
    ["part_size", 5 * 1024 * MIB + 1],
    ["expires_in", 0],
    ["expires_in", 604_801],
  ];
  for (const [field, value] of bad) {
    const { status, body } = await presign({ file_size: 1, [field]: value });
    assert.deepEqual([status, body.detail[0].loc], [422, ["body", field]], `${field} ${value}`);
  }
  const dots = await post("/api/v1/buckets/b/multipart/a%2F..%2Fb/presign", { file_size: 1 });
  assert.equal(dots.status, 400, "no URL could carry the key");

  // Ten thousand URLs repeat the key and the id.
  const long = async (key: string, upload_id: string) =>
    await post(`/api/v1/buckets/b/multipart/${key}/presign`, { ...most, upload_id });
  const longest = await long("%C3%A5".repeat(512), "+".repeat(1024));
  assert.deepEqual([longest.status, longest.body.urls.length], [200, 10_000]);
  for (
    const [key, id, loc] of [["k".repeat(1025), "u", ["path", "key"]], ["k", "u".repeat(1025), ["body", "upload_id"]]]
  ) {
    const { status, body } = await long(String(key), String(id));
    assert.deepEqual([status, body.detail[0].loc], [422, loc]);
  }
  assert.equal(seen.length, 1, "no upload is begun for a refusal");
});

gatewayTest(
  "multipart: completed with the parts in the order given; an error under status 200 is an error",
  async (fixture) => {
    const { post, answer, seen } = fixture;
    answer(() => new Response(`\n \n${COMPLETED}`));
    const complete = (body: unknown) => post(`${KEY}/complete`, body);
    const parts = [{ ETag: '"b"', PartNumber: 2 }, { ETag: "a", PartNumber: 1 }];
    const done = await complete({ upload_id: "u&1", parts });
    assert.deepEqual(done, { status: 200, body: { bucket: "b", key: "d/film å", etag: '"e-2"' } });
    assert.deepEqual([seen[0].method, seen[0].target], ["POST", `${TARGET}?uploadId=u%261`]);
    assert.match(seen[0].body, /<ETag>&quot;b&quot;<\/ETag><PartNumber>2<.*<ETag>a<\/ETag><PartNumber>1</);
    const failures: [status: number, code: string, expected: number][] = [
      [200, "InvalidPart", 400],
      [200, "EntityTooSmall", 400],
      [200, "PreconditionFailed", 412],
      [200, "OperationAborted", 409],
      [200, "InternalError", 502],
      [400, "InvalidPartOrder", 400],
      [404, "NoSuchUpload", 404],
    ];
    for (const [status, code, expected] of failures) {
      answer(() => s3Error(status, code, "why"));
      const failed = await complete({ upload_id: "u", parts });
      assert.deepEqual(failed, { status: expected, body: { detail: "object 'd/film å': why" } }, code);
    }
    const sent = seen.length;
    const bad: Record<string, unknown>[] = [
      { upload_id: undefined },
      { upload_id: "" },
      { parts: undefined },
      { parts: [] },
      { parts: [{ PartNumber: 0, ETag: "e" }] },
      { parts: [{ PartNumber: 10_001, ETag: "e" }] },
      { parts: [{ PartNumber: 1 }] },
      { parts: [{ PartNumber: 1, ETag: "a", ChecksumSHA256: "x" }] },
    ];
    for (const fields of bad) {
      assert.equal((await complete({ upload_id: "u", parts, ...fields })).status, 422, JSON.stringify(fields));
    }
    assert.equal(seen.length, sent);

    answer(() => new Response(COMPLETED));
    const most = Array.from({ length: 10_000 }, (_, i) => ({ PartNumber: i + 1, ETag: `"${"f".repeat(128)}"` }));
    assert.equal((await complete({ upload_id: "u", parts: most })).status, 200);
    assert.equal(seen[sent].body.split("<Part>").length, 10_001);
  },
);

gatewayTest(
  "multipart: aborted, parts listed, a part written through the gateway",
  async ({ call, post, answer, seen }) => {
    answer(() => new Response(null, { status: 204 }));
    assert.deepEqual((await post(`${KEY}/abort`, { upload_id: "u 1" })).body, { status: "aborted" });
    assert.deepEqual([seen[0].method, seen[0].target], ["DELETE", `${TARGET}?uploadId=u%201`]);
    answer(() => s3Error(404, "NoSuchUpload", "gone"));
    assert.equal((await post(`${KEY}/abort`, { upload_id: "u" })).status, 404);

    answer(() =>
      new Response(
        `<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>2</NextPartNumberMarker><Part>` +
          `<PartNumber>2</PartNumber><ETag>"e"</ETag><Size>5</Size><LastModified>2024-01-01T00:00:00.000Z</LastModified>` +
          `<ChecksumSHA256>${DIGESTS[0]}</ChecksumSHA256></Part></ListPartsResult>`,
      )
    );
    const part = { PartNumber: 2, ETag: '"e"', Size: 5, LastModified: "2024-01-01T00:00:00Z" };
    const listed = await call(`${KEY}/parts?upload_id=u&max_parts=1&part_number_marker=1`);
    assert.deepEqual(await listed.json(), {
      bucket: "b",
      key: "d/film å",
      upload_id: "u",
      parts: [{ ...part, ChecksumSHA256: DIGESTS[0] }],
      is_truncated: true,
      next_part_number_marker: 2,
    });
    assert.equal(seen[seen.length - 1].target, `${TARGET}?uploadId=u&max-parts=1&part-number-marker=1`);

    answer(() => new Response(null, { headers: { etag: '"p"' } }));
    const written = await call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body: "bytes" });
    assert.deepEqual(await written.json(), { part_number: 3, etag: '"p"' });
    const { method, target, body, headers } = seen[seen.length - 1];
    assert.deepEqual([method, target, body], ["PUT", `${TARGET}?uploadId=u&partNumber=3`, "bytes"]);
    assert.equal(headers.get("content-length"), "5");
    const sent = seen.length;
    const bad: [method: string, target: string][] = [
      ["GET", `${KEY}/parts`],
      ["GET", `${KEY}/parts?upload_id=u&max_parts=0`],
      ["GET", `${KEY}/parts?upload_id=u&max_parts=1001`],
      ["PUT", `${KEY}?upload_id=u&part_number=0`],
      ["PUT", `${KEY}?upload_id=u&part_number=10001`],
      ["PUT", `${KEY}?part_number=1`],
    ];
    for (const [method, target] of bad) {
      const refused = await call(target, { method, body: method === "PUT" ? "x" : undefined });
      assert.equal(refused.status, 422, `${method} ${target}`);
    }
    // An upload id that is half a character.
    const parts = [{ PartNumber: 1, ETag: "e" }];
    for (const [operation, rest] of [["complete", { parts }], ["abort", {}], ["presign", { file_size: 1 }]] as const) {
      const { status, body } = await post(`${KEY}/${operation}`, { upload_id: "\ud800", ...rest });
      assert.deepEqual([status, body.detail[0].loc], [422, ["body", "upload_id"]], operation);
    }
    assert.equal(seen.length, sent);

    answer(() => new Response(null));
    const nameless = await call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body: "x" });
    assert.equal(nameless.status, 502);
    assert.match((await nameless.json()).detail, / part 3: the store's response has no ETag$/);
  },
);

gatewayTest("multipart: a completion has a longer timeout than other requests", async ({ call, answer }) => {
  const held: ((response: Response) => void)[] = [];
  const both = Promise.withResolvers<void>();
  answer((request, { target }) => {
    if (target.includes("uploads")) return new Response(BEGUN);
    if (request.method === "PUT") return new Response(null, { headers: { ETag: '"e"' } });
    return new Promise<Response>((resolve) => {
      held.push(resolve);
      if (request.method === "POST" && held.length === 2) both.resolve();
    });
  });
  const body = JSON.stringify({ upload_id: "u", parts: [{ PartNumber: 1, ETag: "e" }] });
  const byClient = call(`${KEY}/complete`, { method: "POST", body });
  const chunked = new Blob([new Uint8Array(17 * MIB)]).stream();
  const byGateway = call("/api/v1/buckets/b/objects/k", { method: "PUT", body: chunked });
  await both.promise;
  const listing = await call("/api/v1/buckets/b/objects");
  const said = [listing.status, await listing.json()];
  for (const answerNow of held) answerNow(new Response(COMPLETED));
  for (const waiting of [byClient, byGateway]) {
    const response = await waiting;
    assert.deepEqual([response.status, (await response.json()).etag], [200, '"e-2"']);
  }
  assert.deepEqual(said, [504, { detail: "S3 read timed out", code: "store_timeout" }]);
}, { gateway: { s3TimeoutMs: 1000 } });

gatewayTest(
  "multipart: the file of a form is a part, without the form around it, and digests go with a part",
  async (fixture) => {
    const { call, answer, seen } = fixture;
    answer(() => new Response(null, { headers: { ETag: '"e"' } }));
    const digests = { "x-amz-checksum-sha256": DIGESTS[0], "content-md5": "XUFAKrxLKna5cZ2REBfFkg==" };
    const put = (body: BodyInit, headers: Record<string, string> = {}) =>
      call(`${KEY}?upload_id=u&part_number=3`, { method: "PUT", body, headers });
    for (const size of [0, 1, 300_000, 6 * MIB]) {
      const file = Buffer.alloc(size, "0123456789a").toString();
      const form = new FormData();
      form.set("note", "passed over");
      form.set("file", new File([file], "scan.tif"));
      const response = await put(form, digests);
      assert.deepEqual([response.status, await response.json()], [200, { part_number: 3, etag: '"e"' }]);
      const [{ headers, target, body }] = seen.splice(0);
      assert.deepEqual([headers.get("content-length"), target], [String(size), `${TARGET}?uploadId=u&partNumber=3`]);
      assert.equal(headers.get("x-amz-checksum-sha256"), null, "that of the form is not the file's");
      assert.ok(body === file, `${size} bytes`);
    }
    assert.equal((await put("hello", { ...digests, "x-amz-meta-a": "1" })).status, 200);
    const [{ headers: sent }] = seen.splice(0);
    for (const [name, value] of Object.entries(digests)) assert.equal(sent.get(name), value);
    assert.equal(sent.get("x-amz-meta-a"), null);

    const other = new FormData();
    other.set("other", "x");
    const long = new FormData();
    long.set("file", new File([new Uint8Array(MAX_FORM_PART_BYTES + 1)], "x"));
    const broken = put("--b\r\nno header", { "Content-Type": "multipart/form-data; boundary=b" });
    for (const [refused, status] of [[put(other), 422], [broken, 400], [put(long), 413]] as const) {
      const response = await refused;
      assert.equal(response.status, status, await response.text());
    }
    assert.equal(seen.length, 0);
    assert.equal(UPLOAD_SIZES.pool.freeBytes, 256 * MIB, "memory was not released");
  },
);

gatewayTest(
  "multipart: the body of a new upload is read only where it says that it is JSON",
  async ({ call, answer, seen }) => {
    answer(() => new Response(BEGUN));
    const bodies = ["no JSON", '{"checksum_algorithm":"MD5"}', '{"checksum_algorithm":"SHA256"}', "x".repeat(2 * MIB)];
    const form = "application/x-www-form-urlencoded";
    for (const type of ["", "text/plain", "application/octet-stream", form, "application/jsonl"]) {
      for (const body of bodies) {
        const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
        const response = await call(KEY, { method: "POST", headers, body: new TextEncoder().encode(body) });
        assert.equal(response.status, 201, `${type}: ${await response.text()}`);
        const sent = seen[seen.length - 1].headers;
        assert.equal(sent.get("x-amz-checksum-algorithm"), null);
        assert.equal(sent.get("content-type"), type === "" ? null : type);
      }
    }
    seen.length = 0;
    for (const type of ["application/json", "Application/JSON;charset=utf-8"]) {
      for (const body of bodies.slice(0, 2)) {
        const response = await call(KEY, { method: "POST", headers: { "content-type": type }, body });
        assert.equal(response.status, 422, `${type}: ${await response.text()}`);
      }
    }
    assert.equal(seen.length, 0);
  },
);

gatewayTest(
  "multipart: an upload with checksums is begun with the algorithm, its URLs sign them, its completion has them",
  async (fixture) => {
    const { post, answer, seen } = fixture;
    answer(() => new Response(BEGUN));
    const sent = (name: string) => seen[seen.length - 1].headers.get(name);
    const begun: [body: unknown, algorithm: string | null, type: string | null][] = [
      [undefined, null, null],
      [null, null, null],
      [{}, null, null],
      [{ checksum_algorithm: null }, null, null],
      [{ checksum_algorithm: "SHA256" }, "SHA256", null],
      [{ content_type: "image/tiff" }, null, "image/tiff"],
    ];
    for (const [body, algorithm, type] of begun) {
      assert.equal((await post(KEY, body)).status, 201);
      assert.deepEqual([sent("x-amz-checksum-algorithm"), sent("content-type")], [algorithm, type]);
    }
    for (
      const body of [{ checksum_algorithm: "MD5" }, { checksum_algorithm: "" }, { content_type: "å" }, "SHA256", []]
    ) {
      assert.equal((await post(KEY, body)).status, 422, JSON.stringify(body));
    }

    const presign = (body: Record<string, unknown>) =>
      post(`${KEY}/presign`, { file_size: 20 * MIB, part_size: 5 * MIB, ...body });
    const checksums = [{ part_number: 4, sha256: DIGESTS[1] }, { part_number: 2, sha256: DIGESTS[0] }];
    const all = [...checksums, { part_number: 1, sha256: DIGESTS[0] }, { part_number: 3, sha256: DIGESTS[0] }];
    const whole = await presign({ checksums: all });
    assert.ok(whole.body.urls.every(({ headers }: Record<string, unknown>) => headers !== undefined));
    assert.equal(sent("x-amz-checksum-algorithm"), "SHA256");
    const shown = ({ part_number, headers }: Record<string, unknown>) => [part_number, headers];
    const { body } = await presign({ upload_id: "u", checksums });
    assert.deepEqual(body.urls.map(shown), [
      [1, undefined],
      [2, { "x-amz-checksum-sha256": DIGESTS[0] }],
      [3, undefined],
      [4, { "x-amz-checksum-sha256": DIGESTS[1] }],
    ]);
    for (const { part_number, url } of body.urls) {
      const names = part_number % 2 === 0 ? "host;x-amz-checksum-sha256" : "host";
      assert.equal(new URL(url).searchParams.get("X-Amz-SignedHeaders"), names);
    }
    const calls = seen.length;
    const some = { upload_id: "u", part_numbers: [4, 1], checksums: [checksums[0]] };
    const { urls, total_parts } = (await presign(some)).body;
    assert.equal(total_parts, 4);
    assert.deepEqual(urls.map(shown), [[4, { "x-amz-checksum-sha256": DIGESTS[1] }], [1, undefined]]);
    const rejected: [body: Record<string, unknown>, status: number, detail?: string][] = [
      [{ ...some, part_numbers: [1, 5] }, 400, "part_numbers: part 5 is not one of the 4 parts"],
      [{ checksums: [{ part_number: 5, sha256: DIGESTS[0] }] }, 400, "checksums: part 5 is not one of the 4 parts"],
      [{ checksums: [...checksums, checksums[0]] }, 400, "checksums: part 4 is named twice"],
      [{ checksums }, 400, "checksums: part 1 has none, and a new upload needs those of all 4 parts"],
      [{ checksums: all.slice(0, 3) }, 400, "checksums: part 3 has none, and a new upload needs those of all 4 parts"],
      [{ checksums: [{ part_number: 0, sha256: DIGESTS[0] }] }, 422],
      [{ checksums: [{ part_number: 1, sha256: "x" }] }, 422],
      [{ checksums: [{ part_number: 1 }] }, 422],
    ];
    for (const [order, status, detail] of rejected) {
      const response = await presign(order);
      assert.equal(response.status, status, JSON.stringify(order));
      if (detail) assert.deepEqual(response.body, { detail });
    }
    assert.equal(seen.length, calls, "no other upload was begun");
    const most = Array.from({ length: 10_000 }, (_, n) => ({ part_number: n + 1, sha256: DIGESTS[0] }));
    assert.equal((await presign({ file_size: 50_000 * MIB, checksums: most })).body.urls.length, 10_000);

    answer(() => new Response(COMPLETED));
    const parts = [
      { PartNumber: 1, ETag: "a", ChecksumSHA256: DIGESTS[0] },
      { PartNumber: 2, ETag: "b", ChecksumSHA256: null },
    ];
    assert.equal((await post(`${KEY}/complete`, { upload_id: "u", parts })).status, 200);
    assert.ok(seen[seen.length - 1].body.includes(
      `<Part><ETag>a</ETag><ChecksumSHA256>${DIGESTS[0]}</ChecksumSHA256><PartNumber>1</PartNumber></Part>` +
        "<Part><ETag>b</ETag><PartNumber>2</PartNumber></Part>",
    ));
  },
);
