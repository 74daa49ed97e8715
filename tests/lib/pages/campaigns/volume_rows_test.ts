import assert from "node:assert/strict";
import fc from "fast-check";

import type { VolumeState, VolumeView } from "@/lib/campaigns/projection/types.ts";
import {
  inReadingOrder,
  rowsAgree,
  segmentCounts,
  segmentOf,
  VOLUME_SEGMENTS,
  volumeHasWords,
  withNamedRows,
} from "@/lib/pages/campaigns/volume_filter.ts";
import { detail, summary, volume } from "@/tests/site/fake_campaigns.ts";

const STATES: readonly VolumeState[] = ["pending", "active", "done", "failed", "unknown"];

function row(index: number, state: VolumeState, lost = 0, change: Partial<VolumeView> = {}): VolumeView {
  const base = volume({ index, id: `v-${index}`, state, ...change });
  return { ...base, progress: base.progress && { ...base.progress, failed: lost } };
}

const counted = (counts: ReturnType<typeof segmentCounts>) =>
  Object.fromEntries(counts.map(({ segment, count, mark }) => [segment, `${mark}${count}`]));

Deno.test("volume segments: each row is in exactly one, and they add up to all", () => {
  const states = fc.array(fc.tuple(fc.constantFrom(...STATES), fc.nat(2)), { maxLength: 60 });
  fc.assert(fc.property(states, (states) => {
    const rows = states.map(([state, lost], index) => row(index, state, lost));
    const counts = segmentCounts(summary({ name: "a" }), rows, { isAllLoaded: true });
    const of = (name: string) => counts.find(({ segment }) => segment === name)?.count ?? 0;
    const rest = VOLUME_SEGMENTS.filter((name) => name !== "all");
    assert.equal(of("all"), rows.length);
    assert.equal(rest.reduce((sum, name) => sum + of(name), 0), rows.length);
    for (const name of rest) assert.equal(of(name), rows.filter((row) => segmentOf(row) === name).length, name);
  }));
});

Deno.test("volume segments: before all rows are read they add up to the Job's volumes, and say what may change", () => {
  const job = summary({ name: "a", counts: { total: 1000, active: 3, done: 400, failed: 2 } });
  const rows = [row(0, "done"), row(1, "done", 2), row(2, "active")];
  assert.deepEqual(counted(segmentCounts(job, rows, { isAllLoaded: false })), {
    all: "1000",
    failed: "2",
    active: "3",
    lost: "≥ 1",
    done: "≤ 399",
    waiting: "595",
  });
  const gone = segmentCounts({ ...job, jobGone: true }, [], { isAllLoaded: false });
  assert.equal(counted(gone).unknown, "595", "no volume of a Job that is gone waits");
  const ended = segmentCounts({ ...job, phase: "PartiallyFailed" }, [], { isAllLoaded: false });
  assert.deepEqual([counted(ended).waiting, counted(ended).unfinished], [undefined, "595"]);
  const last = row(3, "pending", 0, { final: true });
  assert.deepEqual([segmentOf(last), volumeHasWords(last, "did not finish")], ["unfinished", true]);
});

Deno.test("volume rows: agree with the campaign's counts while each state has as many", () => {
  const counts = { total: 4, active: 1, done: 2, failed: 0 };
  const rows = [row(0, "active"), row(1, "done"), row(2, "done", 3), row(3, "pending")];
  assert.equal(rowsAgree(summary({ name: "a", counts }), rows), true);
  for (const change of [{ failed: 1 }, { active: 0 }, { done: 3 }]) {
    assert.equal(rowsAgree(summary({ name: "a", counts: { ...counts, ...change } }), rows), false);
  }
});

Deno.test("volume segments: of a record that counts more failures than it names, no volume counts as done", () => {
  const counts = { total: 10_000, active: 0, done: 9_900, failed: 100 };
  const job = summary({ name: "a", phase: "PartiallyFailed", jobGone: true, counts });
  const rows = [row(0, "failed"), row(1, "unknown")];
  assert.deepEqual(counted(segmentCounts(job, rows, { isAllLoaded: false })), {
    all: "10000",
    failed: "100",
    active: "0",
    lost: "0",
    done: "0",
    waiting: "0",
    unknown: "9900",
  });
  assert.equal(counted(segmentCounts(job, [row(0, "done")], { isAllLoaded: false })).done, "≤ 9900");
});

Deno.test("volume order: failed, stalled, active, with lost pages, done, waiting, each by number", () => {
  const rows = [
    row(0, "pending"),
    row(1, "done"),
    row(2, "done", 1),
    row(3, "active"),
    row(4, "active", 0, { stalledSince: "2026-11-21T11:00:00Z" }),
    row(6, "failed"),
    row(5, "failed"),
  ];
  assert.deepEqual(inReadingOrder(rows).map(({ index }) => index), [5, 6, 4, 3, 2, 1, 0]);
});

Deno.test("volume rows: failed and newest active ones are there before their page is loaded, once", () => {
  const job = summary({ name: "a", counts: { total: 9, active: 1, done: 6, failed: 2 } });
  const failures = [row(8, "failed"), row(1, "failed")];
  const loaded = [row(0, "done"), row(1, "failed"), row(2, "done")];
  const rows = withNamedRows(loaded, detail(job, loaded, { failures, latest: row(7, "active") }));
  assert.deepEqual(rows.map(({ index }) => index), [0, 1, 2, 8, 7]);
  assert.equal(withNamedRows(loaded, detail(job, loaded, { failures: [row(1, "failed")] })), loaded);
});

Deno.test("volume search: every word, in name, state or sentence, without case, in either way to write å", () => {
  const failed = volume({
    index: 0,
    id: "SE-GÖTEBORG-1",
    state: "failed",
    reason: { stage: null, permanent: null, error: "OOMKilled (exit code 137)" },
  });
  assert.equal(volumeHasWords(failed, "göteborg FAILED memory"), true);
  assert.equal(volumeHasWords(failed, "go\u0308teborg"), true);
  assert.equal(volumeHasWords(failed, "göteborg done"), false);
  assert.equal(volumeHasWords(failed, "  "), true);
});
