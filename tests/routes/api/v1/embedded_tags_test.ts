import { GetObjectTaggingCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { withEmbeddedObjects } from "./embedded_objects.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

Deno.test(
  "tags in the embedded store: each version has its own, and writing them needs the right to write",
  leaks,
  async () => {
    await withEmbeddedObjects(async ({ call, json, store }) => {
      const path = "/buckets/maps/objects/å/1";
      const tagsPath = "/buckets/maps/tags/å/1";
      const put = async (headers: Record<string, string>) => {
        const response = await call("PUT", path, "x", { headers });
        assert.equal(response.status, 200, await response.text());
        return response.headers.get("x-amz-version-id");
      };
      const first = await put({ "x-amz-tagging": "kind=a+letter&l%C3%A4n=Sk%C3%A5ne" });
      const second = await put({});
      assert.notEqual(first, second);
      const tags = { project: "1700s", "checked by": "Anna Ö", empty: "" };
      const updated = await call("PUT", tagsPath, { tags });
      assert.deepEqual([updated.status, await updated.json()], [200, { status: "updated" }]);
      assert.equal(updated.headers.get("x-amz-version-id"), second);
      assert.deepEqual(await json("GET", tagsPath), { tags });
      assert.deepEqual(await json("GET", `${tagsPath}?version_id=${first}`), {
        tags: { kind: "a letter", län: "Skåne" },
      });
      const client = store.client("archive", "curator");
      const { TagSet } = await client.send(new GetObjectTaggingCommand({ Bucket: "maps", Key: "å/1" }));
      assert.deepEqual(TagSet, Object.entries(tags).map(([Key, Value]) => ({ Key, Value })));
      assert.equal((await call("HEAD", path)).headers.get("x-amz-tagging-count"), "3");

      assert.deepEqual(await json("DELETE", tagsPath), { status: "deleted" });
      assert.deepEqual(await json("GET", tagsPath), { tags: {} });
      assert.deepEqual(await json("GET", `${tagsPath}?version_id=${first}`), {
        tags: { kind: "a letter", län: "Skåne" },
      });
      for (
        const [method, target] of [["GET", "absent"], ["DELETE", "absent"], ["GET", "å/1?version_id=7"]]
      ) {
        const response = await call(method, `/buckets/maps/tags/${target}`);
        assert.equal(response.status, 404, `${method} ${target}: ${await response.text()}`);
      }

      const open = "/buckets/campaigns/objects/tagged";
      const openTags = "/buckets/campaigns/tags/tagged";
      assert.equal((await call("PUT", open, "x", { headers: { "x-amz-tagging": "a=b" } })).status, 200);
      const reader = { user: "reader" };
      assert.deepEqual(await (await call("GET", openTags, undefined, reader)).json(), { tags: { a: "b" } });
      assert.equal((await call("PUT", openTags, { tags: {} }, reader)).status, 403);
      assert.equal((await call("DELETE", openTags, undefined, reader)).status, 403);
      assert.deepEqual(await json("GET", openTags), { tags: { a: "b" } });
    });
  },
);
