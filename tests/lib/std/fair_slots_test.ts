import assert from "node:assert/strict";
import { FairSlots } from "@/lib/std/concurrency.ts";

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
