import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { gatewayTimeout } from "@/lib/http/errors.ts";
import { boundedBody } from "@/lib/http/response_body.ts";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { watchedUpload } from "@/lib/http/watched_upload.ts";

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
  Deno.test(`long bodies: downloads from ${target} that are read late arrive whole`, async () => {
    await withProxy(target, async (origin) => {
      // All are on their way, and their buffers full, before the first is read.
      const responses = await Promise.all(Array.from({ length: AT_ONCE }, () => fetch(origin)));
      for (const response of responses) assert.equal(digest(await response.bytes()), EXPECTED);
    });
  });

  Deno.test(`long bodies: uploads to ${target} arrive whole`, async () => {
    await withProxy(target, async (origin) => {
      const uploads = Array.from({ length: AT_ONCE }, async () => {
        const response = await fetch(origin, { method: "PUT", body: CONTENT });
        return await response.text();
      });
      for (const received of await Promise.all(uploads)) assert.equal(received, EXPECTED);
    });
  });
}
