import assert from "node:assert/strict";
import fc from "fast-check";

import { findTaken } from "@/lib/client/storage/upload/taken_keys.ts";
import { FakeBucket } from "./fake_bucket.ts";

const { signal } = new AbortController();

Deno.test("taken keys: those of the listing that are sought, with no more pages than keys", async () => {
  const key = fc.string({ unit: fc.constantFrom("a", "b", "~", "/", "å", "\uffee", "\u{1f600}", "!"), minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(key), fc.array(key), fc.integer({ min: 1, max: 5 }), async (has, seeks, size) => {
      const bucket = new FakeBucket();
      bucket.pageSize = size;
      for (const one of has) bucket.objects.set(one, new Uint8Array(one.length));
      const taken = await findTaken(bucket.calls, "b", seeks, signal);
      const expected = new Map(seeks.filter((one) => has.includes(one)).map((one) => [one, one.length]));
      assert.deepEqual([...taken].sort(), [...expected].sort());
      assert.ok(bucket.seen.length <= new Set(seeks).size * 2, `${bucket.seen.length} pages`);
    }),
    { examples: [[["a", "b", "å", "\uffee", "/"], ["\uffee", "a"], 1]] },
  );
});

Deno.test("taken keys: ten thousand names for a folder that is new take one page", async () => {
  const bucket = new FakeBucket();
  for (let index = 0; index < 5000; index++) bucket.objects.set(`other/${index}`, new Uint8Array());
  const keys = Array.from({ length: 10_000 }, (_, index) => `new/${index}`);
  assert.equal((await findTaken(bucket.calls, "b", keys, signal)).size, 0);
  assert.equal(bucket.seen.length, 1);
});
