import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { gatewayTimeout } from "@/lib/http/errors.ts";
import { boundedBody, readCapped, upstreamClient, type UpstreamResponse } from "@/lib/http/upstream.ts";
import { watchedUpload } from "@/lib/http/body.ts";
import { BodyTooLong, SlowBody } from "@/lib/std/body_reader.ts";

/** Sends `chunks` under a Content-Length, then waits until the reader lets go. */
async function answered(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  length: number,
  use: (response: UpstreamResponse) => Promise<void>,
): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(4096));
    await connection.write(new TextEncoder().encode(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`));
    for (const chunk of chunks) {
      await connection.write(chunk);
      await new Promise((resume) => setTimeout(resume));
    }
    await connection.read(new Uint8Array(1)).catch(() => null);
  })();
  {
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const breakOff = new AbortController();
    const signal = breakOff.signal;
    const response: UpstreamResponse = await fetch(`http://127.0.0.1:${listener.addr.port}/`, { client, signal });
    response.breakOff = breakOff;
    await use(response);
  }
  await serving;
}

const text = `{"name":"Grüße – ${"ß".repeat(200)}"}`;
const bytes = new TextEncoder().encode(text);

Deno.test("capped reading: a short body whose characters are split between chunks is read whole", async () => {
  const chunks = Array.from(bytes, (_, at) => bytes.slice(at, at + 1));
  await answered(chunks, bytes.length, async (response) => {
    assert.equal(await readCapped(response, 1000, 10_000), text);
  });
});

Deno.test("capped reading: a body above the cap, or one that stops half-way, is cancelled", async () => {
  await answered([bytes], bytes.length, async (response) => {
    await assert.rejects(readCapped(response, bytes.length - 1, 10_000), BodyTooLong);
  });
  await answered([bytes.slice(0, 20)], bytes.length, async (response) => {
    await assert.rejects(readCapped(response, 1000, 50), SlowBody);
  });
  await answered([bytes], 200_000, async (response) => {
    await assert.rejects(readCapped(response, 200_000, 50), SlowBody);
  });
});

Deno.test("capped reading: the length of an encoded body does not end it early", async () => {
  const response = new Response(text, { headers: { "content-encoding": "x-own", "content-length": "10" } });
  assert.equal(await readCapped(response, 1000, 10_000), text);
  assert.equal(await readCapped(new Response(null), 1000, 10_000), "");
});

Deno.test("capped reading: beside an encoding the announced length is not believed, and the cap holds", async () => {
  for (const encoding of ["content-encoding", "transfer-encoding"]) {
    const response: UpstreamResponse = new Response(text, { headers: { [encoding]: "x-own", "content-length": "10" } });
    response.breakOff = new AbortController();
    await assert.rejects(readCapped(response, bytes.length - 1, 10_000), BodyTooLong, encoding);
  }
});

const LENGTH = 24 * 1024 * 1024;
const AT_ONCE = 4;
const CONTENT = new Uint8Array(randomBytes(LENGTH));
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const EXPECTED = digest(CONTENT);

const local = { hostname: "127.0.0.1", port: 0, onListen() {} } as const;

/** Where `/` is a server that returns {@link CONTENT}, and the digest of what it gets, behind one that passes both on. */
async function withProxy(secureTarget: string, body: (origin: string) => Promise<void>) {
  await using store = Deno.serve(local, async (request) => {
    if (request.method === "PUT") return new Response(digest(await request.bytes()));
    return new Response(CONTENT);
  });
  const client = upstreamClient({ verifyTls: true, timeoutMs: 60_000 });
  const origin = `http://127.0.0.1:${store.addr.port}`;
  await using proxy = Deno.serve(local, async (request, info) => {
    if (!request.body) {
      const response = await client.send({ method: "GET", origin, target: secureTarget, headers: {} });
      return new Response(boundedBody(response, info), response);
    }
    const watched = watchedUpload(request.body, {
      lengthBytes: LENGTH,
      workMs: 60_000,
      stalled: () => gatewayTimeout("stalled"),
    });
    const headers = { "content-length": String(LENGTH) };
    const response = await client.send({ method: "PUT", origin, target: secureTarget, headers, body: watched.body });
    watched.release();
    return new Response(await response.text());
  });
  await body(`http://127.0.0.1:${proxy.addr.port}/`);
}

// The second path is one that only node:http carries.
for (const target of ["/object", "/a/../object"]) {
  Deno.test(`long bodies: downloads from ${target} that are read late arrive whole`, () =>
    withProxy(target, async (origin) => {
      // All are on their way, and their buffers full, before the first is read.
      const responses = await Promise.all(Array.from({ length: AT_ONCE }, () => fetch(origin)));
      for (const response of responses) assert.equal(digest(await response.bytes()), EXPECTED);
    }));

  Deno.test(`long bodies: uploads to ${target} arrive whole`, () =>
    withProxy(target, async (origin) => {
      const uploads = Array.from({ length: AT_ONCE }, async () => {
        const response = await fetch(origin, { method: "PUT", body: CONTENT });
        return await response.text();
      });
      for (const received of await Promise.all(uploads)) assert.equal(received, EXPECTED);
    }));
}
