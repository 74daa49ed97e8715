import assert from "node:assert/strict";
import { type Block, Blocks, PartMemory } from "@/lib/s3/upload/part_memory.ts";

const KEPT = 3;

function memory() {
  const blocks = new Blocks(4, 4 * KEPT);
  let taken = 0;
  const part = new PartMemory(blocks, (bytes) => {
    taken += bytes;
    return Promise.resolve(() => void (taken -= bytes));
  });
  return { blocks, part, taken: () => taken };
}

/** Whether a promise is settled once everything that can go on has done so. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  const mark = () => void (is = true);
  promise.then(mark, mark);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return is;
}

Deno.test("part memory: holds whole blocks, takes only what is missing, and gives all of it back once", async () => {
  const { part, taken } = memory();
  await part.reserve(5);
  assert.equal(taken(), 8);
  await part.reserve(8);
  assert.equal(taken(), 8);
  await part.reserve(17);
  assert.equal(taken(), 20);
  part.release();
  part.release();
  assert.equal(taken(), 0);
});

Deno.test("part memory: who asks for more than is held waits for a block to come back, and gets that one", async () => {
  const { part } = memory();
  await part.reserve(8);
  const first = await part.block();
  await part.block();
  const third = part.block();
  assert.equal(await settled(third), false);
  part.giveBack(first);
  assert.equal(await third, first);
});

Deno.test("part memory: a block that something may still read is replaced by another one", async () => {
  const { part } = memory();
  await part.reserve(4);
  const lost = await part.block();
  const next = part.block();
  assert.equal(await settled(next), false);
  part.lose(1);
  assert.notEqual(await next, lost);
});

Deno.test("part memory: who waits is told when no block will come back, and so is who asks later", async () => {
  const { part } = memory();
  await part.reserve(4);
  await part.block();
  const waiting = part.block();
  part.fail(new Error("the store is gone"));
  await assert.rejects(waiting, /the store is gone/);
  await assert.rejects(part.block(), /the store is gone/);
});

Deno.test("part memory: blocks that came back are kept for others, so many and no more", async () => {
  const { blocks, part } = memory();
  await part.reserve(20);
  const used: Block[] = [];
  for (let n = 0; n < 5; n++) used.push(await part.block());
  used.forEach((block) => part.giveBack(block));
  part.release();
  const again = Array.from({ length: 5 }, () => blocks.take());
  assert.equal(again.filter((block) => used.includes(block)).length, KEPT);
  assert.equal(new Set(again).size, 5);
});
