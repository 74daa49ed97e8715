import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { gatewayTest, s3Error } from "@/tests/routes/gateway_fixture.ts";
import { rawExchange } from "@/tests/routes/raw_store.ts";

const O = "/api/v1/buckets/b/objects/";

gatewayTest(
  "put: the bytes reach the store with their length, and the answer names what was written",
  async ({ call, answer, seen }) => {
    answer(() => new Response(null, { headers: { ETag: '"abc"', "x-amz-version-id": "7" } }));
    const response = await call(`${O}a%20dir/%C3%A5%2Bb.txt`, {
      method: "PUT",
      body: "hello",
      headers: { "Content-Type": "text/plain", "x-amz-meta-who": "me", "x-secret": "no", "If-None-Match": "*" },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-amz-version-id"), "7");
    assert.equal(response.headers.get("cache-control"), "private, no-store");
    assert.deepEqual(await response.json(), { bucket: "b", key: "a dir/å+b.txt", status: "uploaded", etag: '"abc"' });
    const [{ method, target, headers, body }] = seen;
    assert.deepEqual([method, target, body], ["PUT", "/b/a%20dir/%C3%A5%2Bb.txt", "hello"]);
    assert.equal(headers.get("content-length"), "5");
    assert.equal(headers.get("transfer-encoding"), null);
    assert.equal(headers.get("x-amz-content-sha256"), "UNSIGNED-PAYLOAD");
    assert.equal(headers.get("content-type"), "text/plain");
    assert.equal(headers.get("x-amz-meta-who"), "me");
    assert.equal(headers.get("if-none-match"), "*");
    assert.equal(headers.get("x-secret"), null);
    assert.match(
      headers.get("authorization") ?? "",
      /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-who,/,
    );
  },
);

gatewayTest(
  "put: an empty object has length 0, so has a body of unknown length by its end, a bad header is named",
  async ({ call, answer, seen }) => {
    answer(() => new Response(null, { headers: { ETag: '"d41d"' } }));
    await (await call(`${O}empty`, { method: "PUT" })).body?.cancel();
    assert.equal(seen[0].headers.get("content-length"), "0");
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(3));
        controller.close();
      },
    });
    const chunked = await call(`${O}chunked`, { method: "PUT", body: stream });
    assert.equal(chunked.status, 200);
    await chunked.body?.cancel();
    assert.deepEqual([seen[1].headers.get("content-length"), seen[1].body.length], ["3", 3]);
    const odd = await call(`${O}odd`, { method: "PUT", body: "x", headers: { "x-amz-meta-name": "é" } });
    assert.equal(odd.status, 400);
    assert.match((await odd.json()).detail, /^x-amz-meta-name:/);
    assert.equal(seen.length, 2);
  },
);

