import assert from "node:assert/strict";
import { readBytes } from "@/lib/http/body.ts";

function* chunks(count: number): Generator<Uint8Array<ArrayBuffer>> {
  for (let n = 0; n < count; n++) yield new Uint8Array([n & 255]);
}

Deno.test("body: bytes that come one by one are whole, and take the memory of their number", async () => {
  const { promise: read, ...settle } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    await readBytes(request, 100_000).then(settle.resolve, settle.reject);
    return new Response();
  });
  const connection = await Deno.connect({ port: server.addr.port });
  connection.setNoDelay(true);
  const write = async (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  };
  await write(new TextEncoder().encode("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\n\r\n"));
  for (const chunk of chunks(3000)) await write(chunk);
  const bytes = await read;
  assert.deepEqual(bytes, new Uint8Array([...chunks(3000)].map(([byte]) => byte)));
  assert.ok(bytes.buffer.byteLength <= 2 * 3000);
  connection.close();
});

Deno.test("body: long ones, those of this process and empty ones are whole, one byte too many is 413", async () => {
  const sent = crypto.getRandomValues(new Uint8Array(60_000));
  const long = new Uint8Array(1_000_000);
  for (let at = 0; at < long.length; at += sent.length) long.set(sent.subarray(0, long.length - at), at);
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const bytes = await readBytes(request, long.length).catch((error) => Number(error.status));
    return typeof bytes === "number" ? new Response(null, { status: bytes }) : new Response(bytes);
  });
  for (const body of [long, sent, new Uint8Array(0)]) {
    for (const framed of [body, ReadableStream.from([body.slice(0, 10), body.slice(10)])]) {
      const response = await fetch(`http://127.0.0.1:${server.addr.port}/`, { method: "POST", body: framed });
      assert.deepEqual(await response.bytes(), body);
    }
    assert.deepEqual(await readBytes(new Request("http://x", { method: "POST", body }), long.length), body);
    const stream = ReadableStream.from([body.slice(0, 10), body.slice(10)]);
    assert.deepEqual(await readBytes(new Request("http://x", { method: "POST", body: stream }), long.length), body);
  }
  const over = ReadableStream.from([long, new Uint8Array(1)]);
  await assert.rejects(readBytes(new Request("http://x", { method: "POST", body: over }), long.length), {
    status: 413,
  });
});
