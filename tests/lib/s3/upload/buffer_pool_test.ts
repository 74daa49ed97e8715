import assert from "node:assert/strict";
import { HttpError } from "@/lib/http/errors.ts";
import { type BufferLease, BufferPool, type BufferPoolOptions } from "@/lib/s3/upload/parts.ts";

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

Deno.test("buffer pool: a reservation that waits too long is 503", async () => {
  const pool = newPool({ waitMs: 1 });
  await pool.lease().reserve(40);
  await assert.rejects(pool.lease().reserve(4), hasStatus(503));
});

Deno.test("buffer pool: a lease whose buffers are all in use waits for one, and gets that one", async () => {
  const lease = newPool().lease();
  const [first] = await taken(lease, 2);
  const third = lease.take();
  assert.equal(await isSettled(third), false);
  lease.release(first);
  assert.equal(await third, first);
});

Deno.test("buffer pool: a buffer that may still be read is replaced by another one", async () => {
  const pool = newPool();
  const lease = pool.lease();
  const [inFlight] = await taken(lease, 1);
  const next = lease.take();
  assert.equal(await isSettled(next), false);
  lease.discard(inFlight);
  assert.notEqual(await next, inFlight);
  lease[Symbol.dispose]();
  assert.ok(!(await taken(pool.lease(), 5)).includes(inFlight));
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
