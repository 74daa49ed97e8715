import assert from "node:assert/strict";
import fc from "fast-check";
import { compressibleJson, compressibleResponse, JsonBytes } from "@/lib/http/header_values.ts";

const TYPE = "application/json";

function request(acceptEncoding: string | null, method = "GET"): Request {
  return new Request("http://h/", {
    method,
    headers: acceptEncoding === null ? {} : { "Accept-Encoding": acceptEncoding },
  });
}

const bytesOf = (length: number) => new Uint8Array(length).fill(0x61);

Deno.test("compressible response: a body that is small, huge or does not shrink is sent as it is", async () => {
  const random = crypto.getRandomValues(new Uint8Array(5000));
  for (const body of [bytesOf(0), bytesOf(1023), bytesOf(4 * 1024 * 1024 + 1), random]) {
    const response = compressibleResponse(request("gzip"), body, TYPE);
    assert.equal(response.headers.get("Content-Encoding"), null, String(body.length));
    assert.equal(response.headers.get("Vary"), "Accept-Encoding");
    assert.equal((await response.bytes()).length, body.length);
  }
  assert.equal(compressibleResponse(request("gzip"), bytesOf(1024), TYPE).headers.get("Content-Encoding"), "gzip");
});

Deno.test("compressible response: bytes that are sent again are neither copied nor compressed again", async () => {
  const body = crypto.getRandomValues(new Uint8Array(50_000));
  const repetitive = Uint8Array.from({ length: 100_000 }, (_, at) => body[at % 30_000]);
  for (const accepted of ["gzip", null]) {
    const chunks = [];
    for (let time = 0; time < 2; time++) {
      chunks.push(...await Array.fromAsync(compressibleResponse(request(accepted), repetitive, TYPE).body ?? []));
    }
    assert.equal(chunks.length, 2);
    assert.equal(chunks[0].buffer, chunks[1].buffer);
    assert.equal(chunks[0].buffer === repetitive.buffer, accepted === null);
  }
});

Deno.test("compressible json: over a connection the length is stated and every byte arrives, and HEAD has none", async () => {
  const long = ["x".repeat(300_000), "ö"];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => compressibleJson(request, long),
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  for (let time = 0; time < 2; time++) {
    const response = await fetch(url, { headers: { "Accept-Encoding": "identity" } });
    assert.equal(response.headers.get("content-length"), "300009");
    assert.equal(response.headers.get("transfer-encoding"), null);
    assert.deepEqual(await response.json(), long);
    const compressed = await fetch(url, { headers: { "Accept-Encoding": "gzip" } });
    assert.deepEqual(await compressed.json(), long);
  }
  const head = await fetch(url, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
  assert.equal(head.headers.get("content-length"), "300009");
  assert.equal(await head.text(), "");
});

Deno.test("JSON bytes: are those of the pieces, of one writer or of two, with their length", async () => {
  const long = fc.constantFrom("x".repeat(70_000), "å😀".repeat(20_000));
  const pieces = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), long), { maxLength: 20 });
  await fc.assert(fc.asyncProperty(pieces, pieces, async (first, second) => {
    const [json, other] = [new JsonBytes(), new JsonBytes()];
    for (const piece of first) json.text(piece);
    for (const piece of second) other.text(piece);
    json.append(other);
    json.text("]");
    const response = json.response();
    assert.equal(response.headers.get("content-type"), "application/json");
    const bytes = await response.arrayBuffer();
    assert.equal(response.headers.get("content-length"), String(bytes.byteLength));
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), [...first, ...second, "]"].join(""));
  }));
});
