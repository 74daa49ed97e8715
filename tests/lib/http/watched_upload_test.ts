import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gatewayTimeout } from "@/lib/http/errors.ts";
import { watchedUpload } from "@/lib/http/watched_upload.ts";

const bounds = { idleMs: 30, minBytesPerSecond: 1_000_000_000, slackMs: 30 };
const options = { lengthBytes: 2 ** 40, bounds, workMs: 30, stalled: () => gatewayTimeout("stalled") };

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** A body of so many pieces, which then ends or goes silent. */
function sender(pieces: number, ends: boolean): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = pieces;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (left-- > 0) return controller.enqueue(new Uint8Array(100_000).fill(left));
      if (!ends) return new Promise(() => {});
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

Deno.test("watched upload: it hands on what comes, whole and with its length", async () => {
  const watched = watchedUpload(sender(30, true), options);
  assert.equal(watched.body.size, 2 ** 40);
  const pieces: Uint8Array[] = [];
  for await (const piece of watched.body.stream()) pieces.push(piece.slice());
  watched.over();
  const bytes = Buffer.concat(pieces);
  assert.equal(bytes.length, 3_000_000);
  for (let n = 0; n < 30; n++) assert.equal(bytes[n * 100_000 + 1], 29 - n);
  assert.equal(watched.failure(), null);
});

Deno.test("watched upload: a client that goes silent is 408", async () => {
  const watched = watchedUpload(sender(3, false), options);
  await assert.rejects(new Response(watched.body.stream()).bytes(), { name: "BrokenUpload" });
  assert.equal(watched.signal.aborted, true);
  assert.equal(watched.failure()?.status, 408);
});

Deno.test("watched upload: a client that goes away is 499", async () => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error("gone")),
  });
  const watched = watchedUpload(body, options);
  await assert.rejects(new Response(watched.body.stream()).bytes(), { name: "BrokenUpload" });
  assert.equal(watched.failure()?.status, 499);
});

Deno.test("watched upload: an upstream that takes no more is stalled", async () => {
  const watched = watchedUpload(sender(3, true), options);
  const reader = watched.body.stream().getReader();
  await reader.read();
  await aborted(watched.signal);
  assert.equal(watched.failure()?.status, 504);
});

Deno.test("watched upload: an upstream that has all of it and does not answer is stalled", async () => {
  const watched = watchedUpload(sender(3, true), options);
  const failed = aborted(watched.signal);
  for await (const _ of watched.body.stream());
  await failed;
  assert.equal(watched.failure()?.status, 504);
});
