import assert from "node:assert/strict";
import {
  IDLE_MS,
  MIN_BYTES_PER_SECOND,
  Pace,
  SLACK_MS,
  totalMs,
  unreadMs,
  UNWATCHED_BYTES,
} from "@/lib/std/body_reader.ts";

const MIB = 1024 * 1024;
const PART = 64 * MIB;
/** Six at a time over 1 Mbit/s, bytes per second each. */
const SHARE = 1_000_000 / 8 / 6;

Deno.test("time bounds: parts of 64 MiB, six at a time over 1 Mbit/s, are in time", () => {
  assert.ok(PART / SHARE * 1000 < totalMs(PART));
  const pace = new Pace();
  for (let sent = 0; sent < PART; sent += SHARE * 10) {
    assert.ok(pace.waitMs > 10_000);
    pace.count(SHARE * 10, 10_000);
  }
});

Deno.test("time bounds: what drips is too slow soon, and what comes fast may pause for no longer than others", () => {
  const drip = new Pace();
  let seconds = 0;
  for (; drip.waitMs > 0; seconds++) drip.count(1, 1000);
  assert.ok(seconds <= SLACK_MS / 1000 + 1);
  const fast = new Pace();
  fast.count(PART, 1000);
  assert.equal(fast.waitMs, IDLE_MS);
});

Deno.test("time bounds: a reader at the least pace is in time, though its connection takes 1.5 MiB at once", () => {
  assert.ok(1.5 * MIB / MIN_BYTES_PER_SECOND * 1000 + IDLE_MS < unreadMs());
});

Deno.test("time bounds: the total of an unwatched body is little more than the idle timeout", () => {
  assert.ok(totalMs(UNWATCHED_BYTES) <= 2.1 * IDLE_MS);
});
