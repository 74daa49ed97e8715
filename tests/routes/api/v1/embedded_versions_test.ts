import assert from "node:assert/strict";
import { type EmbeddedObjects, withEmbeddedObjects } from "./embedded_objects.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

interface Listed {
  readonly VersionId: string;
  readonly IsLatest: boolean;
  readonly IsDeleteMarker: boolean;
  readonly Size: number | null;
}

/** The path of an object's versions, tags or restore. */
function at(path: string, word: "versions" | "tags" | "restore"): string {
  return path.replace("/objects/", `/${word}/`);
}

async function put({ call }: EmbeddedObjects, path: string, body: string, headers: Record<string, string> = {}) {
  const response = await call("PUT", path, body, { headers });
  assert.equal(response.status, 200, await response.text());
  return response.headers.get("x-amz-version-id") ?? "";
}

async function versionsOf({ json }: EmbeddedObjects, path: string, query = ""): Promise<readonly Listed[]> {
  const { versions } = await json("GET", `${at(path, "versions")}${query}`);
  assert.ok(Array.isArray(versions));
  return versions;
}

Deno.test("versions in the embedded store: those of one key, page by page", leaks, async () => {
  await withEmbeddedObjects(async (objects) => {
    const { call, json } = objects;
    const path = "/buckets/maps/objects/a";
    const ids = [await put(objects, path, "1"), await put(objects, path, "22")];
    await put(objects, `${path}/b`, "other");
    await put(objects, `${path}%00`, "other");
    const { headers } = await call("DELETE", path);
    ids.push(headers.get("x-amz-version-id") ?? "");
    ids.push(await put(objects, path, "4444"));
    const newest = ids.toReversed();
    const all = await versionsOf(objects, path);
    assert.deepEqual(all.map(({ VersionId }) => VersionId), newest);
    assert.deepEqual(all.map(({ Size, IsLatest, IsDeleteMarker }) => [Size, IsLatest, IsDeleteMarker]), [
      [4, true, false],
      [null, false, true],
      [2, false, false],
      [1, false, false],
    ]);
    for (const max_keys of [1, 2, 3, 4]) {
      const seen: string[] = [];
      for (let marker = "", pages = 0;; pages++) {
        const page = await json("GET", `${at(path, "versions")}?max_keys=${max_keys}${marker}`);
        assert.ok(Array.isArray(page.versions) && page.versions.length > 0, "no page is empty");
        assert.equal(page.key_count, page.versions.length);
        seen.push(...page.versions.map(({ VersionId }) => VersionId));
        if (!page.is_truncated) break;
        assert.ok(pages < 4);
        marker = `&version_id_marker=${page.next_version_id_marker}`;
      }
      assert.deepEqual(seen, newest);
    }
    assert.equal((await call("GET", "/buckets/maps/versions/absent")).status, 404);
    assert.equal((await call("GET", "/buckets/absent/versions/a")).status, 404);
    assert.equal((await call("GET", at(path, "versions"), undefined, { user: "reader" })).status, 403);
  });
});

