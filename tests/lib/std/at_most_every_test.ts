import assert from "node:assert/strict";
import { atMostEvery } from "@/lib/std/timing.ts";

Deno.test("atMostEvery: says yes at first, and again once the interval since the last yes is over", () => {
  let now = 0;
  const mayReport = atMostEvery(100, () => now);
  const said = [0, 0, 50, 99, 100, 150, 199, 200].map((time) => {
    now = time;
    return mayReport();
  });
  assert.deepEqual(said, [true, false, false, false, true, false, false, true]);
});
