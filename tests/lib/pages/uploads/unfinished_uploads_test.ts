import assert from "node:assert/strict";
import { UnfinishedUploads } from "@/lib/pages/uploads/unfinished_uploads_client.ts";
import { FakeBucket } from "./upload_page.ts";

const UPLOADS = ["dir/a.bin", "dir/own.bin", "elsewhere.bin"];

/** A bucket with these uploads, which it lists by a prefix as AWS does, or as MinIO does by a whole key alone. */
function bucketWith(lists: (key: string, prefix: string) => boolean): FakeBucket {
  const bucket = new FakeBucket();
  bucket.intercept = ({ operation, query }) => {
    if (operation === "list_parts") return Response.json({ parts: [{ PartNumber: 1, Size: 7 }], is_truncated: false });
    if (operation !== "list_uploads") return undefined;
    const keys = UPLOADS.filter((key) => lists(key, query.get("prefix") ?? ""));
    const uploads = keys.map((Key) => ({ Key, UploadId: `id of ${Key}`, Initiated: "2026-11-20T12:00:00Z" }));
    return Response.json({ uploads, is_truncated: false, next_key_marker: null, next_upload_id_marker: null });
  };
  return bucket;
}

Deno.test("unfinished uploads: those of a folder are found, also in a store that lists them by whole keys alone", async () => {
  const ways = {
    AWS: (key: string, prefix: string) => key.startsWith(prefix),
    MinIO: (key: string, prefix: string) => prefix === "" || key === prefix,
  };
  for (const [store, lists] of Object.entries(ways)) {
    const unfinished = new UnfinishedUploads(bucketWith(lists).calls, "dir/");
    await unfinished.read(new Set(["id of dir/own.bin"]));
    assert.deepEqual(unfinished.list.value, [
      { key: "dir/a.bin", uploadId: "id of dir/a.bin", begunAt: Date.UTC(2026, 10, 20, 12), bytes: 7 },
    ], store);
  }
  const none = new UnfinishedUploads(bucketWith(() => false).calls, "dir/");
  await none.read(new Set());
  assert.deepEqual(none.list.value, []);
});

Deno.test("unfinished uploads: a folder has none where the store lists none and forbids to list the bucket", async () => {
  const read = async (isForbidden: (prefix: string) => boolean) => {
    const bucket = bucketWith(() => false);
    const { intercept } = bucket;
    bucket.intercept = (call) =>
      call.operation === "list_uploads" && isForbidden(call.query.get("prefix") ?? "")
        ? Response.json({ detail: "Access Denied" }, { status: 403 })
        : intercept?.(call);
    const unfinished = new UnfinishedUploads(bucket.calls, "dir/");
    await unfinished.read(new Set());
    return unfinished.list.value;
  };
  assert.deepEqual(await read((prefix) => prefix === ""), []);
  assert.equal(await read(() => true), "forbidden");
});
