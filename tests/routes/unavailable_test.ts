import assert from "node:assert/strict";
import { batchedLog } from "@/lib/http/access_log.ts";
import { unavailableApp } from "@/routes/unavailable.ts";

Deno.test("unavailable: every path is a 503 with a sentence, a request id and the headers of every answer", async () => {
  let lines = "";
  const log = batchedLog((text) => lines += text);
  const app = unavailableApp({ detail: "Not now", retryAfterSeconds: 5, trustedHops: 0, log });
  for (const path of ["/", "/api/v1/buckets/b/objects/k", "/healthz"]) {
    const answer = await app.request(path, { headers: { "X-Request-ID": "brought-1" } });
    assert.equal(answer.status, 503);
    assert.deepEqual(await answer.json(), { detail: "Not now" });
    assert.equal(answer.headers.get("Retry-After"), "5");
    assert.equal(answer.headers.get("X-Request-ID"), "brought-1");
    assert.equal(answer.headers.get("X-Content-Type-Options"), "nosniff");
    assert.equal(answer.headers.get("Content-Security-Policy"), "frame-ancestors 'none'");
    assert.equal(answer.headers.get("Cache-Control"), path.startsWith("/api/v1") ? "private, no-store" : null);
  }
  const head = await app.request("/api/v1/buckets", { method: "HEAD" });
  assert.deepEqual([head.status, head.body, head.headers.get("Content-Length")], [503, null, "20"]);
  assert.match(head.headers.get("X-Request-ID") ?? "", /^[0-9a-f]{32}$/);
  log.flush();
  const logged = lines.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(logged.map(({ path, status }) => [path, status]), [
    ["/", 503],
    ["/api/v1/buckets/b/objects/k", 503],
    ["/api/v1/buckets", 503],
  ]);
});
