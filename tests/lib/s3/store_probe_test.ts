import assert from "node:assert/strict";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { storeProbe } from "@/lib/s3/probes.ts";

Deno.test("store probe: asks until the store responds, then remembers its kind and whether it has uploads in parts", async () => {
  const responses = [
    new Response(null, { status: 502, headers: { server: "nginx" } }),
    new Response(null, { status: 403, headers: { server: "VERSITYGW" } }),
    new Response(null, { status: 404 }),
    new Response(null, { status: 501, headers: { server: "MinIO" } }),
    new Response(null, { status: 405 }),
  ];
  const seen: string[] = [];
  const store = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ method, url, headers }) => {
    const { pathname, search } = new URL(url);
    seen.push(`${method} ${pathname}${search} ${headers.has("authorization") ? "signed" : "unsigned"}`);
    return responses.shift() ?? new Response(null, { status: 599 });
  });
  const endpoint = `http://127.0.0.1:${store.addr.port}`;
  const s3 = {
    addresses: { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) },
    region: "us-east-1",
    upstream: upstreamClient({ verifyTls: true, timeoutMs: 20_000 }),
    now: Date.now,
  };
  const probe = storeProbe(s3, null, "unknown");
  assert.equal(await probe(), null);
  const found = { kind: "versitygw", hasParts: true };
  assert.deepEqual([await probe(), await probe()], [found, found]);
  const keys = { accessKey: "a", secretKey: "b" };
  assert.deepEqual(await storeProbe(s3, keys, "minio")(), { kind: "minio", hasParts: true });
  assert.deepEqual(await storeProbe(s3, keys, "unknown")(), { kind: "minio", hasParts: false });
  assert.deepEqual(await storeProbe(s3, keys, "unknown")(), { kind: "unknown", hasParts: false });
  assert.equal(seen.length, 5);
  for (const [index, line] of seen.entries()) {
    assert.match(line, /^POST \/stackroom-probe-[0-9a-f-]{36}\/probe\?uploads= /);
    assert.equal(line.endsWith(" signed"), index >= 2);
  }
  await store.shutdown();
  assert.equal(await storeProbe(s3, null, "unknown")(), null);
});
