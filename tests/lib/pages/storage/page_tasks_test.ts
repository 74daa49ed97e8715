import assert from "node:assert/strict";
import { refused } from "@/lib/pages/storage/folder_changes_client.ts";
import { targetBuckets } from "@/lib/pages/storage/page_tasks_client.ts";

async function targetsAmong(buckets: readonly string[] | null, bucket: string, write: boolean) {
  const original = globalThis.fetch;
  globalThis.fetch = () =>
    Promise.resolve(
      buckets === null
        ? new Response("{}", { status: 403 })
        : Response.json({ buckets: buckets.map((Name) => ({ Name })) }),
    );
  try {
    return await targetBuckets("archive/reader", bucket, write);
  } finally {
    globalThis.fetch = original;
  }
}

Deno.test("target buckets: the bucket itself and the others are offered while it may be written to", async () => {
  assert.deepEqual(await targetsAmong(["letters", "maps"], "maps", true), ["letters", "maps"]);
  assert.deepEqual(await targetsAmong(null, "maps", true), ["maps"]);
});

Deno.test("target buckets: a bucket that may not be written to is left out", async () => {
  assert.deepEqual(await targetsAmong(["letters", "maps"], "maps", false), ["letters"]);
  assert.deepEqual(await targetsAmong(["maps"], "maps", false), []);
  assert.deepEqual(await targetsAmong(null, "maps", false), []);
});

Deno.test("target buckets: a bucket that the store has refused to write to is left out", async () => {
  refused("archive/reader", "closed", "write");
  refused("archive/reader", "letters", "delete");
  assert.deepEqual(await targetsAmong(["closed", "letters", "maps"], "maps", true), ["letters", "maps"]);
});
