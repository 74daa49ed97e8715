import assert from "node:assert/strict";
import type { BodySource } from "@/lib/http/body.ts";
import { HttpError } from "@/lib/http/errors.ts";
import {
  BufferedPart,
  type BufferLease,
  BufferPool,
  type BufferPoolOptions,
  partsOfKnownLength,
} from "@/lib/s3/object_upload.ts";

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

const BUFFER_BYTES = 4;
const CACHED_BUFFERS = 3;

function newPool(options: Partial<BufferPoolOptions> = {}): BufferPool {
  return new BufferPool({
    bufferBytes: BUFFER_BYTES,
    totalBytes: 10 * BUFFER_BYTES,
    cachedBytes: CACHED_BUFFERS * BUFFER_BYTES,
    waitMs: 60_000,
    ...options,
  });
}

/** So many buffers of a lease, which then has reserved at least as many. */
async function taken(lease: BufferLease, count: number): Promise<Uint8Array<ArrayBuffer>[]> {
  await lease.reserve(count * BUFFER_BYTES);
  const buffers: Uint8Array<ArrayBuffer>[] = [];
  for (let n = 0; n < count; n++) buffers.push(await lease.take());
  return buffers;
}

/** Whether a promise is settled once everything that can go on has done so. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const mark = () => void (settled = true);
  promise.then(mark, mark);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return settled;
}

function hasStatus(status: number) {
  return (error: unknown) => error instanceof HttpError && error.status === status;
}

Deno.test("buffer pool: a lease reserves whole buffers and only what is missing, and frees all of it once", async () => {
  const pool = newPool();
  const lease = pool.lease();
  await lease.reserve(5);
  assert.equal(pool.freeBytes, 32);
  await lease.reserve(8);
  assert.equal(pool.freeBytes, 32);
  await lease.reserve(17);
  assert.equal(pool.freeBytes, 20);
  lease[Symbol.dispose]();
  lease[Symbol.dispose]();
  assert.equal(pool.freeBytes, 40);
});

Deno.test("buffer pool: reservations that do not fit are granted in order", async () => {
  const pool = newPool();
  const [first, large, small] = [pool.lease(), pool.lease(), pool.lease()];
  await first.reserve(24);
  const waiting = [large.reserve(32), small.reserve(8)];
  assert.equal(await isSettled(waiting[1]), false, "the small one waits behind the large one");
  first[Symbol.dispose]();
  await Promise.all(waiting);
  assert.equal(pool.freeBytes, 0);
  large[Symbol.dispose]();
  small[Symbol.dispose]();
  assert.equal(pool.freeBytes, 40);
});

Deno.test("buffer pool: a reservation that is cancelled lets those behind it go on", async () => {
  const pool = newPool();
  const client = new AbortController();
  const [first, leaving, small] = [pool.lease(), pool.lease(client.signal), pool.lease()];
  await first.reserve(24);
  const large = leaving.reserve(32);
  const next = small.reserve(16);
  client.abort();
  await assert.rejects(large, hasStatus(499));
  await next;
  await assert.rejects(leaving.reserve(4), hasStatus(499));
  assert.equal(pool.freeBytes, 0);
});

Deno.test("buffer pool: a lease that waits for a buffer ends when its signal aborts", async () => {
  const client = new AbortController();
  const lease = newPool().lease(client.signal);
  await taken(lease, 1);
  const waiting = lease.take();
  client.abort();
  await assert.rejects(waiting, hasStatus(499));
  await assert.rejects(lease.take(), hasStatus(499));
});

Deno.test("buffer pool: the buffers of a lease are cached for later ones, so many and no more", async () => {
  const pool = newPool();
  const lease = pool.lease();
  const used = await taken(lease, 5);
  lease.release(used[0]);
  lease[Symbol.dispose]();
  const again = await taken(pool.lease(), 5);
  assert.equal(again.filter((buffer) => used.includes(buffer)).length, CACHED_BUFFERS);
  assert.equal(new Set(again).size, 5);
});
