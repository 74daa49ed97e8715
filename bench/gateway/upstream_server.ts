/**
 * The store of the gateway's benchmarks: it looks at no signature, has every answer ready and forgets what it gets, so
 * that it costs the same little whoever asks. Prints its addresses in JSON.
 */
import { TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { mapiAnswer } from "./upstream_records.ts";
import { COMPLETED, LISTING, UPLOAD } from "./upstream_xml.ts";

const SMALL = new Uint8Array(1024).fill(0x61);
const BLOCK = new Uint8Array(256 * 1024).fill(0x62);
const OBJECT = {
  "accept-ranges": "bytes",
  "content-type": "text/plain",
  "etag": '"d41d8cd98f00b204e9800998ecf8427e"',
  "last-modified": "Sat, 21 Nov 2026 04:17:17 GMT",
  "x-amz-meta-volume": "12",
};
const XML = { "content-type": "application/xml" };
const JSON_TYPE = { "content-type": "application/json" };

const local = { hostname: "127.0.0.1", port: 0, onListen() {} } as const;
const plain = Deno.serve(local, answer);
const secure = Deno.serve({ ...local, cert: TEST_CERTIFICATE, key: TEST_KEY }, answer);
console.log(JSON.stringify({ s3: `http://127.0.0.1:${plain.addr.port}`, mapiPort: secure.addr.port }));

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.startsWith("/mapi/")) {
    return new Response(mapiAnswer(pathname, searchParams), { headers: JSON_TYPE });
  }
  if (request.method === "PUT") return await sunk(request);
  if (request.method === "POST") {
    return new Response(searchParams.has("uploads") ? UPLOAD : COMPLETED, { headers: XML });
  }
  if (searchParams.has("list-type")) return new Response(LISTING, { headers: XML });
  const size = Number(/^\/[^/]+\/bytes-(\d+)$/.exec(pathname)?.[1] ?? SMALL.length);
  const headers = { ...OBJECT, "content-length": String(size) };
  if (request.method === "HEAD") return new Response(null, { headers });
  return new Response(size === SMALL.length ? SMALL : blocks(size), { headers });
}

/** Takes an upload; one whose length did not come along is refused (RFC 9110, section 15.5.12). */
async function sunk(request: Request): Promise<Response> {
  const length = request.headers.get("content-length");
  let received = 0;
  for await (const part of request.body ?? []) received += part.length;
  return length === String(received)
    ? new Response(null, { headers: { etag: OBJECT.etag } })
    : new Response(null, { status: 411 });
}

function blocks(size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      if (left > 0) controller.enqueue(BLOCK.subarray(0, Math.min(left, BLOCK.length)));
      left -= BLOCK.length;
      if (left <= 0) controller.close();
    },
  });
}
