import assert from "node:assert/strict";
import { answeredWithin } from "@/lib/std/answered_within.ts";
import { until } from "@/tests/until.ts";

Deno.test("answered within: what is not answered in time is null, asked once, and asked again after the answer", async () => {
  const asked: PromiseWithResolvers<string>[] = [];
  const answer = answeredWithin(1, () => {
    asked.push(Promise.withResolvers());
    return asked[asked.length - 1].promise;
  });
  assert.deepEqual(await Promise.all([answer(), answer()]), [null, null]);
  assert.equal(await answer(), null);
  assert.equal(asked.length, 1);
  asked[0].resolve("late");
  const later = await until("it is asked again", () => {
    const next = answer();
    asked[1]?.resolve("new");
    return next;
  });
  assert.deepEqual([later, asked.length], ["new", 2]);
});

Deno.test("answered within: a failure is thrown, and one that comes too late is not missed by the process", async () => {
  let fail = (_error: Error) => {};
  const answer = answeredWithin(1, () => new Promise((_, reject) => fail = reject));
  assert.equal(await answer(), null);
  fail(new Error("too late"));
  const answers = await until("it is asked again", async () => {
    const next = answer();
    fail(new Error("in time"));
    return await next.then((value) => value, (error: Error) => error.message);
  });
  assert.equal(answers, "in time");
});
