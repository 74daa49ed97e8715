import assert from "node:assert/strict";

import { webDigest } from "@/lib/pages/uploads/upload_sending_client.ts";

Deno.test("digest of uploads: two bodies are in memory at a time, and one that is cancelled gives up its turn", async () => {
  const begun: PromiseWithResolvers<ArrayBuffer>[] = [];
  const digest = () => {
    const hash = Promise.withResolvers<ArrayBuffer>();
    begun.push(hash);
    return hash.promise;
  };
  const read: string[] = [];
  const body = (name: string) =>
    Object.assign(new Blob([name]), {
      arrayBuffer() {
        read.push(name);
        return Promise.resolve(new ArrayBuffer(1));
      },
    });
  const hash = webDigest({ digest }, 10);
  const stop = new AbortController();
  const { signal } = new AbortController();
  const all = [hash(body("a"), signal), hash(body("b"), signal), hash(body("c"), stop.signal), hash(body("d"), signal)];
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(read, ["a", "b"]);
  stop.abort(new Error("cancelled"));
  await assert.rejects(all[2], /cancelled/);
  begun[0].resolve(new ArrayBuffer(3));
  assert.equal(await all[0], "AAAA");
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(read, ["a", "b", "d"]);
  for (const { resolve } of begun.slice(1)) resolve(new ArrayBuffer(3));
  assert.deepEqual(await Promise.all([all[1], all[3]]), ["AAAA", "AAAA"]);
});
