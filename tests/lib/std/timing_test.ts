import assert from "node:assert/strict";
import { atMostEvery, readWithin } from "@/lib/std/timing.ts";
import { deadline } from "@/lib/std/body_reader.ts";
import { until } from "@/tests/until.ts";

Deno.test("atMostEvery: says yes at first, and again once the interval since the last yes is over", () => {
  let now = 0;
  const mayReport = atMostEvery(100, () => now);
  const said = [0, 0, 50, 99, 100, 150, 199, 200].map((time) => {
    now = time;
    return mayReport();
  });
  assert.deepEqual(said, [true, false, false, false, true, false, false, true]);
});

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

Deno.test("read within: what is late is null, read once, and read again after it has ended", async () => {
  const reads: PromiseWithResolvers<string>[] = [];
  const read = readWithin(1, () => {
    reads.push(Promise.withResolvers());
    return reads[reads.length - 1].promise;
  });
  assert.deepEqual(await Promise.all([read(), read()]), [null, null]);
  assert.equal(await read(), null);
  assert.equal(reads.length, 1);
  reads[0].resolve("late");
  const later = await until("it is read again", () => {
    const next = read();
    reads[1]?.resolve("new");
    return next;
  });
  assert.deepEqual([later, reads.length], ["new", 2]);
});

Deno.test("read within: a failure is thrown, and one that comes too late is not missed by the process", async () => {
  let fail = (_error: Error) => {};
  const read = readWithin(1, () => new Promise((_, reject) => fail = reject));
  assert.equal(await read(), null);
  fail(new Error("too late"));
  const answers = await until("it is read again", async () => {
    const next = read();
    fail(new Error("in time"));
    return await next.then((value) => value, (error: Error) => error.message);
  });
  assert.equal(answers, "in time");
});

Deno.test("read within: one that ends in the turn in which it is late does not keep others from being read", async () => {
  let reads = 0;
  // Both deadlines come in one turn, and in this order unless another one is cancelled meanwhile.
  const read = readWithin(1, () => new Promise((resolve) => deadline(1, () => resolve(++reads))));
  await read();
  await until("it is read again", async () => {
    await read();
    return reads > 1 || null;
  }, 10_000);
});
