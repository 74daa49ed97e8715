import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BufferPool, UPLOAD_SIZES, type UploadSizes } from "@/lib/s3/object_upload.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { type Fixture, s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";
import { PartsStore } from "@/tests/routes/parts_store.ts";

const O = "/api/v1/buckets/b/objects/";

/** The real rules with parts that tests can fill. */
const SMALL: UploadSizes = {
  ...UPLOAD_SIZES,
  maxPutBytes: 100,
  maxObjectBytes: 1000,
  knownPartBytes: 30,
  maxParts: 6,
  firstBytes: 8,
  partBytes: (n) => n > 2 ? 20 : 10,
  pool: new BufferPool({ bufferBytes: 4, totalBytes: 64, cachedBytes: 16, waitMs: 50 }),
};

function withParts(body: (fixture: Fixture, store: PartsStore) => Promise<void>): Promise<void> {
  return withGateway({ gateway: { uploadSizes: SMALL } }, async (fixture) => {
    const store = new PartsStore();
    fixture.answer(store.answer);
    await body(fixture, store);
    assert.equal(SMALL.pool.freeBytes, 64, "memory was not released");
    assert.equal(store.uploads.size, 0, "an upload was left behind");
  });
}

/** A body that `fetch` sends without a Content-Length, in pieces of odd sizes. */
function chunked(text: string, chunkBytes = 7): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunkBytes));
      at += chunkBytes;
    },
  });
}

const digits = (length: number) => "0123456789".repeat(Math.ceil(length / 10)).slice(0, length);

Deno.test("unknown length: one PUT within the first part, parts beyond it, and the bytes are the same", () =>
  withParts(async ({ call }, store) => {
    for (
      const [length, parts] of [
        [0, []],
        [7, []],
        [8, []],
        [9, []],
        [10, [10]],
        [11, [10, 1]],
        [20, [10, 10]],
        [75, [10, 10, 20, 20, 15]],
        [100, [10, 10, 20, 20, 20, 20]],
      ] as [number, number[]][]
    ) {
      store.partLengths.length = 0;
      const response = await call(`${O}k${length}`, {
        method: "PUT",
        body: chunked(digits(length)),
        headers: {
          "Content-Type": "text/x",
          "x-amz-meta-who": "me",
          "If-None-Match": "*",
          "Cache-Control": "no-cache",
        },
      });
      const single = parts.length === 0;
      assert.equal(response.status, 200, String(length));
      assert.deepEqual(await response.json(), {
        bucket: "b",
        key: `k${length}`,
        status: "uploaded",
        etag: single ? '"single"' : '"whole-2"',
      });
      assert.equal(response.headers.get("etag"), single ? '"single"' : '"whole-2"');
      assert.equal(response.headers.get("x-amz-version-id"), single ? null : "v9");
      assert.deepEqual(store.partLengths, parts);
      const stored = store.objects.get(`/b/k${length}`);
      assert.equal(stored?.body, digits(length));
      assert.equal(stored?.headers.get("content-type"), "text/x");
      assert.equal(stored?.headers.get("x-amz-meta-who"), "me");
      assert.equal(stored?.headers.get("if-none-match"), single ? "*" : null);
    }
  }));

Deno.test("unknown length: more than all parts hold is 413 that says how much they do, and nothing stays behind", () =>
  withParts(async ({ call }, store) => {
    const response = await call(`${O}long`, { method: "PUT", body: chunked(digits(101)) });
    assert.equal(response.status, 413);
    assert.deepEqual(await response.json(), { detail: "A body without a Content-Length may have at most 100 bytes" });
    assert.equal(store.begun, 1);
    assert.equal(store.objects.size, 0);
  }));

Deno.test("known length: above one PUT it goes in parts that name their length, above what an object holds it is 413", () =>
  withParts(async ({ call, seen }, store) => {
    assert.equal((await call(`${O}big`, { method: "PUT", body: digits(101) })).status, 200);
    assert.deepEqual(store.partLengths, [30, 30, 30, 11]);
    assert.equal(store.objects.get("/b/big")?.body, digits(101));
    for (const { headers, method } of seen) {
      if (method === "PUT") assert.equal(headers.get("transfer-encoding"), null);
    }
    store.partLengths.length = 0;
    const wide = await call(`${O}wide`, { method: "PUT", body: digits(999) });
    assert.equal(wide.status, 200);
    await wide.body?.cancel();
    assert.deepEqual(store.partLengths, [167, 167, 167, 167, 167, 164], "larger parts, so that their number suffices");
    const tooLong = await call(`${O}huge`, { method: "PUT", body: digits(1001) });
    assert.equal(tooLong.status, 413);
    assert.deepEqual(await tooLong.json(), { detail: "Request body exceeds 1000 bytes" });
    assert.equal(store.begun, 2);
  }));

