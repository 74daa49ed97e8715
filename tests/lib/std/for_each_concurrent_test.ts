import assert from "node:assert/strict";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";

Deno.test("forEachConcurrent: every item once, in order, never more than allowed at a time", async () => {
  const begun: number[] = [];
  let under = 0;
  let most = 0;
  await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
  });
  assert.deepEqual(begun, [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(most, 3);
});

Deno.test("forEachConcurrent: nothing begins after one has failed", async () => {
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await Promise.resolve();
    if (item === 2) throw new Error("two");
  };
  await assert.rejects(forEachConcurrent([1, 2, 3, 4, 5, 6], 2, work), /two/);
  assert.ok(begun.length <= 4, String(begun));
});
