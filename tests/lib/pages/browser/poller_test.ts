import assert from "node:assert/strict";

import { Poller } from "@/lib/pages/browser/poller_client.ts";
import { HeldClock, settled } from "./held_clock.ts";

function polled(answers: boolean[] = []) {
  const clock = new HeldClock();
  const at: number[] = [];
  const poller = new Poller(() => {
    at.push(clock.now() / 1000);
    return Promise.resolve(answers.shift() ?? true);
  }, clock);
  return { clock, at, poller };
}

Deno.test("poller: waits twice as long after each failure, and as before after a good read", async () => {
  const { clock, at, poller } = polled([false, false, true]);
  poller.repeat(60);
  await clock.pass(430);
  assert.deepEqual(at, [0, 120, 360, 420]);
});

Deno.test("poller: a read that throws counts as a failure and tells when it is tried again", async () => {
  const clock = new HeldClock();
  const due: (number | null)[] = [];
  const poller = new Poller(() => Promise.reject(new Error("no")), clock, (at) => due.push(at));
  poller.repeat(60);
  await clock.pass(1);
  assert.deepEqual(due, [120_000]);
  poller.stop();
});

Deno.test("poller: one read at a time; a request meanwhile leads to one more", async () => {
  const clock = new HeldClock();
  const ends: (() => void)[] = [];
  const poller = new Poller(() => new Promise((resolve) => ends.push(() => resolve(true))), clock);
  poller.readNow();
  poller.readNow();
  poller.readNow();
  assert.equal(ends.length, 1);
  ends[0]();
  await settled();
  assert.equal(ends.length, 2);
  ends[1]();
  await settled();
  assert.equal(ends.length, 2);
});

Deno.test("poller: an end aborts the read under way and begins no other", async () => {
  const clock = new HeldClock();
  const signals: AbortSignal[] = [];
  const poller = new Poller((signal) => {
    signals.push(signal);
    return new Promise(() => {});
  }, clock);
  poller.repeat(60);
  await clock.pass(1);
  poller.stop();
  await clock.pass(600);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true]);
});

Deno.test("poller: a read that is given up is no failure, and the next comes when it is due", async () => {
  const clock = new HeldClock();
  const at: number[] = [];
  const due: (number | null)[] = [];
  const poller = new Poller(
    (signal) => {
      at.push(clock.now() / 1000);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    clock,
    (at) => due.push(at),
  );
  poller.repeat(60);
  await clock.pass(5);
  poller.repeat(null);
  poller.abandon();
  await clock.pass(5);
  assert.deepEqual(at, [0]);
  poller.repeat(60);
  await clock.pass(1);
  assert.deepEqual(at, [0, 10]);
  assert.deepEqual(due, []);
  poller.stop();
});

Deno.test("poller: asked for while paused, it reads when it goes on", async () => {
  const { clock, at, poller } = polled();
  poller.pause(true);
  poller.readNow();
  await clock.pass(10);
  assert.deepEqual(at, []);
  poller.pause(false);
  await clock.pass(10);
  assert.deepEqual(at, [10]);
});