Deno.test("known length: what goes in parts arrives as it was, however much is read at a time", async () => {
  const uploadSizes = { ...SMALL, maxObjectBytes: 10_000_000, knownPartBytes: 1_000_003 };
  await withGateway({ gateway: { uploadSizes } }, async ({ answer, call }) => {
    const store = new PartsStore();
    answer(store.answer);
    const text = Array.from({ length: 400_000 }, (_, n) => String(n).padStart(8)).join("");
    const response = await call(`${O}big`, { method: "PUT", body: text });
    assert.equal(response.status, 200, await response.text());
    assert.ok(store.objects.get("/b/big")?.body === text);
    assert.equal(store.partLengths.length, 4);
  });
});

Deno.test("parts: whatever the store refuses is the answer, and the upload is aborted", async () => {
  const refusals: [string, (method: string, query: URLSearchParams) => boolean, number][] = [
    ["begin", (method, query) => method === "POST" && query.has("uploads"), 403],
    ["second part", (_method, query) => query.get("partNumber") === "2", 403],
    ["last part", (_method, query) => query.get("partNumber") === "4", 403],
    ["complete", (method, query) => method === "POST" && query.has("uploadId"), 403],
  ];
  for (const [what, matches, status] of refusals) {
    for (const body of [() => digits(101), () => chunked(digits(60))]) {
      await withParts(async ({ call }, store) => {
        store.refuse = (method, query) => matches(method, query) ? s3Error(403, "AccessDenied", "no") : null;
        const response = await call(`${O}k`, { method: "PUT", body: body() });
        assert.equal(response.status, status, what);
        assert.match((await response.json()).detail, /^object 'k'( part \d)?: no$/);
        assert.equal(store.objects.size, 0);
      });
    }
  }
});

Deno.test("parts: an abort that fails is tried again, a completion that is no success is none", () =>
  withParts(async ({ call }, store) => {
    let aborts = 0;
    store.refuse = (method, query) => {
      if (method === "DELETE" && ++aborts === 1) return s3Error(500, "InternalError", "again");
      if (method !== "POST" || !query.has("uploadId")) return null;
      return new Response("<Error><Code>InternalError</Code><Message>late</Message></Error>", { status: 200 });
    };
    const response = await call(`${O}k`, { method: "PUT", body: chunked(digits(60)) });
    assert.ok(response.status >= 500, String(response.status));
    await response.body?.cancel();
    assert.equal(aborts, 2);
  }));

Deno.test("parts: conditions are judged when the object appears", () =>
  withParts(async ({ call }, store) => {
    const send = () => call(`${O}k`, { method: "PUT", body: digits(101), headers: { "If-None-Match": "*" } });
    const first = await send();
    assert.equal(first.status, 200);
    await first.body?.cancel();
    const second = await send();
    assert.equal(second.status, 412);
    assert.deepEqual(await second.json(), { detail: "object 'k': there already" });
    assert.equal(store.begun, 2);
  }));

Deno.test("digests: the store checks those of one PUT, the gateway those of a body in parts", () =>
  withParts(async ({ call }, store) => {
    const text = digits(60);
    const base64 = (algorithm: string) => createHash(algorithm).update(text).digest("base64");
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(text));
    const stated: [string, string][] = [
      ["Content-MD5", base64("md5")],
      ["x-amz-checksum-sha1", base64("sha1")],
      ["x-amz-checksum-sha256", base64("sha256")],
      ["x-amz-checksum-crc32", sum.toString("base64")],
      ["x-amz-checksum-crc32c", base64Of("crc32c", text)],
      ["x-amz-checksum-crc64nvme", base64Of("crc64nvme", text)],
    ];
    for (const [name, value] of stated) {
      const put = (value: string) => call(`${O}k`, { method: "PUT", body: chunked(text), headers: { [name]: value } });
      assert.equal((await put(value)).status, 200, name);
      assert.equal(store.objects.get("/b/k")?.headers.get(name), null);
      store.objects.clear();
      const wrong = await put(value.replace(/^./, (one) => one === "A" ? "B" : "A"));
      assert.equal(wrong.status, 400);
      assert.deepEqual(await wrong.json(), { detail: `${name.toLowerCase()}: does not match the body` });
      assert.equal(store.objects.size, 0);
      const single = await call(`${O}s`, { method: "PUT", body: "short", headers: { [name]: value } });
      await single.body?.cancel();
      assert.equal(store.objects.get("/b/s")?.headers.get(name), value);
    }
  }));

function base64Of(algorithm: DigestAlgorithm, text: string): string {
  const digest = startDigest(algorithm);
  digest.update(new TextEncoder().encode(text));
  return Uint8Array.fromHex(digest.hex()).toBase64();
}

