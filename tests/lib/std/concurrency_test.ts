import assert from "node:assert/strict";
import { FairSlots, forEachConcurrent, yielding } from "@/lib/std/concurrency.ts";

/** Slots whose owners are recorded in the order in which they get them. */
function scene(max: number) {
  const slots = new FairSlots(max);
  const entered: string[] = [];
  const leave: (() => void)[] = [];
  const enter = async (owner: string, signal?: AbortSignal) => {
    const release = await slots.enter(owner, signal);
    entered.push(owner);
    leave.push(release);
  };
  return { enter, entered, leave };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("fair slots: so many are taken at a time, and a free one goes to the owner with the fewest", async () => {
  const { enter, entered, leave } = scene(3);
  for (const owner of ["a", "a", "a", "a", "a", "b", "b", "c"]) enter(owner);
  await settle();
  assert.deepEqual(entered.splice(0), ["a", "a", "a", "b", "c"], "an owner who has none does not wait");
  leave[0]();
  leave[1]();
  await settle();
  assert.deepEqual(entered, [], "three are taken");
  leave[2]();
  await settle();
  assert.deepEqual(entered.splice(0), ["a"], "the one of whom none runs");
  leave[3]();
  await settle();
  assert.deepEqual(entered.splice(0), ["b"], "likewise");
  leave[4]();
  await settle();
  assert.deepEqual(entered, ["a"]);
});

Deno.test("fair slots: a slot is released once, however often that is said", async () => {
  const { enter, entered, leave } = scene(1);
  for (const _ of [1, 2, 3]) enter("a");
  await settle();
  leave[0]();
  leave[0]();
  await settle();
  assert.deepEqual(entered, ["a", "a"]);
});

Deno.test("fair slots: a wait that is ended takes no slot", async () => {
  const { enter, entered, leave } = scene(1);
  await enter("a");
  const abort = new AbortController();
  const waiting = enter("a", abort.signal);
  enter("a");
  abort.abort(new Error("left"));
  await assert.rejects(waiting, { message: "left" });
  await assert.rejects(enter("b", abort.signal), { message: "left" });
  leave[0]();
  await settle();
  assert.deepEqual(entered, ["a", "a"]);
  assert.equal(leave.length, 2);
});

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
