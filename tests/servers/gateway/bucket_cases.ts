import assert from "node:assert/strict";
import type { GatewayCase } from "./case.ts";

/** Buckets, their settings, and their end. */
export const BUCKET_CASES: readonly GatewayCase[] = [
  {
    name: "buckets are made, listed, looked at and deleted",
    async run({ bucket, json, status }) {
      const [listed, { buckets }] = await json("GET", "/buckets");
      assert.equal(listed, 200);
      const entry = buckets.find((one: { Name: string }) => one.Name === bucket);
      assert.match(entry.CreationDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/);
      assert.equal(await status("HEAD", `/buckets/${bucket}`), 200);
      assert.equal(await status("POST", "/buckets", JSON.stringify({ bucket: "No Bucket" })), 400);
      assert.deepEqual(await json("DELETE", `/buckets/${bucket}`), [200, { status: "deleted", bucket }]);
      assert.equal(await status("DELETE", `/buckets/${bucket}`), 404);
      assert.equal(await status("DELETE", `/buckets/${bucket}?force=true`), 404);
      assert.equal(await status("HEAD", `/buckets/${bucket}`), 404);
      for (const part of ["objects", "versions", "uploads", "versioning"]) {
        assert.equal(await status("GET", `/buckets/${bucket}/${part}`), 404, part);
      }
    },
  },
  {
    name: "refused keys are 401",
    async run({ bucket, as }) {
      const stranger = await as("nobodyknowsthiskey", "nor this secret");
      for (const path of ["/buckets", `/buckets/${bucket}/objects`, `/buckets/${bucket}/objects/k`]) {
        assert.equal(await stranger.status("GET", path), 401, path);
      }
      assert.equal(await stranger.status("PUT", `/buckets/${bucket}/objects/k`, "x"), 401);
    },
  },
  {
    name: "versions are switched on, kept, read, listed in pages and deleted one by one",
    async run({ bucket, call, json, status }) {
      const key = `/buckets/${bucket}/objects/v`;
      assert.deepEqual(await json("GET", `/buckets/${bucket}/versioning`), [200, { status: null, mfa_delete: null }]);
      assert.deepEqual(
        await json("PUT", `/buckets/${bucket}/versioning`, { status: "enabled" }),
        [200, { status: "updated", versioning: "Enabled" }],
      );
      for (const text of ["first", "second"]) assert.equal(await status("PUT", key, text), 200);
      assert.equal(await status("DELETE", key), 200);
      assert.equal(await status("DELETE", key), 404);
      assert.equal(await status("GET", key), 404);
      const seen: { VersionId: string; IsLatest: boolean; marker: boolean }[] = [];
      let markers = "";
      for (let pages = 0; pages < 4; pages++) {
        const [code, page] = await json("GET", `/buckets/${bucket}/versions?max_keys=1${markers}`);
        assert.equal(code, 200);
        assert.equal(page.key_count, page.versions.length + page.delete_markers.length);
        for (const one of page.versions) seen.push({ ...one, marker: false });
        for (const one of page.delete_markers) seen.push({ ...one, marker: true });
        if (!page.is_truncated) break;
        markers = `&key_marker=${page.next_key_marker}&version_id_marker=${page.next_version_id_marker}`;
      }
      assert.deepEqual(seen.map(({ marker, IsLatest }) => [marker, IsLatest]), [[true, true], [false, false], [
        false,
        false,
      ]]);
      const [marker, second, first] = seen.map(({ VersionId }) => VersionId);
      const old = await call("GET", `${key}?version_id=${first}`);
      assert.equal(await old.text(), "first");
      assert.equal(await status("HEAD", `${key}?version_id=${second}`), 200);
      assert.equal(await status("DELETE", `${key}?version_id=${marker}`), 200);
      const back = await call("GET", key);
      assert.equal(await back.text(), "second");
      assert.equal(await status("DELETE", `${key}?version_id=${second}`), 200);
      const newest = await call("GET", key);
      assert.equal(await newest.text(), "first");
    },
  },
  {
    name: "a forced delete takes versions, markers and uploads along, a plain one is refused",
    async run({ bucket, json, status }) {
      const at = `/buckets/${bucket}`;
      await json("PUT", `${at}/versioning`, { status: "Enabled" });
      for (const key of ["a", "b/c", "b/c", "d"]) assert.equal(await status("PUT", `${at}/objects/${key}`, key), 200);
      assert.equal(await status("DELETE", `${at}/objects/a`), 200);
      assert.equal(await status("POST", `${at}/multipart/open`), 201);
      assert.equal(await status("DELETE", at), 409);
      assert.deepEqual(await json("DELETE", `${at}?force=true`), [200, { status: "deleted", bucket }]);
      assert.equal(await status("HEAD", at), 404);
    },
  },
  {
    name: "CORS rules are set, read and taken away",
    async run({ bucket, json }) {
      const at = `/buckets/${bucket}/cors`;
      const rule = {
        AllowedHeaders: ["*"],
        AllowedMethods: ["GET", "PUT"],
        AllowedOrigins: ["https://a.example"],
        ExposeHeaders: ["ETag"],
        MaxAgeSeconds: 60,
      };
      assert.equal((await json("GET", at))[0], 404);
      assert.deepEqual(await json("PUT", at, { CORSRules: [rule] }), [200, { status: "updated", bucket: null }]);
      assert.deepEqual(await json("GET", at), [200, { cors_rules: [rule] }]);
      assert.deepEqual(await json("DELETE", at), [200, { status: "deleted", bucket: null }]);
      assert.equal((await json("GET", at))[0], 404);
    },
  },
  {
    name: "an access list that was read can be set again",
    async run({ bucket, json, status }) {
      const [code, { owner, grants }] = await json("GET", `/buckets/${bucket}/acl`);
      assert.equal(code, 200);
      assert.equal(grants[0].Permission, "FULL_CONTROL");
      assert.deepEqual(
        await json("PUT", `/buckets/${bucket}/acl`, { Owner: owner, Grants: grants }),
        [200, { status: "updated", bucket: null }],
      );
      assert.equal(await status("GET", `/buckets/${bucket}/objects/absent/acl`), 404);
    },
  },
];
