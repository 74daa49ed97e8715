import assert from "node:assert/strict";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { batchedLog } from "@/lib/http/app.ts";
import { RequestContext } from "@/lib/http/request_context.ts";
import { healthOperations, reachability, type ReadinessCheck, unavailableApp } from "@/routes/health.ts";
import { buildApp } from "@/compose/app.ts";
import { ManualClock } from "@/tests/manual_clock.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { resultsDeps } from "@/tests/routes/results/results_fixture.ts";
import { TIMEOUT_MS, until } from "@/tests/until.ts";
import { gatewayTest, nowhere, withGateway } from "./gateway_fixture.ts";

const NOTHING = {
  ...{ gateway: null, web: null, results: null, resultsStore: null },
  ...{ allowedHosts: null, log: NO_LOG, now: Date.now },
};

gatewayTest("health: open, and ready while the store answers anything at all", async ({ app, answer, seen }) => {
  answer(() => new Response(null, { status: 403 }));
  const json = async (path: string) => {
    const response = await app.request(path);
    return [response.status, await response.json()];
  };
  assert.deepEqual(await json("/healthz"), [200, { ok: true }]);
  assert.deepEqual(await json("/liveness"), [200, { status: "ok" }]);
  assert.deepEqual(await json("/health"), [200, { status: "ok", cache: "disabled" }]);
  const checks = { hcp: "reachable", cache: "disabled" };
  assert.deepEqual(await json("/readiness"), [200, { status: "ready", checks }]);
  assert.deepEqual(await json("/readyz"), [200, { ok: true, checks: { hcp: "reachable" } }]);
  assert.equal(seen.length, 1, "probes within the same two seconds ask once");
  const [{ method, target, headers }] = seen;
  assert.deepEqual([method, target, headers.get("authorization")], ["HEAD", "/mapi/tenants", null]);
  assert.deepEqual(await json("/api/v1/capabilities"), [200, { mapi_enabled: true, storage_backend: "hcp" }]);
});

Deno.test("health: what is not ready is looked at again a moment later, what is ready after two seconds", async () => {
  let now = 1;
  let isFull = true;
  let probes = 0;
  const app = buildApp({
    ...NOTHING,
    now: () => now,
    diskIsFull: () => {
      probes++;
      return Promise.resolve(isFull);
    },
  });
  const status = async () => (await app.request("/readyz")).status;
  const statuses = await Promise.all([status(), status()]);
  assert.deepEqual([...statuses, await status(), probes], [503, 503, 503, 1]);
  isFull = false;
  now += 100;
  assert.deepEqual([await status(), probes], [200, 2]);
  isFull = true;
  now += 1999;
  assert.deepEqual([await status(), probes], [200, 2]);
  now += 1;
  assert.deepEqual([await status(), probes], [503, 3]);
});

/** Returns what asks for the readiness that these checks come to. */
function readyz(checks: readonly ReadinessCheck[], now: () => number = () => 0, probeMs?: number) {
  const operation = healthOperations(checks, now, probeMs).find(({ id }) => id === "readyz");
  return async () => {
    const context = new RequestContext(new Request("http://here.example/readyz"));
    return await (await operation?.handle(context, () => ({})))?.json();
  };
}

Deno.test("health: an upstream that hangs is waited for once, not for ever, and the others are told", async () => {
  let now = 1;
  let probes = 0;
  let respond = (_: boolean) => {};
  const hanging = {
    name: "disk",
    probe: async () => {
      probes++;
      const ready = await new Promise<boolean>((resolve) => respond = resolve);
      return { state: "writable", ready };
    },
  };
  const well = reachability("hcp", () => Promise.resolve(true));
  assert.deepEqual(await readyz([hanging, well], () => now, 1)(), {
    ok: false,
    checks: { disk: "no answer", hcp: "reachable" },
  });

  const call = readyz([hanging, well], () => now, TIMEOUT_MS);
  probes = 0;
  const first = call();
  await until("the probe has begun", () => probes === 1 || null);
  now += 10_000;
  const second = call();
  // Its turn of the event loop, in which it would begin a probe.
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(probes, 1, "a caller waits for the probe that is under way, however long it has been");
  respond(true);
  assert.deepEqual([await first, await second].map(({ ok }) => ok), [true, true]);
  now += 1999;
  assert.equal((await call()).ok, true);
  assert.equal(probes, 1);
});

