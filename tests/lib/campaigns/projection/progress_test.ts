import assert from "node:assert/strict";
import {
  isOver,
  judgeAnswer,
  needsManifest,
  readManifest,
  readProgress,
  readQuality,
  withAge,
} from "@/lib/campaigns/projection/progress.ts";
import type { StoredProgress } from "@/lib/campaigns/projection/types.ts";
import { parseBucketJson } from "@/lib/campaigns/projection/values.ts";

const file = {
  stage: "stream",
  pages_total: 20,
  pages_done: 7,
  pages_failed: 1,
  last_page: "0007",
  last_error: { page: "0003", error: "no text" },
  errors: 2,
  viewer_published: true,
  started_at: "2025-11-20T08:00:00Z",
  updated_at: "2025-11-20T08:10:00Z",
};
const noon = Date.UTC(2025, 10, 20, 12);

function read(parts: object = {}): StoredProgress | null {
  return readProgress(parseBucketJson(JSON.stringify({ ...file, ...parts })));
}

function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

Deno.test("progress.json: its members are mapped", () => {
  assert.deepEqual(read(), {
    done: 7,
    total: 20,
    failed: 1,
    lastPage: "0007",
    stage: "stream",
    updatedAt: "2025-11-20T08:10:00Z",
    lastError: { page: "0003", error: "no text" },
    errors: 2,
    viewerPublished: true,
    quality: null,
  });
  assert.equal(read({ quality: { mean: 0.5, min: 0.5, scored: 20 } })?.quality?.scored, 20);
  assert.equal(read({ quality: { mean: 0.5, min: 0.5, scored: 21 } })?.quality, null);
});

Deno.test("progress.json: without an integer total there is no progress", () => {
  for (const pages_total of [undefined, null, "20", 20.5, true, []]) {
    assert.equal(read({ pages_total }), null);
  }
  for (const text of ['{"pages_total": 1000.0}', '{"pages_total": 1e2}', "[]", "5", "null", "{", '"x"']) {
    assert.equal(readProgress(parseBucketJson(text)), null, text);
  }
  assert.equal(read({ pages_total: -4 })?.total, -4);
});

Deno.test("progress.json: other members of a wrong type become 0 or null", () => {
  const wrong = read({
    pages_done: true,
    pages_failed: "1",
    errors: 1.5,
    last_page: 7,
    stage: {},
    updated_at: 5,
  });
  assert.deepEqual(
    [wrong?.done, wrong?.failed, wrong?.errors, wrong?.lastPage, wrong?.stage, wrong?.updatedAt],
    [0, 0, 0, null, null, null],
  );
  for (const last_error of [null, "x", [], {}, { error: 5 }]) {
    assert.equal(read({ last_error })?.lastError, null);
  }
  assert.deepEqual(read({ last_error: { page: 3, error: "x" } })?.lastError, { page: null, error: "x" });
});

Deno.test("progress.json: long texts are cut at 300 characters, never inside one", () => {
  const long = "å\u{1F600}".repeat(300);
  const cut = read({ last_page: long, stage: long, last_error: { page: long, error: long } });
  for (const text of [cut?.lastPage, cut?.stage, cut?.lastError?.page, cut?.lastError?.error]) {
    assert.equal([...text ?? ""].length, 300);
    assert.ok(text?.isWellFormed());
  }
});

Deno.test("progress.json: viewer_published is true for whatever its writer takes for true", () => {
  for (const value of [false, null, 0, "", [], {}, undefined]) {
    assert.equal(read({ viewer_published: value })?.viewerPublished, false, JSON.stringify(value));
  }
  const zero = readProgress(parseBucketJson('{"pages_total": 1, "viewer_published": 0.0}'));
  assert.equal(zero?.viewerPublished, false);
  for (const value of [true, 1, 0.5, "no", [0], { a: 1 }]) {
    assert.equal(read({ viewer_published: value })?.viewerPublished, true, JSON.stringify(value));
  }
});

Deno.test("age: whole seconds by our clock, never negative, null without a time", () => {
  const cases: [string | null, number | null][] = [
    ["2025-11-20T11:59:00Z", 60],
    ["2025-11-20T11:59:00", 60],
    ["2025-11-20T12:59:00+01:00", 60],
    ["2025-11-20T13:00:00Z", 0],
    ["2025-11-20T11:59:58.500Z", 2],
    ["2025-11-20T11:59:57.500Z", 2],
    ["yesterday", null],
    [null, null],
  ];
  for (const [updated_at, age] of cases) {
    const progress = read({ updated_at });
    assert.ok(progress);
    const aged = withAge(progress, noon);
    assert.equal(aged.ageSeconds, age, `${updated_at}`);
    assert.equal(aged.updatedAt, updated_at);
  }
});

