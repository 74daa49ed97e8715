import assert from "node:assert/strict";
import { Tallies } from "@/lib/campaigns/progress/tallies.ts";

const SESSION_MS = 8 * 3_600_000;

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
