import assert from "node:assert/strict";
import { readCapped, type UpstreamResponse } from "@/lib/http/response_body.ts";
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

Deno.test("capped reading: a long body is read whole", async () => {
  const long = new Uint8Array(200_000).fill(0x61);
  await answered([long], long.length, async (response) => {
    assert.equal(await readCapped(response, 200_000, 10_000), "a".repeat(200_000));
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
