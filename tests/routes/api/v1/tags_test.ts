import assert from "node:assert/strict";
import fc from "fast-check";
import { gatewayTest, s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

const STORED = '<Tagging xmlns="x"><TagSet><Tag><Key>kind</Key><Value>a letter</Value></Tag>' +
  "<Tag><Key>__proto__</Key><Value/></Tag></TagSet></Tagging>";
const HEAD = '<?xml version="1.0" encoding="UTF-8"?><Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/">';
const B = "/api/v1/buckets/b";

gatewayTest(
  "tags: read, replaced and removed, of an object and of a version, with exactly these requests",
  async ({ call, answer, seen }) => {
    answer(() => new Response(STORED));
    const read = await call(`${B}/tags/a%20b/tags?version_id=7`);
    assert.equal(await read.text(), '{"tags":{"kind":"a letter","__proto__":""}}');
    assert.equal(seen[0].target, "/b/a%20b/tags?tagging=&versionId=7");

    answer(() => new Response(null, { headers: { "x-amz-version-id": "7" } }));
    const body = '{"tags":{"kind":"a letter","__proto__":""}}';
    const replaced = await call(`${B}/tags/k`, { method: "PUT", body });
    assert.deepEqual([replaced.status, await replaced.json()], [200, { status: "updated" }]);
    assert.equal(replaced.headers.get("x-amz-version-id"), "7");
    assert.deepEqual([seen[1].method, seen[1].target], ["PUT", "/b/k?tagging="]);
    assert.equal(
      seen[1].body,
      `${HEAD}<TagSet><Tag><Key>kind</Key><Value>a letter</Value></Tag>` +
        "<Tag><Key>__proto__</Key><Value></Value></Tag></TagSet></Tagging>",
    );

    answer(() => new Response(null, { status: 204 }));
    const removed = await call(`${B}/tags/k?version_id=8`, { method: "DELETE" });
    assert.deepEqual([removed.status, await removed.json()], [200, { status: "deleted" }]);
    assert.deepEqual([seen[2].method, seen[2].target], ["DELETE", "/b/k?tagging=&versionId=8"]);

    answer(() => s3Error(404, "NoSuchTagSet", "none"));
    assert.deepEqual(await (await call(`${B}/tags/k`)).json(), { tags: {} });
    answer(() => s3Error(404, "NoSuchKey", "gone"));
    for (const method of ["GET", "PUT", "DELETE"]) {
      const missing = await call(`${B}/tags/k`, { method, body: method === "PUT" ? '{"tags":{}}' : undefined });
      assert.deepEqual([missing.status, await missing.json()], [404, { detail: "object 'k': gone" }]);
    }
  },
);

Deno.test("tags: any that S3 allows are written and read as they are", async () => {
  const character = fc.constantFrom(..."aZ09åλж木 +-=._:/@");
  const name = fc.string({ unit: character, minLength: 1, maxLength: 30 }).filter((text) => !/^aws:/i.test(text));
  const tags = fc.dictionary(name, fc.string({ unit: character, maxLength: 30 }), { maxKeys: 10 });
  await withGateway({}, async ({ call, answer }) => {
    let stored = "";
    answer((_, { method, body }) => {
      if (method === "PUT") stored = body;
      return new Response(method === "PUT" ? null : stored);
    });
    await fc.assert(
      fc.asyncProperty(tags, async (tags) => {
        const response = await call(`${B}/tags/k`, { method: "PUT", body: JSON.stringify({ tags }) });
        assert.equal(response.status, 200, await response.text());
        const { tags: read } = await (await call(`${B}/tags/k`)).json();
        assert.deepEqual(Object.entries(read), Object.entries(tags));
      }),
      { numRuns: 30 },
    );
  });
});

gatewayTest(
  "tags: what is no set of tags is 422 naming the tag, and nothing is sent or written",
  async ({ call, seen }) => {
    const rejected: [unknown, string][] = [
      ["text that is no JSON", "body"],
      [[], "body"],
      [{}, "body tags"],
      [{ tags: null }, "body tags"],
      [{ tags: [["a", "b"]] }, "body tags"],
      [{ tags: {}, more: 1 }, "body more"],
      [{ tags: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`t${n}`, ""])) }, "body tags"],
      [{ tags: { "": "x" } }, "body tags "],
      [{ tags: { ["n".repeat(129)]: "x" } }, `body tags ${"n".repeat(129)}`],
      [{ tags: { "AWS:x": "x" } }, "body tags AWS:x"],
      [{ tags: { "a<b": "x" } }, "body tags a<b"],
      [{ tags: { a: 1 } }, "body tags a"],
      [{ tags: { a: null } }, "body tags a"],
      [{ tags: { a: "v".repeat(257) } }, "body tags a"],
      [{ tags: { a: "\ud800" } }, "body tags a"],
    ];
    for (const [body, place] of rejected) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await call(`${B}/tags/k`, { method: "PUT", body: text });
      const { detail } = await response.json();
      assert.equal(response.status, 422, text);
      assert.ok(detail[0].loc.join(" ").startsWith(place), `${text}: ${JSON.stringify(detail)}`);
    }
    const empty = await call(`${B}/tags/k`, { method: "PUT" });
    assert.equal(empty.status, 422, await empty.text());
    assert.equal(seen.length, 0);
  },
);

gatewayTest("tags: the key is all that follows, and other methods are 405", async ({ call, answer, seen }) => {
  answer(() => new Response(STORED));
  for (const path of ["a/b/tags", "a%2Fb%2Ftags", "a/b/tags?as=object"]) {
    assert.equal((await call(`${B}/tags/${path}`)).status, 200, path);
  }
  assert.deepEqual(seen.map(({ target }) => target), Array(3).fill("/b/a/b/tags?tagging="));
  seen.length = 0;
  for (const method of ["HEAD", "POST"]) {
    const response = await call(`${B}/tags/k`, { method });
    assert.deepEqual([response.status, response.headers.get("Allow")], [405, "DELETE, GET, PUT"], method);
    await response.body?.cancel();
  }
  for (const path of ["tags", "tags/"]) {
    for (const method of ["GET", "DELETE"]) {
      assert.equal((await call(`${B}/${path}`, { method })).status, 404, `${method} ${path}`);
    }
  }
  assert.deepEqual(seen, []);
});

gatewayTest("tags: of a new object go to the store as its header says", async ({ call, answer, seen }) => {
  answer(() => new Response("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"));
  const headers = { "x-amz-tagging": "kind=a+letter&x" };
  for (const [method, path] of [["PUT", `${B}/objects/k`], ["POST", "/api/v1/buckets/b/multipart/k"]]) {
    const response = await call(path, { method, headers, body: method === "PUT" ? "x" : undefined });
    assert.ok(response.ok, await response.text());
    assert.equal(seen[seen.length - 1].headers.get("x-amz-tagging"), "kind=a+letter&x");
    assert.match(seen[seen.length - 1].headers.get("authorization") ?? "", /;x-amz-tagging,/);
  }
});