Deno.test("manifest.json: an older run's counts", () => {
  const results = {
    "1": { status: "ok" },
    "2": { status: "skipped" },
    "3": { status: "failed" },
    "4": 7,
    "5": null,
  };
  assert.deepEqual(
    readManifest(parseBucketJson(JSON.stringify({ pages: 5, results }))),
    {
      done: 2,
      total: 5,
      failed: 1,
      lastPage: null,
      stage: "done",
      updatedAt: null,
      lastError: null,
      errors: 0,
      viewerPublished: true,
      quality: null,
    },
  );
  for (
    const broken of [{ pages: 5 }, { results }, { pages: "5", results }, { pages: 5, results: [] }, [], null]
  ) {
    assert.equal(readManifest(parseBucketJson(JSON.stringify(broken))), null, JSON.stringify(broken));
  }
});

const NOTHING = { answered: true, forbidden: false, progress: null };

Deno.test("read: what a status means", () => {
  const body = bytes(file);
  assert.equal(judgeAnswer("progress", 200, body).progress?.total, 20);
  assert.equal(judgeAnswer("manifest", 200, bytes({ pages: 3, results: {} })).progress?.total, 3);
  assert.deepEqual(judgeAnswer("progress", 403, body), { ...NOTHING, forbidden: true });
  for (const status of [204, 301, 400, 404, 410, 416]) {
    assert.deepEqual(judgeAnswer("progress", status, body), NOTHING);
  }
  for (const status of [null, 401, 408, 429, 500, 502, 503, 504, 599]) {
    assert.deepEqual(judgeAnswer("progress", status, body), { ...NOTHING, answered: false });
  }
  for (const body of [null, bytes([1])]) assert.deepEqual(judgeAnswer("progress", 200, body), NOTHING);
});

const STATES = ["pending", "active", "done", "failed", "unknown", "unfinished"] as const;

Deno.test("manifest fallback: only for a volume that is over and not failed, after a response that was not a 403", () => {
  const wanting = STATES.filter((state) => needsManifest(state, NOTHING));
  assert.deepEqual(wanting, ["done", "unknown", "unfinished"]);
  for (const answer of [{ forbidden: true }, { answered: false }, { progress: read() }]) {
    assert.equal(needsManifest("done", { ...NOTHING, ...answer }), false);
  }
});

Deno.test("over: volumes that are neither pending nor active no longer change", () => {
  assert.deepEqual(STATES.filter(isOver), ["done", "failed", "unknown", "unfinished"]);
});

const block = { target: "t", model: "m", revision: "r", mean: 0.5, min: 0.25, scored: 10, lowest: [] };

function quality(parts: object, pages = 10) {
  return readQuality(parseBucketJson(JSON.stringify({ ...block, ...parts })), pages);
}

function readText(member: string) {
  const text = JSON.stringify(block).replace('"mean":0.5', `"mean":${member}`);
  return readQuality(parseBucketJson(text), 10);
}

Deno.test("quality: a whole block is read without the unused members", () => {
  assert.deepEqual(quality({}), { mean: 0.5, min: 0.25, scored: 10, model: "m", revision: "r", lowest: [] });
  assert.equal(quality({ mean: 0, min: 1 })?.min, 1);
});

Deno.test("quality: a value that could not have been written drops the block", () => {
  const broken = { mean: [1.01, -0.01, "0.5", true, null], min: [2, false], scored: [0, -1, 11, 2.5, "3", true] };
  for (const [member, values] of Object.entries(broken)) {
    for (const value of values) assert.equal(quality({ [member]: value }), null, `${member} ${value}`);
  }
  for (const mean of ["NaN", "Infinity", "-Infinity"]) {
    assert.equal(readText(mean), null, mean);
  }
  for (const value of [null, [], "x", 5, undefined]) {
    assert.equal(readQuality(value, 10), null);
  }
  assert.equal(quality({ scored: 20_000_000 }, 30_000_000), null);
  assert.equal(quality({ scored: 1 }, -5), null);
});

Deno.test("quality: model and revision are texts of at most 300 characters, or null", () => {
  assert.equal(quality({ model: 5 })?.model, null);
  assert.equal(quality({ revision: undefined })?.revision, null);
  assert.equal([...quality({ model: "\u{1F600}".repeat(400) })?.model ?? ""].length, 300);
});

Deno.test("quality: the lowest pages are the first five valid entries", () => {
  const page = (name: unknown, quality: unknown = 0.1, canvas: unknown = 0) => ({ page: name, quality, canvas });
  const lowest = [
    page("a"),
    page("a", 0.05),
    page(5),
    page("b", 1.5),
    page("c", "0.1"),
    null,
    "x",
    page("__proto__"),
    page("d", 0.2, -1),
    page("e", 0.3, 1.5),
    page("f", 1, true),
    page("g"),
  ];
  assert.deepEqual(quality({ lowest })?.lowest, [
    { page: "a", quality: 0.1, canvas: 0 },
    { page: "__proto__", quality: 0.1, canvas: 0 },
    { page: "d", quality: 0.2, canvas: null },
    { page: "e", quality: 0.3, canvas: null },
    { page: "f", quality: 1, canvas: null },
  ]);
  assert.equal(quality({ lowest: [page("p".repeat(5000))] })?.lowest[0].page.length, 300);
  assert.deepEqual(quality({ lowest: { page: "a" } })?.lowest, []);
  assert.deepEqual(quality({ lowest: null })?.lowest, []);
});
