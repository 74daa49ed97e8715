import assert from "node:assert/strict";
import { deadline } from "@/lib/std/timing.ts";

const reached = (ms: number) => new Promise<number>((resolve) => deadline(ms, () => resolve(performance.now())));

Deno.test("deadline: comes after its time and in its order, and a cancelled one never", async () => {
  const start = performance.now();
  const order: string[] = [];
  const cancel = deadline(60, () => order.push("cancelled"));
  const all = [
    reached(200).then((at) => (order.push("late"), assert.ok(at - start >= 200))),
    reached(1).then((at) => (order.push("early"), assert.ok(at - start >= 1))),
  ];
  cancel();
  cancel();
  await Promise.all(all);
  assert.deepEqual(order, ["early", "late"]);
});

Deno.test("deadline: the callback of one can set, or cancel, another", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let other = () => {};
  deadline(1, () => {
    other();
    deadline(1, resolve);
  });
  other = deadline(300, () => assert.fail("was taken back"));
  await promise;
});

Deno.test("deadline: one that throws does not stop the others", async () => {
  const errors: unknown[] = [];
  const heard = (event: ErrorEvent) => {
    event.preventDefault();
    errors.push(event.error);
  };
  globalThis.addEventListener("error", heard);
  deadline(1, () => {
    throw new Error("mine");
  });
  await Promise.all([reached(1), reached(60)]);
  globalThis.removeEventListener("error", heard);
  assert.equal(errors.length, 1);
});

Deno.test("deadline: cancelling one leaves all others, in whatever order they were set", async () => {
  const come: string[] = [];
  const set = (name: string) => deadline(1, () => come.push(name));
  const [first, , third] = ["first", "second", "third"].map(set);
  first();
  const [, fifth] = ["fourth", "fifth"].map(set);
  third();
  third();
  set("sixth");
  fifth();
  await reached(1);
  assert.deepEqual(come.sort(), ["fourth", "second", "sixth"]);
});
