import assert from "node:assert/strict";
import {
  isComplete,
  orderPages,
  pageAltoUrl,
  qualityStep,
  readRunManifest,
  summarizeRun,
} from "@/lib/pages/log/run_manifest.ts";

const VIEWER = "https://archive.example/results/ns/p/v/iiif.json";
const file = {
  pages: 4,
  results: {
    "0001": { status: "ok", seconds: 5, quality: 0.95 },
    "0002": { status: "failed", seconds: 2, error: "kunde inte läsas" },
    "0003": { status: "skipped", seconds: 0, quality: 0.61 },
    "0004": { status: "ok", seconds: 9, quality: 2 },
  },
  page_sources: { "0001": "https://images.example/1.jpg", "0002": "javascript:alert(1)" },
  wall_seconds: 30,
  viewer_url: VIEWER,
  quality: { lowest: [{ page: "0003", quality: 0.61, canvas: 1 }] },
};

Deno.test("run manifest: reads each page with its canvas, which pages without text do not have", () => {
  const manifest = readRunManifest(file);
  assert.ok(manifest);
  assert.deepEqual(manifest.pages.map(({ canvas }) => canvas), [0, null, 1, 2]);
  assert.deepEqual(manifest.pages.map(({ sourceUrl }) => sourceUrl), [
    "https://images.example/1.jpg",
    null,
    null,
    null,
  ]);
  assert.deepEqual(manifest.pages.map(({ quality }) => quality), [0.95, null, 0.61, null]);
  assert.ok(isComplete(manifest));
  assert.equal(manifest.viewerUrl, VIEWER);
});

Deno.test("run manifest: pages are in the order of their names, with their canvases, in whatever order the file lists them", () => {
  const ok = { status: "ok", seconds: 1 };
  const read = (names: readonly string[]) =>
    readRunManifest({ results: Object.fromEntries(names.map((name) => [name, ok])) })?.pages
      .map(({ name, canvas }) => [name, canvas]);
  assert.deepEqual(read(["0002", "0003", "0001"]), [["0001", 0], ["0002", 1], ["0003", 2]]);
  assert.deepEqual(read(["p10", "p9", "p1"]), [["p1", 0], ["p9", 1], ["p10", 2]]);
});

Deno.test("run manifest: takes the canvas that the file names where pages were left out before it", () => {
  const quality = { lowest: [{ page: "0003", quality: 0.61, canvas: 0 }] };
  const manifest = readRunManifest({
    ...file,
    results: { "0003": file.results["0003"], "0004": file.results["0004"] },
    quality,
  });
  assert.deepEqual(manifest?.pages.map(({ canvas }) => canvas), [0, 1]);
  const later = readRunManifest({ ...file, quality: { lowest: [{ page: "0003", quality: 0.61, canvas: 7 }] } });
  assert.deepEqual(later?.pages.map(({ canvas }) => canvas), [0, null, 7, 8]);
});

Deno.test("run manifest: a malformed value loses itself, and a file without results is none", () => {
  const manifest = readRunManifest({
    results: {
      a: { status: "ok", seconds: "9", error: 7 },
      b: { status: "lost" },
      c: null,
      "\ud800": { status: "ok" },
    },
    viewer_url: "file:///etc/passwd",
    wall_seconds: -1,
  });
  assert.deepEqual(manifest?.pages.map(({ name, seconds, error }) => [name, seconds, error]), [["a", null, null]]);
  assert.deepEqual([manifest?.viewerUrl, manifest?.wallSeconds], [null, null]);
  for (const value of [null, [], "x", {}, { results: [] }, { results: null }]) {
    assert.equal(readRunManifest(value), null);
  }
});

Deno.test("run summary: counts, durations of processed pages, and the slowest", () => {
  const manifest = readRunManifest(file);
  assert.ok(manifest);
  const { slowest, ...figures } = summarizeRun(manifest);
  assert.deepEqual(figures, {
    ok: 2,
    failed: 1,
    skipped: 1,
    totalSeconds: 30,
    median: 5,
    p95: 8.6,
    max: 9,
    meanQuality: 0.78,
    minQuality: 0.61,
  });
  assert.deepEqual(slowest.map(({ name }) => name), ["0004", "0001", "0002"]);
  const empty = summarizeRun({ ...manifest, pages: [], wallSeconds: null });
  assert.deepEqual([empty.median, empty.p95, empty.max, empty.meanQuality, empty.totalSeconds], [
    null,
    null,
    null,
    null,
    0,
  ]);
});

Deno.test("run summary: pages are ordered as in the volume, slowest first, or worst first", () => {
  const pages = readRunManifest(file)?.pages ?? [];
  const names = (order: Parameters<typeof orderPages>[1]) =>
    orderPages(pages, order).map(({ name }) => name.slice(3)).join("");
  assert.equal(names("page"), "1234");
  assert.equal(names("seconds"), "4123");
  assert.equal(names("quality"), "2314");
  assert.deepEqual(pages.map(qualityStep), ["high", "lost", "low", "unscored"]);
});

Deno.test("run manifest: a page's text lies beside the viewer manifest, its name encoded", () => {
  assert.equal(pageAltoUrl(VIEWER, "a/å 1"), "https://archive.example/results/ns/p/v/alto/a%2F%C3%A5%201.xml");
  assert.equal(pageAltoUrl(null, "1"), null);
});
