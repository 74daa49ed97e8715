import assert from "node:assert/strict";
import { FailedLoginDelay } from "@/embedded/store/context/store_context.ts";

function counted() {
  const clock = { now: 1_000_000 };
  const waits: number[] = [];
  const wrong = new FailedLoginDelay(() => clock.now, (ms) => {
    waits.push(Math.round(ms));
    return Promise.resolve();
  });
  return { clock, waits, wrong };
}

Deno.test("failed logins: a few are not delayed, further ones more and more, up to 0.25 s", async () => {
  const { clock, waits, wrong } = counted();
  for (let n = 0; n < 5; n++) await wrong.delay();
  assert.deepEqual(waits, []);
  for (let n = 0; n < 30; n++) await wrong.delay();
  assert.deepEqual(waits.slice(0, 3), [25, 50, 75]);
  assert.equal(Math.max(...waits), 250);
  // One is forgotten each second.
  clock.now += 9_000;
  await wrong.delay();
  assert.equal(waits.at(-1), 50);
  clock.now += 3_600_000;
  const before = waits.length;
  for (let n = 0; n < 5; n++) await wrong.delay();
  assert.equal(waits.length, before);
});

Deno.test("failed logins: a clock that goes back does not change the count or the delay", async () => {
  const { clock, waits, wrong } = counted();
  for (let n = 0; n < 7; n++) await wrong.delay();
  clock.now = 0;
  await wrong.delay();
  assert.deepEqual(waits, [25, 50, 75]);
});

Deno.test("failed logins: at most 256 wait at the same time, further ones are not delayed", async () => {
  const release = Promise.withResolvers<void>();
  let waiting = 0;
  const wrong = new FailedLoginDelay(() => 0, () => {
    waiting++;
    return release.promise;
  });
  const all = Array.from({ length: 1000 }, () => wrong.delay());
  // The last ones are not kept waiting.
  await all.at(-1);
  assert.equal(waiting, 256);
  release.resolve();
  await Promise.all(all);
});