Deno.test(
  "restore in the embedded store: metadata and tags stay, a delete marker is superseded, nothing is lost",
  leaks,
  async () => {
    await withEmbeddedObjects(async (objects) => {
      const { call, json } = objects;
      const path = "/buckets/maps/objects/å b";
      const first = await put(objects, path, "one", {
        "x-amz-tagging": "kind=letter",
        "x-amz-meta-page": "7",
        "content-type": "text/x-first",
      });
      const second = await put(objects, path, "two");
      const restore = (version_id: string) => call("POST", at(path, "restore"), { version_id });
      const expectFirst = async (version: string) => {
        const read = await call("GET", path);
        assert.equal(await read.text(), "one");
        assert.equal(read.headers.get("x-amz-version-id"), version);
        assert.deepEqual([read.headers.get("x-amz-meta-page"), read.headers.get("content-type")], [
          "7",
          "text/x-first",
        ]);
        assert.deepEqual(await json("GET", at(path, "tags")), { tags: { kind: "letter" } });
      };
      const restored = await (await restore(first)).json();
      const { version_id: third, ...rest } = restored;
      assert.deepEqual(rest, {
        status: "restored",
        bucket: "maps",
        key: "å b",
        etag: '"f97c5d29941bfb1b2fdab0874906ab82"',
      });
      await expectFirst(third);
      assert.deepEqual((await versionsOf(objects, path)).map(({ VersionId }) => VersionId), [third, second, first]);

      const again = await (await restore(third)).json();
      assert.equal(again.version_id, third);
      assert.equal((await versionsOf(objects, path)).length, 3, "it was current already");

      await call("DELETE", path);
      const [marker] = await versionsOf(objects, path);
      assert.ok(marker.IsDeleteMarker);
      const fifth = (await (await restore(first)).json()).version_id;
      await expectFirst(fifth);
      assert.deepEqual((await versionsOf(objects, path)).map(({ VersionId }) => VersionId), [
        fifth,
        marker.VersionId,
        third,
        second,
        first,
      ]);
      assert.equal((await restore(marker.VersionId)).status, 400);
      assert.equal((await restore("77")).status, 404);
      assert.equal((await call("POST", at(path, "restore"), { version_id: first }, { user: "reader" })).status, 403);

      await json("PUT", "/buckets/maps/versioning", { status: "Suspended" });
      assert.equal((await restore(first)).status, 409);
      await json("POST", "/buckets", { bucket: "plain" });
      await put(objects, "/buckets/plain/objects/k", "x");
      const off = await call("POST", "/buckets/plain/restore/k", { version_id: "null" });
      assert.equal(off.status, 409);
      assert.equal(
        (await off.json()).detail,
        "bucket 'plain': has no versioning, so there are no older versions to restore",
      );
      const plain = await versionsOf(objects, "/buckets/plain/objects/k");
      assert.deepEqual(plain.map(({ VersionId, IsLatest }) => [VersionId, IsLatest]), [["null", true]]);
    });
  },
);

Deno.test("restore in the embedded store: a user who is not the owner replaces no version 'null'", leaks, async () => {
  await withEmbeddedObjects(async (objects) => {
    const { call, json } = objects;
    const path = "/buckets/campaigns/objects/old";
    const newKey = "/buckets/campaigns/objects/new";
    const users = { Type: "Group", URI: "http://acs.amazonaws.com/groups/global/AuthenticatedUsers" };
    await json("PUT", "/buckets/campaigns/acl", { Grants: [{ Grantee: users, Permission: "WRITE" }] });
    await put(objects, path, "from before versioning");
    await json("PUT", "/buckets/campaigns/versioning", { status: "Enabled" });
    const second = await put(objects, path, "two");
    await put(objects, path, "three");
    const first = await put(objects, newKey, "one");
    await put(objects, newKey, "two");
    const restore = (path: string, version_id: string) =>
      call("POST", at(path, "restore"), { version_id }, { user: "reader" });
    assert.equal((await restore(newKey, first)).status, 200, "no version is null");
    for (const status of ["Enabled", "Suspended"]) {
      await json("PUT", "/buckets/campaigns/versioning", { status });
      const before = await versionsOf(objects, path);
      for (const version of [second, "null"]) {
        const response = await restore(path, version);
        assert.equal(response.status, 409, await response.text());
      }
      assert.deepEqual(await versionsOf(objects, path), before);
      assert.equal(await (await call("GET", `${path}?version_id=null`)).text(), "from before versioning");
    }
  });
});

Deno.test("restore in the embedded store: a write that comes first is not lost", leaks, async () => {
  await withEmbeddedObjects(async (objects) => {
    const path = "/buckets/maps/objects/raced";
    const first = await put(objects, path, "one");
    await put(objects, path, "two");
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        if (n % 2 === 0) return { written: await put(objects, path, `write ${n}`) };
        const response = await objects.call("POST", at(path, "restore"), { version_id: first });
        await response.body?.cancel();
        assert.ok(response.status === 200 || response.status === 409, String(response.status));
        return {};
      }),
    );
    const ids = (await versionsOf(objects, path)).map(({ VersionId }) => VersionId);
    for (const { written } of outcomes) if (written) assert.ok(ids.includes(written));
  });
});
