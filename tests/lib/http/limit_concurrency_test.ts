import assert from "node:assert/strict";
import { handledBy, httpApp, routesOf } from "@/lib/http/app.ts";
import { InFlight } from "@/lib/http/in_flight.ts";
import { limitConcurrency, UnprovenRequests } from "@/lib/http/limit_concurrency.ts";
import { NO_LOG } from "./no_log.ts";

Deno.test("in flight: counts by key, releases a slot once, and stores nothing for idle keys", () => {
  const inFlight = new InFlight(2);
  const leave = inFlight.enter("a");
  assert.ok(leave && inFlight.enter("a") && inFlight.enter("b"));
  assert.equal(inFlight.enter("a"), null);
  leave();
  leave();
  assert.deepEqual([inFlight.count("a"), inFlight.count("b"), inFlight.count("c")], [1, 1, 0]);
});

Deno.test("limit concurrency: a slot is held until the connection reports that the response is sent, or failed", async () => {
  const inFlight = new InFlight(1);
  const app = httpApp({ log: NO_LOG });
  const add = routesOf(app, handledBy("web"), limitConcurrency(inFlight, new UnprovenRequests(1, 1)));
  add("/", () => new Response("x"));
  add("/throws", () => {
    throw new Error("x");
  });
  for (const path of ["/", "/throws"]) {
    for (const end of ["resolve", "reject"] as const) {
      const { promise: completed, ...settle } = Promise.withResolvers<void>();
      const first = await app.request(path, {}, { completed });
      assert.ok([200, 500].includes(first.status));
      assert.equal((await app.request("/", {}, {})).status, 503);
      settle[end]();
      await completed.catch(() => {});
      assert.equal(inFlight.count(), 0);
    }
    await app.request(path, {}, {});
    assert.equal(inFlight.count(), 0);
  }
});
