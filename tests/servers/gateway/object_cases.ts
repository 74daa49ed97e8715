import assert from "node:assert/strict";
import type { GatewayCase } from "./gateway_server.ts";

interface Listed {
  Key: string;
}

/** Objects: written, read, listed, copied, deleted, shared. */
export const OBJECT_CASES: readonly GatewayCase[] = [
  {
    name: "an object is written and read with its headers, ranges and conditions",
    async run({ bucket, call, status }) {
      const path = `/buckets/${bucket}/objects/d/a b.txt`;
      const put = await call("PUT", path, "0123456789", { "Content-Type": "text/x-test", "x-amz-meta-colour": "blue" });
      const written = await put.json();
      assert.deepEqual([put.status, written.status, written.key], [200, "uploaded", "d/a b.txt"]);
      const got = await call("GET", path);
      assert.equal(await got.text(), "0123456789");
      const head = await call("HEAD", path);
      await head.body?.cancel();
      for (const { headers } of [got, head]) {
        assert.equal(headers.get("content-length"), "10");
        assert.equal(headers.get("content-type"), "text/x-test");
        assert.equal(headers.get("x-amz-meta-colour"), "blue");
        assert.equal(headers.get("etag"), written.etag);
        assert.ok(Date.parse(headers.get("last-modified") ?? "") > 0);
      }
      const range = await call("GET", path, null, { Range: "bytes=2-4" });
      assert.deepEqual([range.status, range.headers.get("content-range"), await range.text()], [
        206,
        "bytes 2-4/10",
        "234",
      ]);
      const changed = await call("GET", path, null, { Range: "bytes=2-4", "If-Range": '"other"' });
      assert.deepEqual([changed.status, await changed.text()], [200, "0123456789"]);
      assert.equal(await status("GET", path, null, { Range: "bytes=10-" }), 416);
      assert.equal(await status("GET", path, null, { "If-None-Match": written.etag }), 304);
      assert.equal(await status("GET", path, null, { "If-Match": '"other"' }), 412);
      assert.equal(await status("PUT", path, "x", { "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA==" }), 400);
      assert.equal(await status("PUT", path, "x", { "If-None-Match": "*" }), 412);
      assert.equal(await status("DELETE", path), 200);
      for (const method of ["DELETE", "GET", "HEAD"]) assert.equal(await status(method, path), 404, method);
    },
  },
  {
    name: "a condition that does not hold is 412 or, where the server ignores it, 501, and changes nothing",
    async run({ bucket, call, json, status }) {
      const path = `/buckets/${bucket}/objects/k`;
      const etag = async () => (await call("HEAD", path)).headers.get("etag");
      await status("PUT", path, "old");
      await status("PUT", `/buckets/${bucket}/objects/source`, "new");
      const before = await etag() ?? "";
      const source = JSON.stringify({ source_bucket: bucket, source_key: "source" });
      const writes = {
        put: (headers: Record<string, string>) => status("PUT", path, "new", headers),
        delete: (headers: Record<string, string>) => status("DELETE", path, null, headers),
        copy: (headers: Record<string, string>) => status("POST", `${path}/copy`, source, headers),
      };
      const conditions: Record<string, string>[] = [
        { "If-Match": '"other"' },
        { "If-Match": `W/${before}, "other"` },
        { "If-None-Match": "*" },
        { "If-None-Match": before },
        { "If-Unmodified-Since": "Mon, 01 Jan 2001 00:00:00 GMT" },
      ];
      for (const [name, write] of Object.entries(writes)) {
        for (const headers of conditions) {
          const at = `${name} ${JSON.stringify(headers)}`;
          const failed = await write(headers);
          assert.ok(failed === 412 || (failed === 501 && name !== "put"), `${at}: ${failed}`);
          assert.equal(await etag(), before, at);
        }
      }
      assert.equal(await writes.put({ "If-Match": `"other", ${before}` }), 200);
      for (const name of ["x-amz-copy-source-if-match", "x-amz-copy-source-if-unmodified-since"]) {
        const value = name.endsWith("match") ? '"other"' : "Mon, 01 Jan 2001 00:00:00 GMT";
        assert.equal(await writes.copy({ [name]: value }), 412);
      }
      const [, { objects }] = await json("GET", `/buckets/${bucket}/objects`);
      assert.deepEqual(objects.map(({ Key }: Listed) => Key), ["k", "source"], "nothing else was written");
    },
  },
  {
    name: "keys are themselves, whatever characters they have",
    async run({ bucket, call, json, status }) {
      const keys = [
        "å/ä ö.txt",
        "a+b",
        "a%2Bb",
        "?x=1&y",
        "#f",
        "😀",
        "<x>&\"'",
        "delete",
        "x/copy",
        "y/acl",
        "y/tags",
        "y/versions",
        "y/restore",
        "e\u0301",
      ];
      for (const key of keys) {
        const path = `/buckets/${bucket}/objects/${encodeURIComponent(key)}?as=object`;
        assert.equal(await status("PUT", path, key), 200, key);
        assert.equal(await (await call("GET", path)).text(), key);
      }
      const [, { objects }] = await json("GET", `/buckets/${bucket}/objects`);
      assert.deepEqual(new Set(objects.map(({ Key }: Listed) => Key)), new Set(keys));
      const [, { deleted, errors }] = await json("POST", `/buckets/${bucket}/objects/delete`, { keys });
      assert.deepEqual([deleted, errors], [keys.length, []]);
      assert.deepEqual((await json("GET", `/buckets/${bucket}/objects`))[1].objects, []);
    },
  },
  {
    name: "odd segments of keys are kept",
    async run({ bucket, json, status }) {
      const keys = [
        "a//b",
        "/lead",
        "up/../down",
        "here/./there",
        "\x01\x7f",
        "nul\0l",
        "new\nline\r\n",
        "back\\slash",
      ];
      for (const key of keys) {
        const path = `/buckets/${bucket}/objects/${encodeURIComponent(key)}`;
        assert.equal(await status("PUT", path, key), 200, JSON.stringify(key));
      }
      const [, { objects }] = await json("GET", `/buckets/${bucket}/objects`);
      assert.deepEqual(new Set(objects.map(({ Key }: Listed) => Key)), new Set(keys));
    },
  },
  {
    name: "a key that is longer than the store allows is 400",
    async run({ bucket, status }) {
      assert.equal(await status("PUT", `/buckets/${bucket}/objects/${"k".repeat(1025)}`, "x"), 400);
    },
  },
  {
    name: "listings come in pages and fold at a delimiter",
    async run({ bucket, json, status }) {
      const keys = ["a", "b/1", "b/2", "c å+/1", "d", "e"];
      for (const key of keys) {
        await status("PUT", `/buckets/${bucket}/objects/${encodeURIComponent(key)}`, key);
      }
      const pages = async (query: string) => {
        const seen: string[] = [];
        const prefixes: string[] = [];
        for (let token = "";;) {
          const [code, page] = await json("GET", `/buckets/${bucket}/objects?max_keys=2&prefix=${query}${token}`);
          assert.equal(code, 200);
          assert.equal(page.key_count, page.objects.length + page.common_prefixes.length);
          for (const one of page.objects) {
            assert.deepEqual([one.Size > 0, typeof one.ETag, one.LastModified.endsWith("Z")], [true, "string", true]);
            seen.push(one.Key);
          }
          prefixes.push(...page.common_prefixes);
          if (!page.is_truncated) return [seen, prefixes];
          token = `&continuation_token=${encodeURIComponent(page.next_continuation_token)}`;
        }
      };
      assert.deepEqual(await pages(""), [keys, []]);
      assert.deepEqual(await pages("&delimiter=/"), [["a", "d", "e"], ["b/", "c å+/"]]);
      assert.deepEqual(await pages("b/&delimiter=/"), [["b/1", "b/2"], []]);
    },
  },
  {
    name: "many objects are deleted by keys and by a prefix; absent ones count as deleted",
    async run({ bucket, json, status }) {
      const at = `/buckets/${bucket}/objects`;
      for (const key of ["a", "p/1", "p/2", "q"]) await status("PUT", `${at}/${key}`, key);
      const result = (deleted: number) => [200, { status: "deleted", deleted, errors: [] }];
      assert.deepEqual(await json("POST", `${at}/delete`, { keys: ["a", "absent"] }), result(2));
      assert.deepEqual(await json("POST", `${at}/delete`, { prefix: "p/" }), result(2));
      assert.deepEqual((await json("GET", at))[1].objects.map(({ Key }: Listed) => Key), ["q"]);
    },
  },
  {
    name: "a copy keeps metadata, a folder is an empty object",
    async run({ bucket, call, json, status }) {
      const at = `/buckets/${bucket}/objects`;
      await status("PUT", `${at}/${encodeURIComponent("från+")}`, "x", {
        "Content-Type": "text/x-test",
        "x-amz-meta-a": "1",
      });
      assert.deepEqual(
        await json("POST", `${at}/to/here/copy`, { source_bucket: bucket, source_key: "från+" }),
        [200, { status: "copied", bucket, key: "to/here" }],
      );
      const head = await call("HEAD", `${at}/to/here`);
      await head.body?.cancel();
      assert.deepEqual([head.headers.get("content-type"), head.headers.get("x-amz-meta-a")], ["text/x-test", "1"]);
      assert.equal((await json("POST", `${at}/c/copy`, { source_bucket: bucket, source_key: "absent" }))[0], 404);
      assert.deepEqual(
        await json("POST", `${at}/folder`, { folder_name: "f/g" }),
        [201, { bucket, key: "f/g/", status: "created" }],
      );
      const [, { common_prefixes }] = await json("GET", `${at}?prefix=f/&delimiter=/`);
      assert.deepEqual(common_prefixes, ["f/g/"]);
    },
  },
  {
    name: "presigned addresses write and read without credentials",
    async run({ bucket, json }) {
      const key = "dir/å +&=.txt";
      const [, put] = await json("POST", "/presign", { bucket, key, method: "put_object", expires_in: 60 });
      const written = await fetch(put.url, { method: "PUT", body: "by address" });
      assert.equal(written.status, 200, await written.text());
      const [, get] = await json("POST", "/presign", { bucket, key });
      assert.equal(await (await fetch(get.url)).text(), "by address");
      const [, { urls }] = await json("POST", `/buckets/${bucket}/objects/presign`, { keys: [key, "absent"] });
      assert.equal(await (await fetch(urls[0].url)).text(), "by address");
      const absent = await fetch(urls[1].url);
      assert.equal(absent.status, 404, await absent.text());
    },
  },
];
