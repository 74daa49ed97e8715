import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { badRequest, gatewayTimeout } from "@/lib/http/errors.ts";
import { watchedUpload } from "@/lib/http/body.ts";

const CHUNK_BYTES = 100_000;

type Chunks = AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** So many chunks, then what `end` does. */
async function* chunksOf(count: number, end: () => unknown = () => {}): Chunks {
  for (let left = count; left-- > 0;) yield new Uint8Array(CHUNK_BYTES).fill(left);
  await end();
}

/** The same as the body of a request. */
function bodyOf(count: number, end?: () => unknown): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = chunksOf(count, end);
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (!done) return controller.enqueue(value);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Bounds under which only an hour of waiting fails, save those that are passed. */
function watch(
  source: Parameters<typeof watchedUpload>[0],
  { idleMs = 3_600_000, workMs = 3_600_000, count = 3 } = {},
) {
  const bounds = { idleMs, minBytesPerSecond: 1_000_000_000, slackMs: idleMs };
  const lengthBytes = count * CHUNK_BYTES;
  const watched = watchedUpload(source, { lengthBytes, bounds, workMs, stalled: () => gatewayTimeout("stalled") });
  const aborted = new Promise<void>((resolve) => watched.signal.addEventListener("abort", () => resolve()));
  return { ...watched, stream: watched.body.stream(), aborted };
}

for (const [what, source] of [["of a client", bodyOf], ["of this process", chunksOf]] as const) {
  Deno.test(`watched upload: the body ${what} is passed on whole and with its length`, async () => {
    const watched = watch(source(30), { count: 30 });
    assert.equal(watched.body.size, 30 * CHUNK_BYTES);
    const chunks: Uint8Array[] = [];
    for await (const chunk of watched.stream) {
      assert.equal(watched.isWhole(), Buffer.concat([...chunks, chunk]).length === 30 * CHUNK_BYTES);
      chunks.push(chunk.slice());
    }
    watched.release();
    const bytes = Buffer.concat(chunks);
    assert.equal(bytes.length, 30 * CHUNK_BYTES);
    for (let n = 0; n < 30; n++) assert.equal(bytes[n * CHUNK_BYTES + 1], 29 - n);
    assert.equal(watched.failure(), null);
    assert.equal(watched.isWhole(), true);
  });

  Deno.test(`watched upload: an upstream that reads no more of the body ${what} is stalled`, async () => {
    const watched = watch(source(3), { idleMs: 30 });
    await watched.stream.getReader().read();
    await watched.aborted;
    assert.equal(watched.failure()?.status, 504);
    assert.equal(watched.isWhole(), false);
  });

  Deno.test(`watched upload: an upstream that has the body ${what} and does not respond is stalled`, async () => {
    const watched = watch(source(3), { idleMs: 30, workMs: 30 });
    for await (const _ of watched.stream);
    await watched.aborted;
    assert.equal(watched.failure()?.status, 504);
  });

  Deno.test(`watched upload: a failure of the body ${what} does not count once there is a response`, async () => {
    const end = () => {
      throw new Error("gone");
    };
    const watched = watch(source(3, end));
    const reader = watched.stream.getReader();
    await reader.read();
    watched.release();
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    }, { name: "BrokenStream" });
    assert.equal(watched.failure(), null);
    assert.equal(watched.signal.aborted, false);
  });
}

Deno.test("watched upload: an error of the chunks of this process is the failure", async () => {
  const end = () => {
    throw badRequest("too short");
  };
  const watched = watch(chunksOf(3, end));
  await assert.rejects(new Response(watched.stream).bytes(), { name: "BrokenStream" });
  assert.equal(watched.failure()?.status, 400);
  assert.equal(watched.signal.aborted, true);
});
