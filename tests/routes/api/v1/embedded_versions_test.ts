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
