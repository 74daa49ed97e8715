import assert from "node:assert/strict";
import {
  ProgressCache,
  REMOVED_EVERY_MS,
  RUNNING_LIFETIME_MS,
  Tallies,
} from "@/lib/campaigns/progress/progress_cache.ts";
import { judgeAnswer } from "@/lib/campaigns/projection/progress.ts";

const SESSION_MS = 8 * 3_600_000;
const SCOPE = { session: "anna", namespace: "n", pipeline: "p", run: "r" };
const ABSENT = judgeAnswer("progress", 404, null);

Deno.test("progress cache: beyond its capacity the oldest results of the least recently used run are evicted", () => {
  const cache = new ProgressCache(() => 0, SESSION_MS, 3);
  const [first, second] = [SCOPE, { ...SCOPE, run: "s" }];
  const has = (scope: typeof SCOPE, id: string) => cache.of(scope).get(id.charCodeAt(0), "done") !== undefined;
  const keep = (scope: typeof SCOPE, id: string) => cache.of(scope).set(id.charCodeAt(0), "done", ABSENT);
  keep(first, "a");
  keep(second, "b");
  keep(second, "c");
  keep(second, "c");
  assert.equal(cache.size, 3);
  assert.ok(has(second, "b") && has(first, "a"));
  keep(first, "d");
  assert.deepEqual([has(first, "a"), has(second, "b"), has(second, "c"), has(first, "d")], [true, false, true, true]);
  for (const id of ["e", "f", "g"]) keep(first, id);
  assert.equal(cache.size, 3);
  assert.deepEqual([has(second, "c"), has(first, "a"), has(first, "d"), has(first, "g")], [false, false, false, true]);
});

Deno.test("progress cache: a result lasts no longer than a session", () => {
  let now = 0;
  const kept = new ProgressCache(() => now, 60_000).of(SCOPE);
  kept.set(0, "done", ABSENT);
  now = 59_999;
  assert.equal(kept.get(0, "done"), ABSENT);
  now = 60_000;
  assert.equal(kept.get(0, "done"), undefined);
});

Deno.test("progress cache: expired results leave memory once a minute, also after the clock was set back", () => {
  let now = 1_000_000;
  const cache = new ProgressCache(() => now, SESSION_MS);
  cache.of(SCOPE).set(0, "active", ABSENT);
  cache.of({ ...SCOPE, run: "s" }).set(1, "active", ABSENT);
  cache.of(SCOPE).set(2, "done", ABSENT);
  now += REMOVED_EVERY_MS - 1;
  cache.of(SCOPE).set(3, "active", ABSENT);
  assert.equal(cache.size, 4, "within a minute");
  now += 1;
  cache.of(SCOPE).set(4, "active", ABSENT);
  assert.equal(cache.size, 3, "what ended and what is new");
  assert.equal(cache.of(SCOPE).get(2, "done"), ABSENT);
  now -= 500_000;
  cache.of(SCOPE).set(5, "active", ABSENT);
  now += RUNNING_LIFETIME_MS + REMOVED_EVERY_MS;
  cache.of(SCOPE).set(6, "active", ABSENT);
  assert.equal(cache.of(SCOPE).get(5, "active"), undefined);
  assert.equal(cache.size, 4, "those of before the step expire by the time that they were given");
});

Deno.test("tallies: the pace lives for an hour after its last read, so that estimates do not begin anew every hour", () => {
  let now = 1;
  const tallies = new Tallies(() => now, SESSION_MS);
  const first = tallies.of("anna", "run");
  now += 3_599_999;
  tallies.of("anna", "run");
  now += 3_599_999;
  const second = tallies.of("anna", "run");
  assert.notEqual(second.tally, first.tally);
  assert.equal(second.pace, first.pace);
  now += 3_600_000;
  assert.notEqual(tallies.of("anna", "run").pace, first.pace);
});

Deno.test("tallies: keys are unambiguous, and the least recently used is evicted beyond the capacity", () => {
  const tallies = new Tallies(() => 1, SESSION_MS, 2);
  const first = tallies.of("a", "b,c");
  assert.notEqual(tallies.of("a,b", "c").tally, first.tally);
  tallies.of("x", "y");
  const again = tallies.of("a", "b,c");
  assert.notEqual(again.tally, first.tally);
  assert.notEqual(again.pace, first.pace);
});

Deno.test("tallies: what a session has read lasts no longer than a session, and leaves memory then", () => {
  let now = 1;
  const tallies = new Tallies(() => now, 60_000);
  const first = tallies.of("anna", "run");
  now += 59_999;
  assert.equal(tallies.of("anna", "run").tally, first.tally);
  now += 60_000;
  const again = tallies.of("anna", "run");
  assert.notEqual(again.tally, first.tally);
  assert.notEqual(again.pace, first.pace);
});
