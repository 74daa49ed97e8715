import assert from "node:assert/strict";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { storeProbe } from "@/lib/s3/probes.ts";

Deno.test("store probe: asks until the store responds, then remembers its kind and whether it has uploads in parts", async () => {
  const response = (status: number, server = "") => new Response(null, { status, headers: { server } });
  const responses = [
    response(502, "nginx"),
    response(403, "VERSITYGW"),
    response(503, "nginx"),
    response(403, "VERSITYGW"),
    response(403),
    response(403, "MinIO"),
    response(404),
    response(405),
    response(501),
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
  assert.deepEqual([await probe(), await probe()], [null, null]);
  const found = { kind: "versitygw", hasParts: true };
  assert.deepEqual([await probe(), await probe()], [found, found]);
  const keys = { accessKey: "a", secretKey: "b" };
  assert.deepEqual(await storeProbe(s3, keys, "unknown")(), { kind: "minio", hasParts: true });
  assert.deepEqual(await storeProbe(s3, keys, "minio")(), { kind: "minio", hasParts: true });
  assert.deepEqual(await storeProbe(s3, keys, "unknown")(), { kind: "unknown", hasParts: false });
  const upload = /^POST \/stackroom-probe-[0-9a-f-]{36}\/probe\?uploads= /;
  assert.deepEqual(
    seen.map((line) => upload.test(line)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [3, 5, 9].includes(n)),
  );
  assert.deepEqual(seen.map((line) => line.endsWith(" signed")), seen.map((_, index) => index >= 5));
  await store.shutdown();
  assert.equal(await storeProbe(s3, null, "unknown")(), null);
});
