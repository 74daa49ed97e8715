import assert from "node:assert/strict";
import { GatheredPart } from "@/lib/s3/upload/gathered_part.ts";
import { type Block, Blocks, PartMemory } from "@/lib/s3/upload/part_memory.ts";

/** A part of three blocks of four bytes, and the memory it is in. */
async function fullPart() {
  const memory = new PartMemory(new Blocks(4, 0), () => Promise.resolve(() => {}));
  await memory.reserve(12);
  let next = 0;
  const part = new GatheredPart(memory);
  await part.fill({ read: () => Promise.resolve(new Uint8Array([next++])), stop() {} }, 12);
  const { body } = part.body();
  assert.ok(body instanceof ReadableStream);
  return { memory, part, reader: body.getReader() };
}

Deno.test("gathered part: gives its bytes in order, and each block back when the next is asked for", async () => {
  const { memory, reader } = await fullPart();
  const first = await reader.read();
  assert.deepEqual(first.value, new Uint8Array([0, 1, 2, 3]));
  const waiting = memory.block();
  assert.deepEqual((await reader.read()).value, new Uint8Array([4, 5, 6, 7]));
  assert.equal((await waiting).buffer, first.value?.buffer);
  assert.deepEqual((await reader.read()).value, new Uint8Array([8, 9, 10, 11]));
  assert.equal((await reader.read()).done, true);
});

Deno.test("gathered part: once it is over nobody reads on, and what may be on its way is not used again", async () => {
  const { memory, part, reader } = await fullPart();
  const { value } = await reader.read();
  part.over();
  const blocks: Block[] = [];
  for (let n = 0; n < 3; n++) blocks.push(await memory.block());
  assert.ok(!blocks.some((block) => block.buffer === value?.buffer));
  // A clean end would be taken for the end of the part.
  await assert.rejects(reader.read());
});
