import fc from "fast-check";
import assert from "node:assert/strict";
import { PageAccumulator, PageTally, runFingerprint, TimelineCounts } from "@/lib/campaigns/projection/page_tally.ts";
import { type LowestPage, MAX_TIMELINE_ENTRIES, type StoredProgress } from "@/lib/campaigns/projection/types.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { counted, progress } from "./cluster_fixtures.ts";

Deno.test("tally: each volume is added once, also one without progress", () => {
  const tally = new PageTally();
  tally.add(9_999, counted("a"), progress({ done: 5 }));
  tally.add(9_999, counted("a"), progress({ done: 50 }));
  tally.add(0, counted("b"), null);
  tally.add(0, counted("b"), progress({ done: 7 }));
  assert.equal(tally.sums().sums(2).pagesDone, 5);
  assert.deepEqual(tally.sums().sums(2).pagesCoverage, { counted: 2, of: 2 });
  assert.ok(tally.has(9_999) && tally.has(0));
  assert.ok(!tally.has(1) && !tally.has(9_998) && !tally.has(123_456));
});

Deno.test("tally: what is added to its sums later stays out of it", () => {
  const tally = new PageTally();
  tally.add(1, counted("a"), progress());
  tally.sums().add(counted("b"), progress());
  assert.equal(tally.sums().sums(0).pagesCoverage.counted, 1);
});

Deno.test("tally: it holds exactly the indexes that were added", () => {
  fc.assert(fc.property(fc.array(fc.nat(300)), (indexes) => {
    const tally = new PageTally();
    for (const index of indexes) tally.add(index, counted(`${index}`), null);
    const expected = new Set(indexes);
    for (let index = 0; index <= 310; index++) {
      assert.equal(tally.has(index), expected.has(index));
    }
    assert.equal(tally.sums().sums(0).pagesCoverage.counted, expected.size);
  }));
});

Deno.test("run fingerprint: it changes with the run and with the ids, not with the sources", () => {
  const of = (text: string, startedAt: string | null = "t", name = "n") =>
    runFingerprint("ns", name, startedAt, readVolumes(text));
  assert.equal(of("a\tx\nb\n"), of("a\ty\nb\tz\n"));
  const all = [of("a\nb"), of("b\na"), of("a\nb\nc"), of("a\nb", "u"), of("a\nb", null), of("a\nb", "t", "m")];
  assert.equal(new Set(all).size, all.length);
});

function scored(mean: number, min: number, scoredPages: number, lowest: LowestPage[] = []): StoredProgress {
  return progress({ quality: { mean, min, scored: scoredPages, model: null, revision: null, lowest } });
}

function sum(...volumes: [string, StoredProgress | null][]) {
  const sums = new PageAccumulator();
  for (const [id, read] of volumes) sums.add(counted(id), read);
  return sums.sums(10);
}

Deno.test("page sums: pages and errors are added, a volume without progress is counted all the same", () => {
  assert.deepEqual(
    sum(["a", progress({ done: 3, total: 9, failed: 1, errors: 4 })], ["b", null], ["c", progress({ total: -2 })]),
    {
      pagesDone: 4,
      pagesTotal: 7,
      pagesFailed: 1,
      errors: 4,
      lastError: null,
      pagesCoverage: { counted: 3, of: 10 },
      quality: null,
    },
  );
});

Deno.test("page sums: the last error is the one updated last as text, of equals the first", () => {
  const failed = (updatedAt: string | null, error: string) => progress({ updatedAt, lastError: { page: "1", error } });
  const { lastError } = sum(
    ["none", progress({ updatedAt: "9" })],
    ["untimed", failed(null, "u")],
    ["a", failed("2025-01-02", "a")],
    ["b", failed("2025-01-02", "b")],
    ["c", failed("2025-01-01", "c")],
  );
  assert.deepEqual(lastError, {
    page: "1",
    error: "a",
    volume: "a",
    logUrl: "https://r/ns/status/logs/p/a.txt",
  });
  assert.equal(sum(["u", failed(null, "u")]).lastError?.volume, "u");
});

Deno.test("campaign quality: the mean is weighted by scored pages and rounded to four decimals", () => {
  const { quality } = sum(["a", scored(0.9, 0.4, 1)], ["b", scored(0.3, 0.2, 2)], ["c", progress()]);
  assert.deepEqual(quality, { mean: 0.5, min: 0.2, scored: 3, volumes: 2, lowest: [] });
  assert.equal(sum(["a", scored(1, 1, 1)], ["b", scored(0, 0, 2)]).quality?.mean, 0.3333);
  assert.equal(sum(["a", scored(0.03125, 0, 1)]).quality?.mean, 0.0312);
  assert.equal(
    sum(["a", scored(1, 1, 10_000_000)], ["b", scored(1, 1, 10_000_000)])
      .quality?.scored,
    20_000_000,
  );
});

Deno.test("campaign quality: the five lowest pages, each page of a volume once at its lowest", () => {
  const page = (name: string, quality: number) => ({ page: name, quality, canvas: 3 });
  const { quality } = sum(
    ["b", scored(0.5, 0.1, 9, [page("2", 0.2), page("1", 0.2), page("3", 0.6)])],
    ["a", scored(0.5, 0.1, 9, [page("9", 0.2), page("8", 0.9)])],
    ["b", scored(0.5, 0.1, 9, [page("3", 0.1), page("2", 0.3)])],
  );
  assert.deepEqual(
    quality?.lowest.map(({ volume, page, quality }) => [volume, page, quality]),
    [["b", "3", 0.1], ["a", "9", 0.2], ["b", "1", 0.2], ["b", "2", 0.2], ["a", "8", 0.9]],
  );
  assert.equal(quality?.lowest[0].iiifUrl, "https://r/ns/p/b/iiif.json");
  assert.equal(quality?.lowest[0].canvas, 3);
});

Deno.test("page sums: a copy is independent of its origin", () => {
  const sums = new PageAccumulator();
  sums.add(counted("a"), scored(0.5, 0.5, 2, [{ page: "1", quality: 0.5, canvas: null }]));
  const before = sums.sums(2);
  const copy = sums.copy();
  assert.deepEqual(copy.sums(2), before);
  copy.add(counted("b"), scored(0.1, 0.1, 2, [{ page: "1", quality: 0.1, canvas: null }]));
  assert.deepEqual(sums.sums(2), before);
  assert.equal(copy.sums(2).quality?.volumes, 2);
});

Deno.test("campaign quality: the lowest pages do not depend on the order of volumes", () => {
  const page = fc.record({
    page: fc.constantFrom("1", "2", "3"),
    quality: fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10),
    canvas: fc.constant(null),
  });
  const volume = fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.array(page, { maxLength: 5 }));
  fc.assert(
    fc.property(fc.array(volume, { minLength: 1, maxLength: 8 }), (volumes) => {
      const rows = volumes.map(([id, lowest]): [string, StoredProgress] => [id, scored(0.5, 0.1, 1, lowest)]);
      const lowest = sum(...rows).quality?.lowest;
      assert.deepEqual(lowest, sum(...rows.toReversed()).quality?.lowest);
      const best = new Map<string, number>();
      for (const [id, pages] of volumes) {
        for (const { page, quality } of pages) {
          best.set(`${id} ${page}`, Math.min(quality, best.get(`${id} ${page}`) ?? 1));
        }
      }
      assert.deepEqual(lowest?.map(({ quality }) => quality), [...best.values()].sort((a, b) => a - b).slice(0, 5));
    }),
  );
});

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
