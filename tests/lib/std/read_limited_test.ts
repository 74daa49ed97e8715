import assert from "node:assert/strict";
import type { BodyReader } from "@/lib/std/byte_reader.ts";
import { SlowBody } from "@/lib/std/paced_reader.ts";
import { BodyTooLong, LimitedBytes, readLimited, readRequest } from "@/lib/std/read_limited.ts";

const bounds = { idleMs: 20, minBytesPerSecond: 1000, slackMs: 200 };

/** Returns each chunk in the same memory, as a body's reader does. */
function reader(lengths: readonly number[], atEnd: () => Promise<null> = () => Promise.resolve(null)) {
  const memory = new Uint8Array(100);
  let count = 0;
  const source: BodyReader & { cancelled: number } = {
    cancelled: 0,
    read() {
      const length = lengths[count++];
      return length === undefined ? atEnd() : Promise.resolve(memory.fill(count).subarray(0, length));
    },
    cancel: () => void source.cancelled++,
  };
  return source;
}

Deno.test("limited reading: chunks that share memory are joined, up to the limit and no further", async () => {
  const source = reader([2, 0, 3]);
  assert.deepEqual(await readLimited(source, { maxBytes: 5, bounds }), new Uint8Array([1, 1, 3, 3, 3]));
  assert.ok(source.cancelled > 0);
  const long = reader([2, 0, 3, 1]);
  await assert.rejects(readLimited(long, { maxBytes: 5, totalMs: 10_000 }), BodyTooLong);
  assert.ok(long.cancelled > 0);
  assert.deepEqual(await readLimited(reader([]), { maxBytes: 0, bounds }), new Uint8Array(0));
});

Deno.test("limited reading: a stalled body exceeds the idle timeout, a dripping one the total deadline", async () => {
  const cancelled = Promise.withResolvers<null>();
  const silent = reader([1], () => cancelled.promise);
  silent.cancel = () => cancelled.resolve(null);
  await assert.rejects(readLimited(silent, { maxBytes: 5, bounds }), SlowBody);
  const drip: BodyReader = {
    read: () => new Promise((resolve) => setTimeout(() => resolve(new Uint8Array(0)), 1)),
    cancel() {},
  };
  const stopped = Promise.withResolvers<never>();
  drip.cancel = () => stopped.reject(new TypeError("released"));
  const { read } = drip;
  drip.read = () => Promise.race([read(), stopped.promise]);
  await assert.rejects(readLimited(drip, { maxBytes: 5, totalMs: 30 }), SlowBody);
});

Deno.test("limited reading: a request without a body is empty, one announced as too long is not read", async () => {
  assert.deepEqual(await readRequest(new Request("http://x"), { maxBytes: 0, bounds }), new Uint8Array(0));
  const body = new ReadableStream({ pull: () => assert.fail("read") }, { highWaterMark: 0 });
  const request = new Request("http://x", { method: "POST", headers: { "Content-Length": "6" }, body });
  await assert.rejects(readRequest(request, { maxBytes: 5, bounds }), BodyTooLong);
  assert.equal(request.body?.locked, false);
});

Deno.test("limited bytes: one chunk is copied as well", () => {
  const chunk = new Uint8Array([1, 2]);
  const bytes = new LimitedBytes(2);
  bytes.add(chunk);
  chunk.fill(9);
  assert.deepEqual(bytes.joined(), new Uint8Array([1, 2]));
});
