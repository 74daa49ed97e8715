import assert from "node:assert/strict";
import { SlowBody, STREAM_BOUNDS } from "@/lib/std/body_reader.ts";
import { bodySource } from "@/lib/http/body.ts";
import { readCapped } from "@/lib/http/response_body.ts";

Deno.test("body source: returns no more than requested, and the rest at the next read", async () => {
  const source = bodySource(new Response("abcdef").body);
  const texts: string[] = [];
  for (let bytes; (bytes = await source.read(4)) !== null;) texts.push(new TextDecoder().decode(bytes));
  assert.deepEqual(texts, ["abcd", "ef"]);
  assert.equal(await source.read(4), null);
  assert.equal(await bodySource(null).read(1), null);
});

Deno.test("body source: a disconnected client is 499, an idle one 408, and a stop ends a pending read", async () => {
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error("gone")),
  });
  await assert.rejects(bodySource(broken).read(1), { status: 499 });
  let cancelled = false;
  const silent = () =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      cancel() {
        cancelled = true;
      },
    });
  await assert.rejects(bodySource(silent(), { bounds: { ...STREAM_BOUNDS, idleMs: 1 } }).read(1), { status: 408 });
  assert.ok(cancelled);
  const waiting = bodySource(silent());
  const read = waiting.read(1);
  waiting.stop();
  assert.equal(await read, null);
});

Deno.test("response of an upstream: an idle one and a steady drip both end", async () => {
  const silence = new Response(new ReadableStream({}));
  await assert.rejects(readCapped(silence, 1000, 5), SlowBody);
  let cancelled = false;
  let timer: ReturnType<typeof setTimeout>;
  const drip = new Response(
    new ReadableStream<Uint8Array>({
      pull: (controller) =>
        new Promise((resolve) => {
          timer = setTimeout(() => resolve(controller.enqueue(new Uint8Array(1))), 1);
        }),
      cancel() {
        clearTimeout(timer);
        cancelled = true;
      },
    }),
  );
  await assert.rejects(readCapped(drip, 1_000_000, 20), SlowBody);
  assert.ok(cancelled);
});
