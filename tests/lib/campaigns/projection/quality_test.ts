import assert from "node:assert/strict";
import { parseBucketJson } from "@/lib/campaigns/projection/bucket_json.ts";
import { readQuality } from "@/lib/campaigns/projection/quality.ts";

const block = {
  target: "t",
  model: "m",
  revision: "r",
  mean: 0.5,
  min: 0.25,
  scored: 10,
  lowest: [],
};

function read(parts: object, pages = 10) {
  return readQuality(
    parseBucketJson(JSON.stringify({ ...block, ...parts })),
    pages,
  );
}

function readText(member: string) {
  const text = JSON.stringify(block).replace('"mean":0.5', `"mean":${member}`);
  return readQuality(parseBucketJson(text), 10);
}

Deno.test("quality: a whole block is read without the unused members", () => {
  assert.deepEqual(read({}), {
    mean: 0.5,
    min: 0.25,
    scored: 10,
    model: "m",
    revision: "r",
    lowest: [],
  });
  assert.equal(read({ mean: 0, min: 1 })?.min, 1);
});

Deno.test("quality: a value that could not have been written drops the block", () => {
  const broken = [
    { mean: 1.01 },
    { mean: -0.01 },
    { mean: "0.5" },
    { mean: true },
    { mean: null },
    { min: 2 },
    { min: false },
    { scored: 0 },
    { scored: -1 },
    { scored: 11 },
    { scored: 2.5 },
    { scored: "3" },
    { scored: true },
  ];
  for (const parts of broken) {
    assert.equal(read(parts), null, JSON.stringify(parts));
  }
  for (const mean of ["NaN", "Infinity", "-Infinity"]) {
    assert.equal(readText(mean), null, mean);
  }
  for (const value of [null, [], "x", 5, undefined]) {
    assert.equal(readQuality(value, 10), null);
  }
  assert.equal(read({ scored: 20_000_000 }, 30_000_000), null);
  assert.equal(read({ scored: 1 }, -5), null);
});

Deno.test("quality: model and revision are texts of at most 300 characters, or null", () => {
  assert.equal(read({ model: 5 })?.model, null);
  assert.equal(read({ revision: undefined })?.revision, null);
  assert.equal(
    [...read({ model: "\u{1F600}".repeat(400) })?.model ?? ""].length,
    300,
  );
});

Deno.test("quality: the lowest pages are the first five valid entries", () => {
  const page = (
    name: unknown,
    quality: unknown = 0.1,
    canvas: unknown = 0,
  ) => ({ page: name, quality, canvas });
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
  assert.deepEqual(read({ lowest })?.lowest, [
    { page: "a", quality: 0.1, canvas: 0 },
    { page: "__proto__", quality: 0.1, canvas: 0 },
    { page: "d", quality: 0.2, canvas: null },
    { page: "e", quality: 0.3, canvas: null },
    { page: "f", quality: 1, canvas: null },
  ]);
  assert.equal(read({ lowest: [page("p".repeat(5000))] })?.lowest[0].page.length, 300);
  assert.deepEqual(read({ lowest: { page: "a" } })?.lowest, []);
  assert.deepEqual(read({ lowest: null })?.lowest, []);
});
