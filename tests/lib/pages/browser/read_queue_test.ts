import assert from "node:assert/strict";

import { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";

const free = () => ({ urgent: false, signal: new AbortController().signal });

/** Reads that end when told to, and the order in which they began. */
function reads() {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    began,
    read: (name: string) => () => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      return promise;
    },
    end: (name: string) => ends.get(name)?.(),
  };
}

/** All that is due now has happened. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("read queue: no more at once than allowed, the rest in the order they came", async () => {
  const { began, read, end } = reads();
  const queue = new ReadQueue(2);
  for (const name of ["a", "b", "c", "d"]) queue.run(read(name), free());
  await settled();
  assert.deepEqual(began, ["a", "b"]);
  end("b");
  await settled();
  assert.deepEqual(began, ["a", "b", "c"]);
});

Deno.test("read queue: what the reader asked for goes ahead of what was waiting", async () => {
  const { began, read, end } = reads();
  const queue = new ReadQueue(1);
  queue.run(read("a"), free());
  queue.run(read("b"), free());
  queue.run(read("now"), { ...free(), urgent: true });
  queue.run(read("now too"), { ...free(), urgent: true });
  for (const name of ["a", "now", "now too"]) {
    await settled();
    end(name);
  }
  await settled();
  assert.deepEqual(began, ["a", "now", "now too", "b"]);
});

Deno.test("read queue: an aborted read gives up its place", async () => {
  const { began, read, end } = reads();
  const queue = new ReadQueue(1);
  const gone = new AbortController();
  queue.run(read("a"), free());
  const refused = assert.rejects(queue.run(read("b"), { urgent: false, signal: gone.signal }));
  queue.run(read("c"), free());
  gone.abort();
  end("a");
  await refused;
  await settled();
  assert.deepEqual(began, ["a", "c"]);
});

Deno.test("read queue: a read that fails makes room", async () => {
  const queue = new ReadQueue(1);
  await assert.rejects(queue.run(() => Promise.reject(new Error("no")), free()), /no/);
  assert.equal(await queue.run(() => Promise.resolve(3), free()), 3);
});
