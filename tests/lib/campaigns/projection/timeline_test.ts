import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_TIMELINE_ENTRIES, TimelineCounts } from "@/lib/campaigns/projection/timeline.ts";

const START = Date.parse("2025-11-20T08:00:00Z");
const MINUTE = 60_000;

Deno.test("timeline: sums at the start and at the end of each interval, until the campaign's end", () => {
  const timeline = new TimelineCounts();
  const bounds = { start: START, end: START + 150_000 };
  assert.deepEqual(timeline.entries(bounds), []);
  timeline.add({ state: "done", pages: 10, endedAt: START + 30_000 }, bounds);
  timeline.add({ state: "failed", pages: 3, endedAt: START + 130_000 }, bounds);
  timeline.add({ state: "unknown", pages: 4, endedAt: START + 140_000 }, bounds);
  assert.deepEqual(timeline.entries(bounds), [
    { at: "2025-11-20T08:00:00Z", volumesDone: 0, volumesFailed: 0, pagesDone: 0 },
    { at: "2025-11-20T08:01:00Z", volumesDone: 1, volumesFailed: 0, pagesDone: 10 },
    { at: "2025-11-20T08:02:00Z", volumesDone: 1, volumesFailed: 0, pagesDone: 10 },
    { at: "2025-11-20T08:02:30Z", volumesDone: 1, volumesFailed: 1, pagesDone: 17 },
  ]);
});

Deno.test("timeline: intervals become longer with the campaign, also while no volume ends", () => {
  const timeline = new TimelineCounts();
  timeline.add({ state: "done", pages: 1, endedAt: START + MINUTE }, { start: START, end: START + 2 * MINUTE });
  const entries = timeline.entries({ start: START, end: START + 600 * MINUTE });
  assert.ok(entries.length <= MAX_TIMELINE_ENTRIES && entries.length >= MAX_TIMELINE_ENTRIES / 2);
  assert.equal(entries[1].at, "2025-11-20T08:16:00Z");
  assert.equal(entries.at(-1)?.at, "2025-11-20T18:00:00Z");
  assert.deepEqual([entries[1].volumesDone, entries.at(-1)?.volumesDone], [1, 1]);
});

Deno.test("timeline: it ascends, stays within its bounds and ends with all that was counted", () => {
  const time = fc.integer({ min: -5 * MINUTE, max: 40_000 * MINUTE });
  const volume = fc.record({
    state: fc.constantFrom("done" as const, "failed" as const, "unknown" as const),
    pages: fc.integer({ min: -3, max: 900 }),
    endedAt: time.map((ms) => START + ms),
  });
  const added = fc.record({ volume, end: time.map((ms) => START + Math.max(0, ms)) });
  fc.assert(fc.property(fc.array(added, { minLength: 1, maxLength: 40 }), (list) => {
    const timeline = new TimelineCounts();
    let entries: ReturnType<TimelineCounts["entries"]> = [];
    for (const { volume, end } of list) {
      timeline.add(volume, { start: START, end });
      entries = timeline.entries({ start: START, end });
      assert.ok(entries.length <= MAX_TIMELINE_ENTRIES);
      assert.ok(entries.every(({ at }) => Date.parse(at) >= START && Date.parse(at) <= end));
      for (const member of ["volumesDone", "volumesFailed", "pagesDone"] as const) {
        assert.deepEqual(
          entries.map((entry) => entry[member]).toSorted((a, b) => a - b),
          entries.map((e) => e[member]),
        );
      }
      assert.deepEqual(entries.map(({ at }) => at).toSorted(), entries.map(({ at }) => at));
    }
    const count = (state: string) => list.filter(({ volume }) => volume.state === state).length;
    const last = entries.at(-1);
    assert.equal(last?.volumesDone, count("done"));
    assert.equal(last?.volumesFailed, count("failed"));
    assert.equal(last?.pagesDone, list.reduce((sum, { volume }) => sum + Math.max(0, volume.pages), 0));
  }));
});
