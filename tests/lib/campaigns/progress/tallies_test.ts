import assert from "node:assert/strict";
import { Tallies } from "@/lib/campaigns/progress/tallies.ts";

Deno.test("tallies: one per session and run, cached for an hour", () => {
  let now = 1;
  const tallies = new Tallies(() => now);
  const first = tallies.of("anna", "run");
  now += 3_599_999;
  assert.equal(tallies.of("anna", "run"), first);
  assert.notEqual(tallies.of("bo", "run"), first);
  assert.notEqual(tallies.of("anna", "other"), first);
  now += 1;
  assert.notEqual(tallies.of("anna", "run"), first);
});

Deno.test("tallies: keys are unambiguous, and the least recently used is evicted beyond the capacity", () => {
  const tallies = new Tallies(() => 1, 2);
  const first = tallies.of("a", "b,c");
  assert.notEqual(tallies.of("a,b", "c"), first);
  tallies.of("x", "y");
  assert.notEqual(tallies.of("a", "b,c"), first);
});
