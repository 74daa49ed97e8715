import assert from "node:assert/strict";
import { bodySource } from "@/lib/http/body_source.ts";
import { BodyLimitError, readCapped } from "@/lib/http/read_capped.ts";

Deno.test("body source: gives no more than was asked for, and what is left next time", async () => {
  const source = bodySource(new Response("abcdef").body);
  const texts: string[] = [];
  for (let bytes; (bytes = await source.read(4)) !== null;) texts.push(new TextDecoder().decode(bytes));
  assert.deepEqual(texts, ["abcd", "ef"]);
  assert.equal(await source.read(4), null);
  assert.equal(await bodySource(null).read(1), null);
});

Deno.test("body source: a client that is gone is 499, a silent one 408, and whoever waits is let go by a stop", async () => {
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
  await assert.rejects(bodySource(silent(), { silenceMs: 1 }).read(1), { status: 408 });
  assert.ok(cancelled);
  const waiting = bodySource(silent());
  const read = waiting.read(1);
  waiting.stop();
  assert.equal(await read, null);
});

Deno.test("answer of an upstream: neither silence nor a steady drip is read for ever", async () => {
  const silence = new Response(new ReadableStream({}));
  await assert.rejects(readCapped(silence, 1000, 5), BodyLimitError);
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
  await assert.rejects(readCapped(drip, 1_000_000, 20), BodyLimitError);
  assert.ok(cancelled);
});
