import assert from "node:assert/strict";
import { RequestContext, Slots, UnprovenRequests } from "@/lib/http/request_context.ts";

Deno.test("slots: are limited in all and by key, and released once", () => {
  const slots = new Slots(3, 2);
  const [leave] = ["a", "a", "b"].map((key) => slots.enter(key));
  assert.deepEqual([slots.enter("a"), slots.enter("c")], ["all", "all"]);
  assert.ok(typeof leave === "function");
  leave();
  leave();
  assert.deepEqual([slots.count, slots.countOf("a"), slots.countOf("b"), slots.countOf("c")], [2, 1, 1, 0]);
  assert.equal(typeof slots.enter("a"), "function");
  const many = new Slots(Infinity, 1);
  many.enter("a");
  assert.deepEqual([many.enter("a"), typeof many.enter("b")], ["address", "function"]);
});

/** A request of the client at an address. */
function of(hostname: string): RequestContext {
  return new RequestContext(new Request("http://localhost/"), {
    remoteAddr: { transport: "tcp", hostname, port: 1 },
  });
}

const refusal = (detail: string) => ({ status: 503, message: detail });

Deno.test("unproven requests: they wait for their turn in the order of their arrival", async () => {
  const slots = new UnprovenRequests(2, 3);
  const [first, second] = await Promise.all([slots.enter(of("10.0.0.1")), slots.enter(of("10.0.0.1"))]);
  const order: number[] = [];
  const waiting = [1, 2].map((n) => slots.enter(of("10.0.0.1")).then((leave) => (order.push(n), leave)));
  assert.equal(slots.waiting, 2);
  const other = await slots.enter(of("10.0.0.2"));
  const another = slots.enter(of("10.0.0.3"));
  first();
  first();
  const leaveFirst = await waiting[0];
  assert.deepEqual([slots.count, slots.waiting, order], [3, 2, [1]], "a slot is released once");
  other();
  const leaveOther = await another;
  assert.deepEqual([slots.count, slots.waiting, order], [3, 1, [1]], "the share of the first address is full");
  leaveFirst();
  const leaveLast = await waiting[1];
  assert.deepEqual(order, [1, 2]);
  for (const leave of [second, leaveOther, leaveLast]) leave();
  assert.deepEqual([slots.count, slots.waiting], [0, 0]);
});

Deno.test("unproven requests: a wait ends with 503, and no slot is lost to it", async () => {
  const slots = new UnprovenRequests(1, 2, 1);
  const leave = await slots.enter(of("10.0.0.1"));
  await assert.rejects(slots.enter(of("10.0.0.1")), refusal("Too many requests of this address at a time"));
  const other = await slots.enter(of("10.0.0.2"));
  await assert.rejects(
    slots.enter(of("10.0.0.3")),
    refusal("Too many requests without proven credentials at a time"),
  );
  leave();
  other();
  assert.deepEqual([slots.count, slots.waiting], [0, 0]);
  (await slots.enter(of("10.0.0.1")))();
});

Deno.test("unproven requests: those of one address that wait are bounded, and others wait beside them", async () => {
  const slots = new UnprovenRequests(1, 1);
  const leave = await slots.enter(of("10.0.0.1"));
  const served = { "10.0.0.1": 0, "10.0.0.2": 0 };
  const enter = async (address: keyof typeof served) => {
    const leave = await slots.enter(of(address));
    served[address]++;
    leave();
  };
  const waiting = Array.from({ length: 256 }, () => enter("10.0.0.1"));
  await assert.rejects(slots.enter(of("10.0.0.1")), { status: 503 });
  waiting.push(enter("10.0.0.2"));
  leave();
  await Promise.all(waiting);
  assert.deepEqual([served, slots.count, slots.waiting], [{ "10.0.0.1": 256, "10.0.0.2": 1 }, 0, 0]);
});