gatewayTest(
  "put: keys with dot segments reach the store as they are, length and all",
  async ({ origin, bearer, answer, seen }) => {
    answer(() => new Response(null, { headers: { ETag: '"x"' } }));
    // Raw, because fetch would fold the dots on this side too.
    const head = `PUT ${O}a/../%2e/c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
      `Authorization: ${bearer.Authorization}\r\nContent-Length: 5\r\n\r\n`;
    const text = await rawExchange(origin, `${head}hello`, /$^/);
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.match(text, /"key":"a\/\.\.\/\.\/c"/);
    assert.equal(seen[0].target, "/b/a/.././c");
    assert.equal(seen[0].headers.get("content-length"), "5");
    assert.equal(seen[0].body, "hello");
  },
);

gatewayTest(
  "get: body, range and headers pass, dates stay HTTP dates, what is not an object's header stays behind",
  async ({ call, answer, seen }) => {
    const date = "Fri, 20 Nov 2026 07:31:17 GMT";
    answer(() =>
      new Response("ell", {
        status: 206,
        headers: {
          "Content-Range": "bytes 1-3/5",
          "Accept-Ranges": "bytes",
          ETag: '"abc"',
          "Last-Modified": date,
          "Content-Type": "text/html",
          "x-amz-meta-who": "me",
          "x-amz-id-2": "internal",
          "Set-Cookie": "a=b",
        },
      })
    );
    const response = await call(`${O}x?version_id=v%2B1`, { headers: { Range: "bytes=1-3", "If-Match": '"abc"' } });
    assert.equal(response.status, 206);
    assert.equal(await response.text(), "ell");
    assert.equal(response.headers.get("content-length"), "3");
    assert.equal(response.headers.get("content-range"), "bytes 1-3/5");
    assert.equal(response.headers.get("last-modified"), date);
    assert.equal(response.headers.get("x-amz-meta-who"), "me");
    assert.equal(response.headers.get("x-amz-id-2"), null);
    assert.equal(response.headers.get("set-cookie"), null);
    assert.equal(
      response.headers.get("content-security-policy"),
      "default-src 'none'; sandbox; frame-ancestors 'none'",
    );
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("cache-control"), "private, no-cache");
    assert.equal(seen[0].target, "/b/x?versionId=v%2B1");
    assert.equal(seen[0].headers.get("range"), "bytes=1-3");
    assert.equal(seen[0].headers.get("if-match"), '"abc"');
    assert.equal(seen[0].headers.get("accept-encoding"), "identity");
  },
);

gatewayTest("get: an object stored compressed comes out as stored, and 304 has no body", async ({ call, answer }) => {
  const packed = new Uint8Array(gzipSync("hello ".repeat(500)));
  answer(() => new Response(packed, { headers: { "Content-Encoding": "gzip", "Cache-Control": "max-age=9" } }));
  const response = await call(`${O}x.gz`, { headers: { "Accept-Encoding": "identity" } });
  assert.equal(response.headers.get("content-encoding"), "gzip");
  assert.equal(response.headers.get("content-length"), String(packed.length));
  assert.equal(response.headers.get("cache-control"), "max-age=9");
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), packed);
  answer(() => new Response(null, { status: 304, headers: { ETag: '"abc"' } }));
  const same = await call(`${O}x.gz`, { headers: { "If-None-Match": '"abc"' } });
  assert.equal(same.status, 304);
  assert.equal(same.headers.get("etag"), '"abc"');
});

gatewayTest("get: If-Range becomes a condition, and a changed object is sent whole", async ({ call, answer, seen }) => {
  answer((_request, { headers }) =>
    headers.get("if-match") === '"old"' ? s3Error(412, "PreconditionFailed", "changed") : new Response("whole")
  );
  const response = await call(`${O}x`, { headers: { Range: "bytes=1-3", "If-Range": '"old"' } });
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "whole");
  assert.equal(seen.length, 2);
  assert.equal(seen[1].headers.get("range"), null);
});

gatewayTest(
  "get: what is neither a strong entity tag nor a date never matches, so If-Range asks for the whole",
  async ({ call, answer, seen }) => {
    answer(() => new Response("x"));
    const asked = async (validator: string) => {
      await (await call(`${O}x`, { headers: { Range: "bytes=1-3", "If-Range": validator } })).body?.cancel();
      const { headers } = seen.splice(0)[0];
      return [headers.get("range"), headers.get("if-match"), headers.get("if-unmodified-since")];
    };
    const date = "Sat, 21 Nov 2026 04:17:17 GMT";
    assert.deepEqual(await asked('"tag"'), ["bytes=1-3", '"tag"', null]);
    assert.deepEqual(await asked(date), ["bytes=1-3", null, date]);
    for (const other of ['W/"tag"', "nonsense", "*", '"a", "b"', '"open', "2026-11-21"]) {
      assert.deepEqual(await asked(other), [null, null, null], other);
    }
  },
);

gatewayTest("head: the store is asked with HEAD, and its length is shown", async ({ call, answer, seen }) => {
  answer(() => new Response(null, { headers: { "Content-Length": "123456", "Content-Type": "image/png" } }));
  const response = await call(`${O}pic.png`, { method: "HEAD" });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-length"), "123456");
  assert.equal(response.headers.get("content-type"), "image/png");
  assert.equal(seen[0].method, "HEAD");
  answer(() => new Response(null, { status: 404 }));
  assert.equal((await call(`${O}gone`, { method: "HEAD" })).status, 404);
});

gatewayTest(
  "delete: looks first, so a second delete is 404; one who may not read may still delete",
  async ({ call, answer, seen }) => {
    let status = 200;
    answer((request) => new Response(null, { status: request.method === "HEAD" ? status : 204 }));
    const response = await call(`${O}a/b`, { method: "DELETE" });
    assert.deepEqual(await response.json(), { status: "deleted", bucket: "b", key: "a/b" });
    assert.deepEqual(seen.map(({ method }) => method), ["HEAD", "DELETE"]);
    status = 404;
    const again = await call(`${O}a/b`, { method: "DELETE" });
    assert.equal(again.status, 404);
    assert.deepEqual(await again.json(), { detail: "object 'a/b': Not Found" });
    assert.equal(seen.length, 3);
    status = 403;
    assert.equal((await call(`${O}a/b?version_id=1`, { method: "DELETE" })).status, 200);
    assert.equal(seen.at(-1)?.target, "/b/a/b?versionId=1");
  },
);

/** Last parts of paths that name operations elsewhere. */
const WORDS = [
  "acl",
  "copy",
  "delete",
  "delete-task",
  "download/x",
  "restore",
  "s3_stats",
  "s3_stats/x",
  "tags",
  "versions",
];

gatewayTest("keys: those that end as other paths of the API do are plain keys", async ({ call, answer, seen }) => {
  answer(() => new Response("x", { headers: { etag: '"e"', "content-length": "1" } }));
  for (const word of WORDS) {
    seen.length = 0;
    for (const [method, body] of [["PUT", "x"], ["GET"], ["HEAD"], ["DELETE"]]) {
      assert.equal((await call(`${O}x/${word}?as=object`, { method, body })).status, 200, `${method} ${word}`);
    }
    assert.deepEqual(new Set(seen.map(({ target }) => target)), new Set([`/b/x/${word}`]));
    assert.equal(
      (await call(`${O}x/${word}?as=object`, { method: "POST", body: "{}" })).status,
      422,
      "the upload of a form, which this body is not",
    );
  }
});

gatewayTest(
  "keys: decoded once, refused when malformed or empty; a trailing slash belongs to the key",
  async ({ call, answer, seen, app }) => {
    answer(() => new Response("x"));
    for (
      const [raw, target] of [
        ["a%2Fb", "/b/a/b"],
        ["a%252Fb", "/b/a%252Fb"],
        ["dir/", "/b/dir/"],
        ["//x//", "/b///x//"],
        ["q%3Fx%0Ay", "/b/q%3Fx%0Ay"],
        ["a%00b%01%7f", "/b/a%00b%01%7F"],
        ["s3_stats/copy?as=object", "/b/s3_stats/copy"],
        ["s3_stats/a/copy", "/b/s3_stats/a/copy"],
      ]
    ) {
      assert.equal((await call(O + raw)).status, 200, raw);
      assert.equal(seen.at(-1)?.target, target);
    }
    const count = seen.length;
    for (const raw of ["%zz", "%", "%ff"]) {
      const response = await call(O + raw);
      assert.equal(response.status, 400, raw);
      assert.match((await response.json()).detail, /^key: /);
      assert.equal((await app.request(O + raw)).status, 401, "the caller is asked for first");
    }
    assert.equal((await call(O)).status, 404);
    const bucket = await call("/api/v1/buckets/%ff/objects/x");
    assert.match((await bucket.json()).detail, /^bucket: /);
    assert.equal((await call("/api/v1/buckets/a%2Fb/objects/k")).status, 400);
    assert.equal(seen.length, count, "nothing of this reached the store");
  },
);
