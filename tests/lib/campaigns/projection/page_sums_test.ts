import assert from "node:assert/strict";
import fc from "fast-check";
import { PageAccumulator } from "@/lib/campaigns/projection/page_sums.ts";
import type { LowestPage, StoredProgress } from "@/lib/campaigns/projection/types.ts";
import { counted, progress } from "./progress_fixtures.ts";

function scored(
  mean: number,
  min: number,
  scoredPages: number,
  lowest: LowestPage[] = [],
): StoredProgress {
  return progress({
    quality: {
      mean,
      min,
      scored: scoredPages,
      model: null,
      revision: null,
      lowest,
    },
  });
}

function sum(...volumes: [string, StoredProgress | null][]) {
  const sums = new PageAccumulator();
  for (const [id, read] of volumes) sums.add(counted(id), read);
  return sums.sums(10);
}

Deno.test("page sums: pages and errors are added, a volume without progress is counted all the same", () => {
  assert.deepEqual(
    sum(["a", progress({ done: 3, total: 9, failed: 1, errors: 4 })], [
      "b",
      null,
    ], ["c", progress({ total: -2 })]),
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
  const { quality } = sum(["a", scored(0.9, 0.4, 1)], [
    "b",
    scored(0.3, 0.2, 2),
  ], ["c", progress()]);
  assert.deepEqual(quality, {
    mean: 0.5,
    min: 0.2,
    scored: 3,
    volumes: 2,
    lowest: [],
  });
  assert.equal(
    sum(["a", scored(1, 1, 1)], ["b", scored(0, 0, 2)]).quality?.mean,
    0.3333,
  );
  assert.equal(sum(["a", scored(0.03125, 0, 1)]).quality?.mean, 0.0312);
  assert.equal(
    sum(["a", scored(1, 1, 10_000_000)], ["b", scored(1, 1, 10_000_000)])
      .quality?.scored,
    20_000_000,
  );
});

Deno.test("campaign quality: the five lowest pages, each page of a volume once at its lowest", () => {
  const page = (name: string, quality: number) => ({
    page: name,
    quality,
    canvas: 3,
  });
  const { quality } = sum(
    [
      "b",
      scored(0.5, 0.1, 9, [page("2", 0.2), page("1", 0.2), page("3", 0.6)]),
    ],
    ["a", scored(0.5, 0.1, 9, [page("9", 0.2), page("8", 0.9)])],
    ["b", scored(0.5, 0.1, 9, [page("3", 0.1), page("2", 0.3)])],
  );
  assert.deepEqual(
    quality?.lowest.map(({ volume, page, quality }) => [volume, page, quality]),
    [
      ["b", "3", 0.1],
      ["a", "9", 0.2],
      ["b", "1", 0.2],
      ["b", "2", 0.2],
      ["a", "8", 0.9],
    ],
  );
  assert.equal(quality?.lowest[0].iiifUrl, "https://r/ns/p/b/iiif.json");
  assert.equal(quality?.lowest[0].canvas, 3);
});

Deno.test("page sums: a copy is independent of its origin", () => {
  const sums = new PageAccumulator();
  sums.add(
    counted("a"),
    scored(0.5, 0.5, 2, [{ page: "1", quality: 0.5, canvas: null }]),
  );
  const before = sums.sums(2);
  const copy = sums.copy();
  assert.deepEqual(copy.sums(2), before);
  copy.add(
    counted("b"),
    scored(0.1, 0.1, 2, [{ page: "1", quality: 0.1, canvas: null }]),
  );
  assert.deepEqual(sums.sums(2), before);
  assert.equal(copy.sums(2).quality?.volumes, 2);
});

Deno.test("campaign quality: the lowest pages do not depend on the order of volumes", () => {
  const page = fc.record({
    page: fc.constantFrom("1", "2", "3"),
    quality: fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10),
    canvas: fc.constant(null),
  });
  const volume = fc.tuple(
    fc.constantFrom("a", "b", "c", "d"),
    fc.array(page, { maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(volume, { minLength: 1, maxLength: 8 }), (volumes) => {
      const rows = volumes.map((
        [id, lowest],
      ): [string, StoredProgress] => [id, scored(0.5, 0.1, 1, lowest)]);
      const lowest = sum(...rows).quality?.lowest;
      assert.deepEqual(lowest, sum(...rows.toReversed()).quality?.lowest);
      const best = new Map<string, number>();
      for (const [id, pages] of volumes) {
        for (const { page, quality } of pages) {
          best.set(
            `${id} ${page}`,
            Math.min(quality, best.get(`${id} ${page}`) ?? 1),
          );
        }
      }
      assert.deepEqual(
        lowest?.map(({ quality }) => quality),
        [...best.values()].sort((a, b) => a - b).slice(0, 5),
      );
    }),
  );
});