Deno.test("a store that may truncate: streams go in parts, bytes are signed with their digest", async () => {
  const mayTruncate = (hasDigest: boolean) => Promise.resolve(!hasDigest);
  await withGateway({ gateway: { mayTruncate } }, async ({ call, answer, seen }) => {
    const store = new PartsStore();
    answer(store.answer);
    const form = (text: string) => {
      const form = new FormData();
      form.set("file", new File([text], "x"));
      return form;
    };
    const [short, oneBuffer, long] = [digits(60_000), digits(200_000), digits(300_000)];
    const uploads: [method: "PUT" | "POST", text: string, body: BodyInit, inParts: boolean][] = [
      ["PUT", "", "", false],
      ["PUT", short, short, false],
      ["PUT", oneBuffer, oneBuffer, true],
      ["PUT", long, long, true],
      ["PUT", oneBuffer, chunked(oneBuffer, 5000), false],
      ["PUT", long, chunked(long, 5000), true],
      ["POST", oneBuffer, form(oneBuffer), false],
      ["POST", long, form(long), true],
    ];
    for (const [index, [method, text, body, inParts]] of uploads.entries()) {
      const path = `${O}${index}`;
      const begun = store.begun;
      const written = await call(path, { method, body, headers: { "If-None-Match": "*", "x-amz-meta-a": "b" } });
      assert.ok(written.ok, await written.text());
      assert.equal(store.begun - begun, inParts ? 1 : 0, `upload ${index}`);
      const object = store.objects.get(`/b/${index}`);
      assert.equal(object?.body, text);
      assert.equal(object?.headers.get("x-amz-meta-a"), "b");
      const last = seen.at(-1);
      assert.equal(last?.headers.get("if-none-match"), "*");
      if (!inParts) {
        const hash = createHash("sha256").update(text).digest("hex");
        assert.equal(object?.headers.get("x-amz-content-sha256"), hash);
      }
    }
    assert.equal(store.uploads.size, 0);
    const begun = store.begun;
    const digest = { "Content-MD5": createHash("md5").update(long).digest("base64") };
    assert.equal((await call(`${O}digest`, { method: "PUT", body: long, headers: digest })).status, 200);
    assert.equal(store.begun, begun, "a body whose digest the store checks was sent in parts");

    store.refuse = (method, query) =>
      method === "POST" && query.has("uploads") ? s3Error(501, "NotImplemented", "no parts") : null;
    const none = await call(`${O}none`, { method: "PUT", body: long });
    assert.equal(none.status, 501);
    assert.match((await none.json()).detail, /has no uploads in parts: see S3_ALLOW_TRUNCATED_UPLOADS$/);
    assert.equal(store.objects.has("/b/none"), false);
  });
});

Deno.test("memory: an upload without a length waits for its share, and is told to come again when there is none", () =>
  withParts(async ({ call }) => {
    const others = SMALL.pool.lease();
    await others.reserve(60);
    const refused = await call(`${O}k`, { method: "PUT", body: chunked(digits(5)) });
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "1");
    await refused.body?.cancel();
    others[Symbol.dispose]();
    assert.equal((await call(`${O}k`, { method: "PUT", body: chunked(digits(60)) })).status, 200);
  }));

Deno.test("form: the file becomes the object, with its own type, whatever stands around it", () =>
  withParts(async ({ call }, store) => {
    for (const length of [0, 5, 60]) {
      const form = new FormData();
      form.append("note", "x".repeat(100));
      form.append("file", new Blob([digits(length)], { type: "image/tiff" }), "ä scan.tif");
      form.append("after", "y");
      const response = await call(`${O}delete?as=object`, {
        method: "POST",
        body: form,
        headers: { "x-amz-meta-who": "me", "Cache-Control": "no-cache" },
      });
      assert.equal(response.status, 201);
      assert.deepEqual(await response.json(), {
        bucket: "b",
        key: "delete",
        status: "uploaded",
        etag: length < 10 ? '"single"' : '"whole-2"',
      });
      const stored = store.objects.get("/b/delete");
      assert.equal(stored?.body, digits(length));
      assert.equal(stored?.headers.get("content-type"), "image/tiff");
      assert.equal(stored?.headers.get("x-amz-meta-who"), "me");
    }
  }));

Deno.test("form: without a file, with two or malformed it is refused by name, and nothing is written", () =>
  withParts(async ({ call, app, seen }, store) => {
    const type = "multipart/form-data; boundary=B";
    const part = (name: string, text: string) =>
      `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
    const bodies: [string | FormData, string, number][] = [
      ["hello", "text/plain", 422],
      ["--B--\r\n", type, 422],
      [part("other", "x") + "--B--", type, 422],
      [part("file", "x") + part("file", "y") + "--B--", type, 422],
      [part("file", digits(60)) + part("file", "y") + "--B--", type, 422],
      [part("file", digits(60)), type, 400],
      [part("file", digits(60)) + "--B", type, 400],
      ["", type, 400],
      ["--B\r\nno header\r\n\r\nx\r\n--B--", type, 400],
      ["--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--", type, 400],
      [`--B\r\nX: ${"x".repeat(9000)}\r\n\r\nx\r\n--B--`, type, 400],
      [part("file", "x") + "--B--", "multipart/form-data", 400],
      ["x".repeat(1_200_000) + part("file", "x") + "--B--", type, 400],
    ];
    for (const [body, contentType, status] of bodies) {
      const init = { method: "POST", body, headers: { "Content-Type": contentType } };
      const response = await call(`${O}k`, init);
      const text = await response.text();
      assert.equal(response.status, status, `${String(body).slice(0, 80)}: ${text}`);
      assert.match(text, /"file|file:/);
      assert.equal((await app.request(`${O}k`, init)).status, 401, "the caller is asked for first");
    }
    assert.equal(store.objects.size, 0);
    assert.ok(seen.every(({ method }) => method !== "GET"));
  }));
