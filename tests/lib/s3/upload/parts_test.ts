import assert from "node:assert/strict";
import type { BodySource } from "@/lib/http/body.ts";
import { BufferedPart, BufferPool, partsOfKnownLength, partsOfUnknownLength } from "@/lib/s3/upload/parts.ts";

/** So many bytes that count up, a few at a time. */
function countingSource(lengthBytes: number): BodySource {
  let next = 0;
  return {
    read(maxBytes) {
      const length = Math.min(maxBytes, 3, lengthBytes - next);
      return Promise.resolve(length === 0 ? null : Uint8Array.from({ length }, () => next++));
    },
    stop() {},
  };
}

function newLease() {
  return new BufferPool({ bufferBytes: 4, totalBytes: 400, cachedBytes: 0, waitMs: 60_000 }).lease();
}

/** A part of three buffers of four bytes, and the lease that has no other. */
async function fullPart() {
  const lease = newLease();
  const part = new BufferedPart(lease);
  await part.fill(countingSource(99), 12);
  const { body } = part.content();
  assert.ok(body && "next" in body);
  return { lease, part, chunks: body };
}

Deno.test("buffered part: its bytes come in order, and each buffer is released when the next is requested", async () => {
  const { lease, part, chunks } = await fullPart();
  const first = await chunks.next();
  assert.deepEqual(first.value, new Uint8Array([0, 1, 2, 3]));
  const waiting = lease.take();
  assert.deepEqual((await chunks.next()).value, new Uint8Array([4, 5, 6, 7]));
  assert.equal((await waiting).buffer, first.value.buffer);
  assert.deepEqual((await chunks.next()).value, new Uint8Array([8, 9, 10, 11]));
  assert.equal((await chunks.next()).done, true);
  part[Symbol.dispose]();
});

Deno.test("buffered part: once disposed it gives no bytes, and the chunk on its way is not used again", async () => {
  const { lease, part, chunks } = await fullPart();
  const { value } = await chunks.next();
  part[Symbol.dispose]();
  const buffers: Uint8Array[] = [];
  for (let n = 0; n < 3; n++) buffers.push(await lease.take());
  assert.ok(!buffers.some(({ buffer }) => buffer === value.buffer));
  // A clean end would be taken for the end of the part.
  await assert.rejects(chunks.next());
});

Deno.test("parts of unknown length: each is full but the last, and only the one of an empty body is empty", async () => {
  const sizes = { firstBytes: 4, partBytes: (number: number) => number > 2 ? 20 : 10, maxParts: 4 };
  for (
    const [length, expected] of [
      [0, [0]],
      [9, [9]],
      [10, [10]],
      [11, [10, 1]],
      [40, [10, 10, 20]],
      [60, [10, 10, 20, 20]],
    ] as const
  ) {
    using lease = newLease();
    const lengths: number[] = [];
    for await (using part of partsOfUnknownLength(countingSource(length), lease, sizes)) lengths.push(part.lengthBytes);
    assert.deepEqual(lengths, expected);
  }
});

Deno.test("parts of known length: they cover the body, and a body that is shorter is 400", async () => {
  const source = countingSource(25);
  const parts: number[] = [];
  const read = async () => {
    for await (using part of partsOfKnownLength(source, 26, 10)) {
      parts.push(part.lengthBytes);
      const { body } = part.content();
      assert.ok(body && "next" in body);
      for await (const chunk of body) assert.ok(chunk.length > 0);
    }
  };
  await assert.rejects(read(), { status: 400, message: "content-length: the body is shorter than announced" });
  assert.deepEqual(parts, [10, 10, 6]);
});
