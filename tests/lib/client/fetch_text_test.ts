import assert from "node:assert/strict";

import { fetchText } from "@/lib/client/fetch_text.ts";

const URL_ = "https://arkiv.example/manifest.json";

function read(fetch: typeof globalThis.fetch, maxBytes = 100) {
  return fetchText(URL_, { fetch, maxBytes, signal: new AbortController().signal });
}

Deno.test("fetch text: characters that two chunks share are whole", async () => {
  const bytes = new TextEncoder().encode("Växjö");
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  assert.deepEqual(await read(() => Promise.resolve(new Response(body))), { ok: true, text: "Växjö" });
});

Deno.test("fetch text: a body beyond the limit is cancelled and named as too large", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(60)),
    cancel: () => {
      isCancelled = true;
    },
  });
  assert.deepEqual(await read(() => Promise.resolve(new Response(body))), { ok: false, problem: "too large" });
  assert.ok(isCancelled);
});

Deno.test("fetch text: a status other than a good one is the problem, and its body is cancelled", async () => {
  const response = new Response("no", { status: 403 });
  assert.deepEqual(await read(() => Promise.resolve(response)), { ok: false, problem: 403 });
  assert.ok(response.bodyUsed || response.body?.locked === false);
});

Deno.test("fetch text: a request that the browser or the network refuses is unreachable", async () => {
  assert.deepEqual(await read(() => Promise.reject(new TypeError("CORS"))), { ok: false, problem: "unreachable" });
});
