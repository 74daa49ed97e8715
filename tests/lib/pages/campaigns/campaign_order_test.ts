import assert from "node:assert/strict";
import fc from "fast-check";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { hasDrifted, keptOrder, sorted } from "@/lib/pages/campaigns/campaign_filter.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";

const names = (jobs: readonly JobSummary[]) => jobs.map(({ name }) => name);
const running = (name: string) => summary({ name });
const failed = (name: string, finishedAt: string | null = "2026-11-01T00:00:00Z") =>
  summary({ name, phase: "Failed", finishedAt });
const done = (name: string, finishedAt: string | null) => summary({ name, phase: "Succeeded", finishedAt });
const queued = (name: string) => summary({ name, phase: "Queued", suspended: true });

Deno.test("campaign order: running, in trouble, finished with the newest first, not started", () => {
  const jobs = [
    queued("q"),
    done("old", "2026-11-01T00:00:00Z"),
    done("endless", null),
    done("new", "2026-11-02T00:00:00+00:00"),
    failed("f"),
    running("r"),
  ];
  assert.deepEqual(names(sorted(jobs)), ["r", "f", "new", "old", "endless", "q"]);
});

Deno.test("campaign order: endings compare as instants, not as text, and equals stay as they came", () => {
  const jobs = [done("early", "2026-11-02T01:00:00+05:00"), done("late", "2026-11-01T23:00:00Z")];
  assert.deepEqual(names(sorted(jobs)), ["late", "early"]);
  assert.deepEqual(names(sorted([running("b"), running("a"), running("c")])), ["b", "a", "c"]);
});

Deno.test("campaign order: a poll leaves a finished campaign where it was", () => {
  const before = [running("a"), running("b")];
  const after = [done("a", "2026-11-02T00:00:00Z"), running("b")];
  assert.deepEqual(names(keptOrder(before, after)), ["a", "b"]);
  assert.equal(hasDrifted(keptOrder(before, after)), true);
});

Deno.test("campaign order: a poll places a campaign that fell into trouble, and a new one", () => {
  const before = [running("a"), running("b"), done("d", "2026-11-02T00:00:00Z"), queued("q")];
  const after = [running("new"), failed("a"), running("b"), done("d", "2026-11-02T00:00:00Z"), queued("q")];
  assert.deepEqual(names(keptOrder(before, after)), ["new", "b", "a", "d", "q"]);
});

Deno.test("campaign order: a campaign that is in trouble already does not move again", () => {
  const before = [queued("q"), failed("a")];
  assert.deepEqual(names(keptOrder(before, [failed("a"), queued("q")])), ["q", "a"]);
});

Deno.test("campaign order: a poll loses and doubles nothing, and one without changes moves nothing", () => {
  const phases = ["Running", "Failed", "Succeeded", "Queued", "Paused"] as const;
  const list = fc.uniqueArray(
    fc.record({ name: fc.string({ minLength: 1, maxLength: 3 }), phase: fc.constantFrom(...phases) }),
    { selector: ({ name }) => name, maxLength: 12 },
  ).map((rows) => rows.map(summary));
  fc.assert(fc.property(list, list, (before, after) => {
    const kept = keptOrder(before, after);
    assert.deepEqual(names(kept).toSorted(), names(after).toSorted());
    assert.deepEqual(names(keptOrder(kept, after)), names(kept));
  }));
});
