import assert from "node:assert/strict";

import { accentOf, bandOf, chipsOf, isInTrouble } from "@/lib/pages/campaigns/campaign_state.ts";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const words = (job: Parameters<typeof chipsOf>[0], of: Parameters<typeof chipsOf>[1] = null) =>
  chipsOf(job, of).map(({ text }) => text);

Deno.test("campaign state: a missing warm-up is trouble only while the campaign has not succeeded", () => {
  const missing = { phase: "missing" } as const;
  assert.equal(isInTrouble(summary({ name: "a", warmup: missing })), true);
  assert.equal(isInTrouble(summary({ name: "a", phase: "Succeeded", warmup: missing })), false);
});

Deno.test("campaign state: a failed warm-up is trouble and colours the card as failed in every phase", () => {
  const warmup = { phase: "failed" } as const;
  for (const phase of ["Queued", "Paused", "Running", "Succeeded", "PartiallyFailed", "Failed", "Unknown"] as const) {
    const job = summary({ name: "a", phase, warmup });
    assert.deepEqual([isInTrouble(job), accentOf(job, null), bandOf(job)], [true, "bad", "trouble"], phase);
  }
});

Deno.test("campaign state: a card has one colour, red for trouble alone, else that of its phase's chip", () => {
  for (const phase of ["PartiallyFailed", "Failed"] as const) {
    assert.equal(accentOf(summary({ name: "a", phase }), null), "bad", phase);
  }
  const others = { Queued: "idle", Paused: "idle", Running: "run", Succeeded: "done", Unknown: "idle" } as const;
  for (const [phase, tone] of Object.entries(others)) {
    const job = summary({ name: "a", phase: phase as keyof typeof others });
    assert.deepEqual([accentOf(job, null), chipsOf(job, null).at(-1)?.tone], [tone, tone], phase);
  }
});

Deno.test("campaign state: failed volumes are trouble once the campaign is over, not while it goes on", () => {
  const counts = { total: 4, active: 1, done: 1, failed: 1 };
  for (const phase of ["Queued", "Paused", "Running"] as const) {
    assert.equal(isInTrouble(summary({ name: "a", phase, counts })), false, phase);
  }
  for (const phase of ["Succeeded", "PartiallyFailed", "Failed", "Unknown"] as const) {
    assert.equal(isInTrouble(summary({ name: "a", phase, counts })), true, phase);
  }
  assert.equal(isInTrouble(summary({ name: "a", counts, jobGone: true })), true);
  assert.equal(accentOf(summary({ name: "a", counts }), null), "run");
});

Deno.test("campaign state: only a running campaign whose warm-up is over pulses", () => {
  assert.equal(chipsOf(summary({ name: "a" }), null).at(-1)?.live, true);
  assert.equal(chipsOf(summary({ name: "a", warmup: { phase: "running" } }), null).at(-1)?.live, false);
});

Deno.test("campaign state: lost pages make a success a partial one", () => {
  const job = summary({ name: "a", phase: "Succeeded" });
  const lost = detail(job, [], { pagesFailed: 1 });
  assert.deepEqual(words(job, lost), ["partially succeeded"]);
  assert.equal(accentOf(job, lost), "warn");
  assert.equal(accentOf(job, null), "done");
});
