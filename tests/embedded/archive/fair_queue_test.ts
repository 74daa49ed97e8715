import assert from "node:assert/strict";
import fc from "fast-check";
import { FairQueue } from "@/embedded/archive/fair_queue.ts";

const client = (address: string, connection = "1") => ({ address, connection });

function taken(queue: FairQueue<string>): string[] {
  const entries: string[] = [];
  for (let entry = queue.take(); entry !== undefined; entry = queue.take()) entries.push(entry);
  return entries;
}

Deno.test("fair queue: addresses take turns, and the connections of an address do", () => {
  const queue = new FairQueue<string>(10);
  for (const entry of ["a1", "a2", "a3"]) queue.add(client("a"), entry);
  queue.add(client("a", "2"), "a4");
  for (const entry of ["b1", "b2"]) queue.add(client("b"), entry);
  assert.equal(queue.length, 6);
  assert.deepEqual(taken(queue), ["a1", "b1", "a4", "b2", "a2", "a3"]);
  assert.equal(queue.length, 0);
});

Deno.test("fair queue: a full queue drops the newest entry of the client that has the most", () => {
  const queue = new FairQueue<string>(4);
  for (const entry of ["a1", "a2", "a3", "a4"]) assert.equal(queue.add(client("a"), entry), null);
  assert.equal(queue.add(client("a"), "a5"), "a5");
  assert.equal(queue.add(client("b"), "b1"), "a4");
  assert.equal(queue.add(client("b"), "b2"), "a3");
  // Another entry of either would give it more than the other.
  assert.equal(queue.add(client("b"), "b3"), "b3");
  assert.equal(queue.add(client("c"), "c1"), "b2");
  assert.deepEqual(taken(queue), ["a1", "b1", "c1", "a2"]);
});

Deno.test("fair queue: a connection with one entry is not kept out by another one of its address", () => {
  const queue = new FairQueue<string>(3);
  for (const entry of ["a1", "a2", "a3"]) queue.add(client("a"), entry);
  assert.equal(queue.add(client("a", "2"), "other"), "a3");
  assert.deepEqual(taken(queue), ["a1", "other", "a2"]);
});

Deno.test("fair queue: an entry that is removed frees its slot, and an empty client is forgotten", () => {
  const queue = new FairQueue<string>(2);
  queue.add(client("a"), "a1");
  queue.add(client("b"), "b1");
  assert.equal(queue.remove(client("a"), "a1"), true);
  assert.equal(queue.remove(client("a"), "a1"), false);
  assert.equal(queue.remove(client("c"), "c1"), false);
  assert.equal(queue.add(client("b"), "b2"), null);
  assert.deepEqual(queue.clear(), ["b1", "b2"]);
  assert.equal(queue.take(), undefined);
});

Deno.test("fair queue: it is never longer than its bound, and each entry leaves it once", () => {
  const step = fc.record({
    address: fc.constantFrom("a", "b", "c"),
    connection: fc.constantFrom("1", "2"),
    does: fc.constantFrom("add", "add", "add", "take", "remove"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, max) => {
      const queue = new FairQueue<number>(max);
      const left = new Set<number>();
      const clients = new Map<number, { address: string; connection: string }>();
      const leave = (entry: number | null | undefined) => {
        if (typeof entry === "number") assert.ok(left.delete(entry));
      };
      steps.forEach(({ does, ...from }, entry) => {
        if (does === "add") {
          left.add(entry);
          clients.set(entry, from);
          leave(queue.add(from, entry));
        } else if (does === "take") leave(queue.take());
        else {
          const [oldest] = left;
          const owner = clients.get(oldest);
          if (owner && queue.remove(owner, oldest)) leave(oldest);
        }
        assert.ok(queue.length <= max);
        assert.equal(queue.length, left.size);
      });
      assert.deepEqual(new Set(queue.clear()), left);
    }),
    { numRuns: 300 },
  );
});
