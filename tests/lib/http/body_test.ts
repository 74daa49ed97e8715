import assert from "node:assert/strict";
import { bodySource, readBytes, readForm, readJson } from "@/lib/http/body.ts";
import { HttpError } from "@/lib/http/errors.ts";

Deno.test("body: a client that leaves in the middle is 499 and no fault of ours", async () => {
  const reads = {
    bytes: (request: Request) => readBytes(request, 100),
    form: readForm,
    json: (r: Request) => readJson(r),
  };
  for (const [name, read] of Object.entries(reads)) {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(new Uint8Array([0x7b])),
      pull: (controller) => controller.error(new Deno.errors.BadResource("gone")),
    }, { highWaterMark: 0 });
    const request = new Request("http://site.example/", { method: "POST", body });
    await assert.rejects(read(request), (error) => error instanceof HttpError && error.status === 499, name);
  }
});

Deno.test("body source: returns no more than requested, and the rest at the next read", async () => {
  const source = bodySource(new Response("abcdef").body);
  const texts: string[] = [];
  for (let bytes; (bytes = await source.read(4)) !== null;) texts.push(new TextDecoder().decode(bytes));
  assert.deepEqual(texts, ["abcd", "ef"]);
  assert.equal(await source.read(4), null);
  assert.equal(await bodySource(null).read(1), null);
});

Deno.test("body source: a stop ends a pending read", async () => {
  const waiting = bodySource(new ReadableStream<Uint8Array<ArrayBuffer>>());
  const read = waiting.read(1);
  waiting.stop();
  assert.equal(await read, null);
});

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

Deno.test("JSON body: too deep is 422, whatever is in it", async () => {
  const body = (depth: number) =>
    new Request("http://a/", { method: "POST", body: "[".repeat(depth) + "]".repeat(depth) });
  await assert.rejects(readJson(body(65)), { status: 422 });
  await assert.rejects(readJson(body(400_000)), { status: 422 });
  assert.ok(Array.isArray(await readJson(body(64))));
});
