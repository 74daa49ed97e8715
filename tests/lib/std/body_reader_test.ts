import assert from "node:assert/strict";
import { bodyChunks, BrokenBody } from "@/embedded/store/bodies.ts";
import { toStoreError } from "@/embedded/store/s3/xml.ts";
import {
  type BodyReader,
  BodyTooLong,
  boundedReader,
  IDLE_MS,
  Pace,
  readRequest,
  readWhole,
  SLACK_MS,
  SlowBody,
  streamReader,
  totalMs,
} from "@/lib/std/body_reader.ts";

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

const takeReader = (body: Body) => streamReader(body);

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

Deno.test("bounded reader: a request without a body is empty, one announced as too long is not read", async () => {
  assert.deepEqual(await readRequest(new Request("http://x"), { maxBytes: 0, bounds }, takeReader), new Uint8Array(0));
  const body = new ReadableStream({ pull: () => assert.fail("read") }, { highWaterMark: 0 });
  const request = new Request("http://x", { method: "POST", headers: { "Content-Length": "6" }, body });
  await assert.rejects(readRequest(request, { maxBytes: 5, bounds }, takeReader), BodyTooLong);
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
    for await (const part of bodyChunks(streamReader(stalled), bounds)) bytes += part.length;
    return bytes;
  };
  const error = await read().catch((error) => error);
  assert.ok(!(error instanceof BrokenBody));
  assert.equal(toStoreError(error).code, "RequestTimeout");
});

const MIB = 1024 * 1024;
const PART = 64 * MIB;
/** Six at a time over 1 Mbit/s, bytes per second each. */
const SHARE = 1_000_000 / 8 / 6;

Deno.test("time bounds: parts of 64 MiB, six at a time over 1 Mbit/s, are in time", () => {
  assert.ok(PART / SHARE * 1000 < totalMs(PART));
  const pace = new Pace();
  for (let sent = 0; sent < PART; sent += SHARE * 10) {
    assert.ok(pace.waitMs > 10_000);
    pace.count(SHARE * 10, 10_000);
  }
});

Deno.test("time bounds: what drips is too slow soon, and what comes fast may pause for no longer than others", () => {
  const drip = new Pace();
  let seconds = 0;
  for (; drip.waitMs > 0; seconds++) drip.count(1, 1000);
  assert.ok(seconds <= SLACK_MS / 1000 + 1);
  const fast = new Pace();
  fast.count(PART, 1000);
  assert.equal(fast.waitMs, IDLE_MS);
});
