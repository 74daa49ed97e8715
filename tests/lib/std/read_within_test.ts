import assert from "node:assert/strict";
import { deadline, readWithin } from "@/lib/std/timing.ts";
import { until } from "@/tests/until.ts";

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