Deno.test("health: a probe that hangs has no other beside it and no answer until it ends, and then the next one counts", async () => {
  let now = 1;
  let probes = 0;
  const { promise: hung, resolve: end } = Promise.withResolvers<void>();
  const probe = async () => {
    if (++probes === 1) await hung;
    return { state: "writable", ready: true };
  };
  const call = readyz([{ name: "disk", probe }], () => now += 10_000, 1);
  const disk = async () => (await call()).checks.disk;
  for (let n = 0; n < 3; n++) assert.equal(await disk(), "no answer");
  assert.equal(probes, 1);
  end();
  await until("the disk answers", async () => await disk() === "writable" || null);
  assert.equal(probes, 2);
});

Deno.test("health: a probe is waited for 6 seconds", async () => {
  using clock = new ManualClock();
  const begun = Promise.withResolvers<void>();
  const probe = () => {
    begun.resolve();
    return new Promise<never>(() => {});
  };
  const response = readyz([{ name: "disk", probe }])();
  await begun.promise;
  clock.advance(6000);
  assert.deepEqual(await response, { ok: false, checks: { disk: "no answer" } });
});

Deno.test("health: not ready without the store", () =>
  withGateway({ gateway: { addresses: nowhere() } }, async ({ app }) => {
    const readiness = await app.request("/readiness");
    assert.equal(readiness.status, 503);
    assert.deepEqual(await readiness.json(), {
      status: "not ready",
      checks: { hcp: "unreachable", cache: "disabled" },
    });
    assert.equal((await app.request("/readyz")).status, 503);
    assert.equal((await app.request("/healthz")).status, 200);
  }));

Deno.test("health: a generic store must list buckets for the configured keys", async () => {
  const sharedKeys = { accessKey: "A", secretKey: "S" };
  const state = async (gateway: Parameters<typeof withGateway>[0]["gateway"], status = 200) => {
    let result: unknown;
    await withGateway({ gateway: { backend: "generic", ...gateway } }, async ({ app, answer }) => {
      answer(() => new Response(null, { status }));
      const response = await app.request("/readiness");
      result = [response.status, (await response.json()).checks.storage];
    });
    return result;
  };
  assert.deepEqual(await state({ sharedKeys }), [200, "reachable"]);
  assert.deepEqual(await state({ sharedKeys }, 403), [503, "unreachable"]);
  assert.deepEqual(await state({}, 403), [200, "reachable"]);
  assert.deepEqual(await state({ sharedKeys, addresses: nowhere() }), [503, "unreachable"]);
  const addresses = { s3: () => Promise.resolve(null), mapi: () => Promise.resolve("http://127.0.0.1:9") };
  assert.deepEqual(await state({ addresses }), [503, "unconfigured"]);
});

Deno.test("health: a results role without its bucket is not ready and says so, one that may not look is", async () => {
  const state = async (probeKeys: S3Keys | undefined, status: number) => {
    let result: unknown;
    await withGateway({}, async ({ storeOrigin, answer, seen }) => {
      answer(() => new Response(null, { status }));
      const { store } = resultsDeps(storeOrigin);
      const app = buildApp({ ...NOTHING, resultsStore: { ...store, probeKeys } });
      const response = await app.request("/readyz");
      const [{ method, target, headers }] = seen;
      assert.deepEqual([method, target, headers.has("authorization")], ["HEAD", "/campaigns", probeKeys !== undefined]);
      result = [response.status, (await response.json()).checks.results_store];
    });
    return result;
  };
  const keys = { accessKey: "A", secretKey: "S" };
  for (const given of [undefined, keys]) {
    assert.deepEqual(await state(given, 404), [503, "bucket missing"]);
    assert.deepEqual(await state(given, 403), [200, "reachable"]);
    assert.deepEqual(await state(given, 200), [200, "reachable"]);
  }
});

Deno.test("health: a disk that is nearly full is ready and says so, a full one is not ready", async () => {
  const state = async (isFull: boolean, isLow: boolean) => {
    const [diskIsFull, diskIsLow] = [isFull, isLow].map((is) => () => Promise.resolve(is));
    const app = buildApp({ ...NOTHING, diskIsFull, diskIsLow });
    const response = await app.request("/readyz");
    return [response.status, (await response.json()).checks.disk];
  };
  assert.deepEqual(await state(false, false), [200, "writable"]);
  assert.deepEqual(await state(false, true), [200, "nearly full"]);
  assert.deepEqual(await state(true, true), [503, "full"]);
});

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
