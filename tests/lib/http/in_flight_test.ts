import assert from "node:assert/strict";
import { application, Routes } from "@/lib/http/application.ts";
import { boundedRole, InFlight } from "@/lib/http/in_flight.ts";
import { errorsAnswered } from "@/lib/http/steps.ts";
import { UnprovenPlaces } from "@/lib/http/unproven_places.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

Deno.test("in flight: counts by key, gives a place back once, and forgets what is over", () => {
  const inFlight = new InFlight(2);
  const leave = inFlight.enter("a");
  assert.ok(leave && inFlight.enter("a") && inFlight.enter("b"));
  assert.equal(inFlight.enter("a"), null);
  leave();
  leave();
  assert.deepEqual([inFlight.count("a"), inFlight.count("b"), inFlight.count("c")], [1, 1, 0]);
});

Deno.test("in flight: a place is held until the connection says that the answer is sent, or failed", async () => {
  const inFlight = new InFlight(1);
  const routes = new Routes();
  const add = routes.within(boundedRole(inFlight, new UnprovenPlaces(1, 1)));
  add("/", () => Promise.resolve(new Response("x")));
  add("/throws", () => {
    throw new Error("x");
  });
  const app = application([errorsAnswered(NO_LOG)], routes);
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
