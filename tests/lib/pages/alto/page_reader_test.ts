import assert from "node:assert/strict";

import { PageReader } from "@/lib/pages/alto/page_reader_client.ts";
import { ALTO_4 } from "./samples.ts";

const VOLUME = "https://site.example/results/ns/p/v";
const SRC = `${VOLUME}/alto/0003.xml`;

Deno.test("page reader: a manifest that is absent, no JSON or without the page gives no link", async () => {
  for (
    const manifest of [new Response("", { status: 403 }), new Response("<html>"), Response.json({ items: [] })]
  ) {
    const fetch = (url: string | URL | Request) => Promise.resolve(url === SRC ? new Response(ALTO_4) : manifest);
    const reader = new PageReader(SRC, null, { fetch, onLogin: () => {} });
    await reader.start();
    assert.deepEqual([reader.viewer.value, reader.problem.value, reader.page.value === null], [null, null, false]);
  }
});

Deno.test("page reader: a broken connection is a problem", async () => {
  const reader = new PageReader(SRC, null, { fetch: () => Promise.reject(new TypeError("no")), onLogin: () => {} });
  await reader.start();
  assert.equal(reader.problem.value, "unreachable");
});

Deno.test("page reader: one that is stopped shows nothing more and cancels its request", async () => {
  let isCancelled = false;
  const reader = new PageReader(SRC, null, {
    fetch: (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => {
          isCancelled = true;
          reject(init.signal?.reason);
        });
      }),
    onLogin: () => {},
  });
  const done = reader.start();
  reader.stop();
  await done;
  assert.deepEqual([isCancelled, reader.page.value, reader.problem.value], [true, null, null]);
});
