import assert from "node:assert/strict";
import fc from "fast-check";

import type { Phase, WarmupPhase } from "@/lib/campaigns/projection/types.ts";
import { countSegments, matches, NO_FILTER, SEGMENTS } from "@/lib/pages/campaigns/campaign_filter.ts";
import { isInTrouble } from "@/lib/pages/campaigns/campaign_state.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";

const PHASES: Phase[] = ["Queued", "Paused", "Running", "Succeeded", "PartiallyFailed", "Failed", "Unknown"];
const WARMUPS: WarmupPhase[] = ["missing", "pending", "running", "succeeded", "failed"];

const campaign = fc.record({
  phase: fc.constantFrom(...PHASES),
  warmup: fc.constantFrom(...WARMUPS).map((phase) => ({ phase })),
  failed: fc.nat(2),
  jobGone: fc.boolean(),
}).map(({ failed, ...job }) => summary({ name: "a", ...job, counts: { total: 9, active: 0, done: 1, failed } }));

Deno.test("campaign filter: text matches names and pipelines, without case, in either way to write å", () => {
  const job = summary({ name: "rådhusrätten", pipeline: "finnish-bear" });
  const has = (text: string) => matches(job, { ...NO_FILTER, text });
  assert.equal(has("RÅDHUS bear"), true);
  assert.equal(has("ra\u030adhus"), true);
  assert.equal(has("lejon"), false);
  assert.equal(matches(job, { ...NO_FILTER, segment: "waiting" }), false);
});

Deno.test("campaign filter: a pipeline and a namespace match as a whole", () => {
  const job = summary({ name: "a", pipeline: "lion-v2", namespace: "north" });
  assert.equal(matches(job, { ...NO_FILTER, pipeline: "lion-v2", namespace: "north" }), true);
  assert.equal(matches(job, { ...NO_FILTER, pipeline: "lion" }), false);
  assert.equal(matches(job, { ...NO_FILTER, namespace: "south" }), false);
});

Deno.test("campaign filter: each campaign is in exactly one segment, and the counts add up to all of them", () => {
  fc.assert(fc.property(fc.array(campaign), (jobs) => {
    const { all, ...parts } = countSegments(jobs, NO_FILTER);
    assert.equal(all, jobs.length);
    assert.equal(Object.values(parts).reduce((sum, count) => sum + count, 0), all);
    for (const segment of SEGMENTS) {
      const shown = jobs.filter((job) => matches(job, { ...NO_FILTER, segment })).length;
      assert.equal(shown, countSegments(jobs, NO_FILTER)[segment], segment);
    }
    assert.equal(parts.trouble, jobs.filter(isInTrouble).length, "the count of the page's title");
  }));
});

Deno.test("campaign filter: the counts are those of the rest of the filter", () => {
  const jobs = [summary({ name: "lund" }), summary({ name: "lund-2", phase: "Queued" }), summary({ name: "visby" })];
  const counts = countSegments(jobs, { ...NO_FILTER, segment: "waiting", text: "lund" });
  assert.deepEqual(counts, { all: 2, trouble: 0, running: 1, waiting: 1, finished: 0 });
});
