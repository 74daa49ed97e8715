import assert from "node:assert/strict";
import { gatewayTimeout, requestTimeout } from "@/lib/http/errors.ts";
import { sentChunks } from "@/lib/s3/sent_chunks.ts";

/** Bounds by which only a long silence fails. */
const bounds = { idleMs: 1, minBytesPerSecond: 1_000_000_000, slackMs: 0 };
const LENGTH_BYTES = 3;

async function* chunks(error?: Error): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let n = 0; n < LENGTH_BYTES; n++) yield new Uint8Array([n]);
  await Promise.resolve();
  if (error) throw error;
}

function sent(options: { readonly idleMs: number; readonly workMs: number; readonly error?: Error }) {
  return sentChunks(chunks(options.error), {
    lengthBytes: LENGTH_BYTES,
    bounds: { ...bounds, idleMs: options.idleMs },
    workMs: options.workMs,
    stalled: () => gatewayTimeout("stalled"),
  });
}

const HOUR_MS = 3_600_000;

function aborted({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

Deno.test("sent chunks: a store that takes no next chunk fails the body as stalled", async () => {
  const body = sent({ idleMs: 1, workMs: HOUR_MS });
  const failed = aborted(body);
  const reader = body.body.getReader();
  assert.deepEqual((await reader.read()).value, new Uint8Array([0]));
  await failed;
  assert.equal(body.failure()?.status, 504);
  body.over();
});

Deno.test("sent chunks: a store that has all chunks and does not answer fails the body as stalled", async () => {
  const body = sent({ idleMs: HOUR_MS, workMs: 1 });
  const failed = aborted(body);
  const reader = body.body.getReader();
  for (let n = 0; n < LENGTH_BYTES; n++) assert.deepEqual((await reader.read()).value, new Uint8Array([n]));
  assert.equal((await reader.read()).done, true);
  await failed;
  assert.equal(body.failure()?.status, 504);
  body.over();
});

Deno.test("sent chunks: the error of the chunks is the failure", async () => {
  const body = sent({ idleMs: HOUR_MS, workMs: HOUR_MS, error: requestTimeout() });
  const reader = body.body.getReader();
  for (let n = 0; n < LENGTH_BYTES; n++) await reader.read();
  await assert.rejects(reader.read());
  assert.equal(body.failure()?.status, 408);
  assert.equal(body.signal.aborted, true);
});

Deno.test("sent chunks: once there is an answer nothing fails any more", async () => {
  const body = sent({ idleMs: HOUR_MS, workMs: HOUR_MS, error: requestTimeout() });
  const reader = body.body.getReader();
  await reader.read();
  body.over();
  await reader.read();
  await reader.read();
  await assert.rejects(reader.read());
  assert.equal(body.failure(), null);
  assert.equal(body.signal.aborted, false);
});
