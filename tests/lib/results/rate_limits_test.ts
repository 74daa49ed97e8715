import assert from "node:assert/strict";
import {
  type Attempt,
  type Blocked,
  loginLimits,
  MAX_KEYS,
  MAX_PER_ADDRESS,
  MAX_PER_USER,
  MAX_WAITING,
  USER_WINDOW_MS,
} from "@/lib/results/rate_limits.ts";

function clocked() {
  const clock = { now: 1_000_000 };
  return { clock, limits: loginLimits(() => clock.now) };
}

function started(result: Attempt | Blocked): Attempt {
  assert.ok(!("limit" in result), JSON.stringify(result));
  return result;
}

function blocked(result: Attempt | Blocked): [string, number] {
  assert.ok("limit" in result);
  return [result.limit, result.seconds];
}

Deno.test("login limits: an address slides through its minute", () => {
  const { clock, limits } = clocked();
  for (let n = 0; n < MAX_PER_ADDRESS; n++) {
    started(limits.start("a", `u${n}`)).refused();
    clock.now += 1000;
  }
  assert.deepEqual(blocked(limits.start("a", "u9")), ["address", 55]);
  started(limits.start("b", "u9")).refused();
  clock.now += 54_999;
  assert.deepEqual(blocked(limits.start("a", "u9")), ["address", 1]);
  clock.now += 1;
  started(limits.start("a", "u9")).refused();
  assert.deepEqual(blocked(limits.start("a", "u9")), ["address", 1]);
});

Deno.test("login limits: a name slides through its five minutes, and its refusal is none of the address", () => {
  const { clock, limits } = clocked();
  for (let n = 0; n < MAX_PER_USER; n++) started(limits.start(`a${n}`, n % 2 ? "ÅSA" : "åsa")).refused();
  for (let n = 0; n < 20; n++) assert.deepEqual(blocked(limits.start("a", "A\u030asa")), ["user", 300]);
  started(limits.start("a", "other")).refused();
  clock.now += USER_WINDOW_MS;
  started(limits.start("a", "åsa")).refused();
});

Deno.test("login limits: an attempt counts from its start, so that many at once are no way around", () => {
  const { limits } = clocked();
  const waiting = Array.from({ length: MAX_WAITING }, () => started(limits.start("a", "u")));
  assert.deepEqual(blocked(limits.start("a", "u")), ["busy", 1]);
  assert.deepEqual(blocked(limits.start("b", "v")), ["busy", 1]);
  waiting.pop()?.refused();
  const last = started(limits.start("a", "u"));
  assert.deepEqual(blocked(limits.start("a", "u")), ["address", 60]);
  last.refused();
  waiting.forEach((attempt) => attempt.refused());
  assert.deepEqual(blocked(limits.start("a", "u")), ["address", 60]);
});

Deno.test("login limits: success forgets the address and the name, an attempt without judgement was none", () => {
  const { limits } = clocked();
  for (let n = 1; n < MAX_PER_ADDRESS; n++) started(limits.start("a", "u")).refused();
  for (let n = 0; n < 20; n++) started(limits.start("a", "u")).unjudged();
  started(limits.start("a", "u")).succeeded();
  for (let n = 0; n < MAX_PER_ADDRESS; n++) started(limits.start("a", "u")).refused();
  for (let n = MAX_PER_ADDRESS; n < MAX_PER_USER; n++) started(limits.start("b", "u")).refused();
  assert.equal(blocked(limits.start("a", "v"))[0], "address");
  assert.equal(blocked(limits.start("c", "u"))[0], "user");
});

Deno.test("login limits: what is remembered is bounded, and who tried last is forgotten last", () => {
  const { limits } = clocked();
  for (let n = 0; n < MAX_PER_ADDRESS; n++) started(limits.start("first", `f${n}`)).refused();
  for (let n = 0; n < MAX_KEYS - 1; n++) started(limits.start(`a${n}`, `u${n}`)).refused();
  assert.equal(blocked(limits.start("first", "x"))[0], "address");
  // That attempt made it the latest, so that another is forgotten now.
  started(limits.start("one more", "y")).refused();
  assert.equal(blocked(limits.start("first", "x"))[0], "address");
  for (let n = 0; n < MAX_KEYS; n++) started(limits.start(`b${n}`, `w${n}`)).refused();
  started(limits.start("first", "x")).refused();
});
