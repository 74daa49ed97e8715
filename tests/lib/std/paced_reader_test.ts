import assert from "node:assert/strict";
import { bodyChunks, BrokenBody } from "@/embedded/store/bodies.ts";
import { asS3Error } from "@/embedded/store/s3/as_s3_error.ts";
import { pacedReader, SlowBody } from "@/lib/std/paced_reader.ts";

const bounds = { idleMs: 20, minBytesPerSecond: 1000, slackMs: 200 };

Deno.test("paced reader: a sender that stalls or drips is cancelled, one that disconnects is an error of its own", async () => {
  let cancelled = 0;
  const sender = (read: () => Promise<Uint8Array<ArrayBuffer> | null>) =>
    pacedReader({ read, cancel: () => void cancelled++ }, bounds);
  const gone = Promise.withResolvers<null>();
  const silent = pacedReader({ read: () => gone.promise, cancel: () => gone.resolve(null) }, bounds);
  await assert.rejects(silent.read(), SlowBody);
  const drip = sender(() => new Promise((resolve) => setTimeout(() => resolve(new Uint8Array(1)), 10)));
  await assert.rejects(async () => {
    for (;;) await drip.read();
  }, SlowBody);
  assert.equal(cancelled, 1);
  await assert.rejects(sender(() => Promise.reject(new TypeError("gone"))).read(), TypeError);
});

Deno.test("paced reader: the embedded store says of a stalled body what S3 says", async () => {
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
