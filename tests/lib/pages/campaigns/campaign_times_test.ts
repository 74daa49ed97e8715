import assert from "node:assert/strict";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { timesOf } from "@/lib/pages/campaigns/campaign_progress.ts";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const NOW = Date.parse("2026-11-21T12:30:00Z");
const times = (change: Partial<JobSummary>, endsAt?: string | null) => {
  const job = summary({ name: "a", createdAt: "2026-11-21T10:30:00Z", startedAt: "2026-11-21T10:34:00Z", ...change });
  const pace = endsAt === undefined ? null : { pagesPerMinute: 40, endsAt, window: 600 };
  const { main, sub } = timesOf(job, detail(job, [], { pace }), NOW);
  return [main.text, sub.text];
};

Deno.test("campaign times: a running one by what is left and for how long it runs", () => {
  assert.deepEqual(times({}, "2026-11-21T13:40:00Z"), ["about 1 h 10 min left", "running for 1 h 56 min"]);
  assert.deepEqual(times({}, null), ["end not known yet", "running for 1 h 56 min"]);
  assert.deepEqual(times({}, "2026-11-21T12:29:00Z"), ["less than a minute left", "running for 1 h 56 min"]);
});

Deno.test("campaign times: one that waits for its warm-up stands still, one whose volumes have begun goes on", () => {
  const counts = { total: 4, active: 0, done: 0, failed: 0 };
  for (const phase of ["failed", "missing"] as const) {
    assert.equal(times({ warmup: { phase }, counts }, null)[0], "stands still");
    for (const begun of ["active", "done", "failed"]) {
      const left = times({ warmup: { phase }, counts: { ...counts, [begun]: 1 } }, "2026-11-21T13:40:00Z")[0];
      assert.equal(left, "about 1 h 10 min left");
    }
  }
  // Its pods wait at the gate, so that volumes count as begun; without a warm-up Job they may be at work.
  const begun = { ...counts, active: 2, failed: 2 };
  assert.equal(times({ warmup: { phase: "failed" }, counts: begun }, null)[0], "stands still");
  assert.equal(times({ warmup: { phase: "missing" }, counts: begun }, null)[0], "end not known yet");
});

Deno.test("campaign times: an ended one by how long ago and how long it took", () => {
  const ended = { phase: "Succeeded", finishedAt: "2026-11-21T11:20:00Z" } as const;
  assert.deepEqual(times(ended), ["ended 1 h ago", "took 46 min"]);
  assert.deepEqual(times({ ...ended, startedAt: null }), ["ended 1 h ago", "took 50 min"]);
  assert.deepEqual(times({ phase: "Unknown", jobGone: true }), ["end not recorded", "created 2 h ago"]);
});

Deno.test("campaign times: a waiting one by how long it waits", () => {
  const waiting = { code: "queue", reason: "x", message: null, since: "2026-11-21T11:59:00Z" } as const;
  assert.deepEqual(times({ phase: "Queued", waiting, startedAt: null }), ["not started", "waiting for 31 min"]);
  assert.deepEqual(times({ phase: "Paused" }), ["paused", "waiting for 2 h"]);
});

Deno.test("campaign times: what is no instant is not told, and a clock that is behind gives no negative age", () => {
  assert.deepEqual(times({ startedAt: "soon", createdAt: null }), ["end not known yet", ""]);
  assert.deepEqual(times({ startedAt: "2026-11-21T12:31:00Z" })[1], "running for less than a minute");
});
