import assert from "node:assert/strict";
import { bodyChunks, BrokenBody } from "@/embedded/store/bodies.ts";
import { asS3Error } from "@/embedded/store/s3/as_s3_error.ts";
import { type BodyReader, BodyTooLong, boundedReader, readWhole, SlowBody } from "@/lib/std/body_reader.ts";
import { readRequest } from "@/lib/runtime/request_body.ts";

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

Deno.test("bounded reader: chunks that share memory are joined, up to the limit and no further", async () => {
  const source = reader([2, 0, 3]);
  assert.deepEqual(await readWhole(source, { maxBytes: 5, bounds }), new Uint8Array([1, 1, 3, 3, 3]));
  assert.ok(source.cancelled > 0);
  const long = reader([2, 0, 3, 1]);
  await assert.rejects(readWhole(long, { maxBytes: 5, totalMs: 10_000 }), BodyTooLong);
  assert.ok(long.cancelled > 0);
  assert.deepEqual(await readWhole(reader([]), { maxBytes: 0, bounds }), new Uint8Array(0));
});

Deno.test("bounded reader: a stalled body exceeds the idle timeout, a dripping one the total deadline", async () => {
  const cancelled = Promise.withResolvers<null>();
  const silent = reader([1], () => cancelled.promise);
  silent.cancel = () => cancelled.resolve(null);
  await assert.rejects(readWhole(silent, { maxBytes: 5, bounds }), SlowBody);
  const drip: BodyReader = {
    read: () => new Promise((resolve) => setTimeout(() => resolve(new Uint8Array(0)), 1)),
    cancel() {},
  };
  const stopped = Promise.withResolvers<never>();
  drip.cancel = () => stopped.reject(new TypeError("released"));
  const { read } = drip;
  drip.read = () => Promise.race([read(), stopped.promise]);
  await assert.rejects(readWhole(drip, { maxBytes: 5, totalMs: 30 }), SlowBody);
});

Deno.test("bounded reader: a request without a body is empty, one announced as too long is not read", async () => {
  assert.deepEqual(await readRequest(new Request("http://x"), { maxBytes: 0, bounds }), new Uint8Array(0));
  const body = new ReadableStream({ pull: () => assert.fail("read") }, { highWaterMark: 0 });
  const request = new Request("http://x", { method: "POST", headers: { "Content-Length": "6" }, body });
  await assert.rejects(readRequest(request, { maxBytes: 5, bounds }), BodyTooLong);
  assert.equal(request.body?.locked, false);
});

Deno.test("bounded reader: a sender that stalls or drips is cancelled, one that disconnects is an error of its own", async () => {
  let cancelled = 0;
  const sender = (read: () => Promise<Uint8Array<ArrayBuffer> | null>) =>
    boundedReader({ read, cancel: () => void cancelled++ }, { bounds });
  const gone = Promise.withResolvers<null>();
  const silent = boundedReader({ read: () => gone.promise, cancel: () => gone.resolve(null) }, { bounds });
  await assert.rejects(silent.read(), SlowBody);
  const drip = sender(() => new Promise((resolve) => setTimeout(() => resolve(new Uint8Array(1)), 10)));
  await assert.rejects(async () => {
    for (;;) await drip.read();
  }, SlowBody);
  assert.equal(cancelled, 1);
  await assert.rejects(sender(() => Promise.reject(new TypeError("gone"))).read(), TypeError);
});

Deno.test("bounded reader: the embedded store says of a stalled body what S3 says", async () => {
  const stalled = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(5)) });
  const read = async () => {
    let bytes = 0;
    for await (const part of bodyChunks(stalled, 10, bounds)) bytes += part.length;
    return bytes;
  };
  const error = await read().catch((error) => error);
  assert.ok(!(error instanceof BrokenBody));
  assert.equal(asS3Error(error).code, "RequestTimeout");
});
