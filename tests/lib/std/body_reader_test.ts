import assert from "node:assert/strict";
import { readWhole, streamReader } from "@/lib/std/body_reader.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** A stream of bytes, as the runtime's bodies are, that fills each read of at most `most` bytes; and the reads' sizes. */
function byteBody(length: number, most = Infinity) {
  const sizes: number[] = [];
  let left = length;
  let isCancelled = false;
  const body: Body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const view = controller.byobRequest?.view;
      assert.ok(view);
      sizes.push(view.byteLength);
      const filled = Math.min(view.byteLength, left, most);
      left -= filled;
      if (filled === 0) controller.close();
      controller.byobRequest?.respond(filled);
    },
    cancel() {
      isCancelled = true;
    },
  });
  return { body, sizes, isCancelled: () => isCancelled };
}

/** A stream of chunks. */
const chunkBody = (...chunks: number[][]): Body => ReadableStream.from(chunks.map((chunk) => Uint8Array.from(chunk)));

Deno.test("stream reader: reads grow while they come full, to the most, and not where the sender is slow", async () => {
  const full = byteBody(200);
  assert.equal((await readWhole(streamReader(full.body, { firstBytes: 16, mostBytes: 64 }), {})).length, 200);
  assert.deepEqual(full.sizes, [16, 32, 64, 64, 64, 64]);
  const dripping = byteBody(3, 1);
  await readWhole(streamReader(dripping.body, { firstBytes: 16, mostBytes: 64 }), {});
  assert.deepEqual(dripping.sizes, [16, 16, 16, 16]);
});

Deno.test("stream reader: the memory of a chunk is freed with the next read where that is wanted, else it stays", async () => {
  for (const freesChunks of [true, false]) {
    const reader = streamReader(byteBody(40).body, { firstBytes: 20, mostBytes: 20, freesChunks });
    const first = await reader.read();
    assert.equal(first?.length, 20);
    await reader.read();
    assert.equal(first.length, freesChunks ? 0 : 20);
  }
});

Deno.test("stream reader: a stream of another kind is read by its chunks", async () => {
  assert.deepEqual(await readWhole(streamReader(chunkBody([1, 2], [3])), {}), Uint8Array.of(1, 2, 3));
});

Deno.test("stream reader: cancelling ends a read that waits, and the body", async () => {
  let isCancelled = false;
  const reader = streamReader(new ReadableStream({ type: "bytes", cancel: () => void (isCancelled = true) }));
  const read = reader.read();
  reader.cancel();
  assert.equal(await read, null);
  assert.equal(await reader.read(), null);
  assert.ok(isCancelled);
});
