import assert from "node:assert/strict";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { writePlanned } from "@/lib/tasks/fixity/write_object.ts";
import { PartsStore } from "@/tests/routes/parts_store.ts";

Deno.test("written object: to a store that may truncate, a long one goes in parts under the same condition", async () => {
  const store = new PartsStore();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const target = request.url.slice(request.url.indexOf("/", "http://".length));
    const { method, headers } = request;
    return await store.answer(request, { method, target, headers, body: await request.text() });
  });
  const endpoint = `http://127.0.0.1:${server.addr.port}`;
  const s3 = {
    addresses: { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) },
    region: "us-east-1",
    upstream: upstreamClient({ verifyTls: true, timeoutMs: 20_000 }),
    now: Date.now,
    mayTruncate: () => Promise.resolve(true),
  };
  const { signal } = new AbortController();
  const caller = { username: "u", tenant: null, s3: { accessKey: "a", secretKey: "b" }, mapiAuthorization: null };
  const source = {
    s3,
    caller: { ...caller, named: true, signal },
    retryMs: [],
    read: <T>(work: () => Promise<T>) => work(),
    pace: () => Promise.resolve(false),
  };
  const planned = (key: string, lines: number, found: "none" | "other") => ({
    output: {
      key,
      type: "text/plain",
      async *text() {
        for (let i = 0; i < lines; i++) yield `${i} `.padEnd(99) + "\n";
      },
    },
    key,
    size: lines * 100,
    sha256: "",
    found,
  });
  await writePlanned(source, "b", planned("long", 4000, "none"));
  assert.equal(store.begun, 1);
  assert.equal(store.objects.get("/b/long")?.body.length, 400_000);
  assert.equal(store.objects.get("/b/long")?.headers.get("content-type"), "text/plain");
  await assert.rejects(writePlanned(source, "b", planned("long", 4000, "none")), { status: 409 });
  await writePlanned(source, "b", planned("long", 5000, "other"));
  assert.equal(store.objects.get("/b/long")?.body.length, 500_000);
  await writePlanned(source, "b", planned("empty", 0, "none"));
  assert.equal(store.objects.get("/b/empty")?.body, "");
  assert.equal(store.begun, 3);
  assert.equal(store.uploads.size, 0);
  await server.shutdown();
});
