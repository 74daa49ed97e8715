import assert from "node:assert/strict";
import { liveSummary, newestFirst } from "@/lib/campaigns/projection/summary.ts";
import { job } from "./cluster_fixtures.ts";

const context = {
  resultsUrl: "https://r/results/",
  warmup: { phase: "succeeded" },
  qualityPrediction: false,
} as const;

Deno.test("live summary: a Job that says nothing yet counts nothing", () => {
  const summary = liveSummary(
    job({ spec: { completions: undefined }, status: { startTime: undefined } }),
    context,
  );
  assert.deepEqual(summary.counts, { total: 0, active: 0, done: 0, failed: 0 });
  assert.equal(summary.startedAt, null);
});

Deno.test("live summary: a Job without a creation time has none, and comes last", () => {
  const undated = liveSummary(job({ metadata: { creationTimestamp: undefined } }), context);
  assert.equal(undated.createdAt, null);
  assert.deepEqual(newestFirst([undated, liveSummary(job(), context)]).map(({ createdAt }) => createdAt), [
    "2025-11-20T08:00:00Z",
    null,
  ]);
});

Deno.test("order of a list: newest created first as text, equals as they came", () => {
  const rows = [["a", "2025-01-01"], ["b", "2025-01-03"], ["c", "2025-01-01"], [
    "d",
    null,
  ]] as const;
  const sorted = newestFirst(
    rows.map(([name, createdAt]) => ({ name, createdAt })),
  );
  assert.deepEqual(sorted.map(({ name }) => name), ["b", "a", "c", "d"]);
});
