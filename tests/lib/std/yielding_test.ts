import assert from "node:assert/strict";
import { yielding } from "@/lib/std/concurrency.ts";

/** Keeps the processor busy for so long, ms. */
function compute(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("yielding: every index once and in order, none for nothing", async () => {
  for (const count of [0, 1, 16, 1000]) {
    const seen: number[] = [];
    await yielding(count, (index) => void seen.push(index));
    assert.deepEqual(seen, Array.from({ length: count }, (_, i) => i));
  }
});

Deno.test("yielding: other work comes in between, and several loops take turns", async () => {
  const order: string[] = [];
  let timers = 0;
  const timer = setInterval(() => timers++, 0);
  const loop = (name: string) =>
    yielding(160, () => {
      if (order[order.length - 1] !== name) order.push(name);
      compute(0.25);
    });
  await Promise.all([loop("a"), loop("b")]);
  clearInterval(timer);
  assert.ok(timers > 5, `${timers} timers ran`);
  assert.ok(order.length > 5, order.join(""));
});

Deno.test("yielding: a failure ends the loop", async () => {
  let calls = 0;
  await assert.rejects(
    yielding(100, (index) => {
      calls++;
      if (index === 3) throw new Error("three");
    }),
    /three/,
  );
  assert.equal(calls, 4);
});
