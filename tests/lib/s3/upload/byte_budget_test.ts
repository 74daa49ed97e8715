import assert from "node:assert/strict";
import { BudgetExhausted, ByteBudget } from "@/lib/s3/upload/byte_budget.ts";

Deno.test("byte budget: who does not fit waits in order, and a share comes back once", async () => {
  const budget = new ByteBudget(10);
  const first = await budget.take(6, 1000);
  const order: string[] = [];
  const large = budget.take(8, 1000).then((free) => {
    order.push("large");
    return free;
  });
  const small = budget.take(2, 1000).then((free) => {
    order.push("small");
    return free;
  });
  assert.equal(budget.free, 4, "the small one waits behind the large one");
  first();
  first();
  const [freeLarge, freeSmall] = await Promise.all([large, small]);
  assert.deepEqual(order, ["large", "small"]);
  assert.equal(budget.free, 0);
  freeLarge();
  freeSmall();
  assert.equal(budget.free, 10);
});

Deno.test("byte budget: whoever gives up waiting makes room for those behind", async () => {
  const budget = new ByteBudget(10);
  const held = await budget.take(6, 1000);
  const leaving = new AbortController();
  const large = budget.take(8, 1000, leaving.signal);
  const small = budget.take(4, 1000);
  leaving.abort(new Error("left"));
  await assert.rejects(large, { message: "left" });
  const free = await small;
  await assert.rejects(budget.take(8, 1), BudgetExhausted);
  await assert.rejects(budget.take(1, 1, AbortSignal.abort(new Error("was gone"))), { message: "was gone" });
  free();
  held();
  assert.equal(budget.free, 10);
});
