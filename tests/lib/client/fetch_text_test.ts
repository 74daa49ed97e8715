import assert from "node:assert/strict";

import { fetchText } from "@/lib/client/fetch_text.ts";
import { securedAddress } from "@/lib/client/secured_address.ts";

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

Deno.test("fetch text: UTF-16 is read with a byte order mark, and without one where zeros show it, in chunks of a byte", async () => {
  const read16 = (text: string, isLittle: boolean) => {
    const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    const bytes = units.flatMap((unit) => isLittle ? [unit & 255, unit >> 8] : [unit >> 8, unit & 255]);
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    return read(() => Promise.resolve(new Response(body)), 10_000);
  };
  const log = `2026-03-01 08:00:01,000 INFO Växjö █ 😀\r\n${"x".repeat(600)}`;
  for (const isLittle of [true, false]) {
    assert.deepEqual(await read16(`\ufeff${log}`, isLittle), { ok: true, text: log });
    assert.deepEqual(await read16(log, isLittle), { ok: true, text: log });
    assert.deepEqual(await read16("2026", isLittle), { ok: true, text: "2026" });
  }
  const text = "a\0b\0ccc\0\0ddddddd";
  assert.deepEqual(await read(() => Promise.resolve(new Response(text))), { ok: true, text });
  assert.deepEqual(await read(() => Promise.resolve(new Response(""))), { ok: true, text: "" });
});

Deno.test("fetch text: on a secure page, https is tried for an address of http, and its failure is a block by the browser", async () => {
  const page = "https://stackroom.example/uv.html";
  const asked: string[] = [];
  const problemOf = async (url: string, answer: () => Promise<Response>) => {
    const fetch: typeof globalThis.fetch = (url) => {
      asked.push(String(url));
      return answer();
    };
    const read = await fetchText(url, { fetch, maxBytes: 100, signal: new AbortController().signal, page });
    return read.ok ? read.text : read.problem;
  };
  const status = (status: number) => () => Promise.resolve(new Response("x", { status }));
  const refuse = () => Promise.reject(new TypeError("CORS"));
  assert.equal(await problemOf("http://a.example:8080/m?x#y", status(200)), "x");
  assert.deepEqual(asked, ["https://a.example:8080/m?x#y"]);
  assert.equal(await problemOf("http://a.example/m", refuse), "blocked");
  assert.equal(await problemOf("http://a.example/m", status(404)), "blocked");
  assert.equal(await problemOf("http://a.example/m", status(401)), 401);
  assert.equal(await problemOf("https://a.example/m", refuse), "unreachable");
  assert.equal(await problemOf("https://a.example/m", status(404)), 404);
});

Deno.test("secured address: only addresses of http that a secure page may not read change", () => {
  const page = "https://stackroom.example/";
  for (
    const address of [
      "http://127.0.0.1:8080/x",
      "http://localhost/x",
      "http://a.localhost/x",
      "http://[::1]/x",
      "https://a.example/",
    ]
  ) {
    assert.equal(securedAddress(address, page), address);
  }
  assert.equal(securedAddress("HTTP://A.example/x", page), "https://a.example/x");
  assert.equal(securedAddress("http://localhost.example/x", page), "https://localhost.example/x");
  assert.equal(securedAddress("http://a.example/x", "http://stackroom.example/"), "http://a.example/x");
  assert.equal(securedAddress("http://a.example/x"), "http://a.example/x");
});
