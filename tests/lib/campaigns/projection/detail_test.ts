import assert from "node:assert/strict";
import { composeDetail, detailJson, layoutLive, wantedProgress } from "@/lib/campaigns/projection/detail.ts";
import { PaceMeter } from "@/lib/campaigns/projection/pace.ts";
import { PageTally } from "@/lib/campaigns/projection/page_tally.ts";
import { judgeAnswer } from "@/lib/campaigns/projection/progress.ts";
import { NO_PIPELINE, type ProgressAnswer, type StoredProgress } from "@/lib/campaigns/projection/types.ts";
import { NO_VOLUMES, readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { condition, job, pod, progress, terminated } from "./cluster_fixtures.ts";

const context = { resultsUrl: "https://r", warmup: { phase: "succeeded" } } as const;
const pipeline = { steps: ["Segmentation", "QualityPrediction"], models: [], yaml: "steps: []", scoresQuality: true };
const now = Date.UTC(2025, 10, 20, 12);
const first = { offset: 0, limit: 200 };

function lines(count: number) {
  return readVolumes(Array.from({ length: count }, (_, index) => `v${index}\thttps://x/${index}\n`).join(""));
}

function live(count: number, status: object, active: number[] = []) {
  const pods = active.map((index) => pod(`${index}`));
  return layoutLive(job({ spec: { completions: count }, status }), lines(count), pods, pipeline, context);
}

function read(parts: Partial<StoredProgress> = {}): ProgressAnswer {
  return { answered: true, forbidden: false, progress: progress(parts) };
}

Deno.test("detail: volumes that an ended Job did not finish are read last, and their pages stay in the sums", () => {
  const conditions = [condition("Failed", "2025-11-20T10:00:00Z")];
  const campaign = live(4, { completedIndexes: "0", failedIndexes: "1", conditions }, []);
  const page = { offset: 0, limit: 10 };
  assert.deepEqual(wantedProgress(campaign, page), [0, 1, 2, 3]);
  const answers = new Map([[0, read({ done: 5 })], [2, read({ done: 7 })], [3, judgeAnswer("progress", 404, null)]]);
  const detail = composeDetail(campaign, page, answers, now);
  assert.deepEqual(detail.volumes.map(({ state }) => state), ["done", "failed", "pending", "pending"]);
  assert.equal(detail.volumes[2].progress?.done, 7);
  assert.deepEqual([detail.pagesDone, detail.pagesCoverage], [12, { counted: 3, of: 4 }]);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(detailJson(campaign, page, answers, now))), detail);
});

Deno.test("detail: while a Job is being ended it waits for nothing, has no pace, and says why it ends", () => {
  const conditions = [condition("FailureTarget", "2025-11-20T10:00:00Z")];
  const detail = composeDetail(live(4, { conditions }, []), { offset: 0, limit: 10 }, new Map(), now);
  assert.deepEqual([detail.phase, detail.waiting, detail.pace], ["Running", null, null]);
  assert.equal(detail.ending?.reason, "FailureTargetReason");
});

Deno.test("detail: failures are the newest fifty, with a reason only where a pod has one", () => {
  const status = { failedIndexes: "0-59" };
  const told = pod("59", { containerStatuses: [terminated("wrapper", { exitCode: 13, message: "boom" })] });
  const campaign = layoutLive(job({ spec: { completions: 60 }, status }), lines(60), [told], NO_PIPELINE, context);
  const { failures } = composeDetail(campaign, { offset: 0, limit: 1 }, new Map(), now);
  assert.equal(failures.length, 50);
  assert.deepEqual([failures[0].index, failures[49].index], [59, 10]);
  assert.equal(failures[0].reason?.error, "boom");
  assert.ok(!("reason" in failures[1]));
});

Deno.test("detail: latest is the newest active volume, else the newest done one, else null", () => {
  const latest = (status: object, active: number[] = []) =>
    composeDetail(live(6, status, active), first, new Map(), now).latest
      ?.index ?? null;
  assert.equal(latest({ completedIndexes: "0-4" }, [1, 5]), 5);
  assert.equal(latest({ completedIndexes: "0-2", failedIndexes: "5" }), 2);
  assert.equal(latest({ failedIndexes: "5" }), null);
  assert.equal(latest({}), null);
});

Deno.test("detail: a missing volumes.txt has no rows, counts stay the Job's", () => {
  const campaign = layoutLive(job({ status: { completedIndexes: "0-3" } }), NO_VOLUMES, [], NO_PIPELINE, context);
  const detail = composeDetail(campaign, first, new Map(), now);
  assert.deepEqual(detail.volumes, []);
  assert.equal(detail.latest, null);
  assert.equal(detail.counts.done, 4);
  assert.equal(detail.qualityPrediction, false);
  assert.deepEqual(detail.pagesCoverage, { counted: 0, of: 0 });
});

Deno.test("wanted progress: running first, then what is always shown, then the page, then the rest", () => {
  const campaign = live(12, { completedIndexes: "0-5", failedIndexes: "8" }, [7, 9, 10]);
  const wanted = wantedProgress(campaign, { offset: 2, limit: 6 });
  assert.deepEqual(wanted, [10, 7, 9, 8, 2, 3, 4, 5, 0, 1]);
});

Deno.test("last error: of equal times failures and latest win, then the page, then the rest, running ones last", () => {
  const campaign = live(8, { completedIndexes: "0-3", failedIndexes: "6" }, [7]);
  const failing = (error: string) => read({ updatedAt: "t", lastError: { page: null, error } });
  const page = { offset: 2, limit: 1 };
  const order = [6, 2, 0, 1, 3, 7];
  for (let skipped = 0; skipped < order.length; skipped++) {
    const answers = new Map(order.slice(skipped).toSorted().map((index) => [index, failing(`${index}`)] as const));
    assert.equal(composeDetail(campaign, page, answers, now).lastError?.volume, `v${order[skipped]}`);
  }
});

Deno.test("detail: a running campaign has a pace from two reads, any other has none", () => {
  const memory = { tally: new PageTally(), pace: new PaceMeter() };
  const campaign = live(3, { completedIndexes: "0" }, [1]);
  const at = (done: number, ms: number, of = campaign) =>
    composeDetail(of, first, new Map([[1, read({ done, total: 100, failed: 0 })]]), now + ms, memory).pace;
  assert.deepEqual(at(10, 0), { pagesPerMinute: null, endsAt: null, window: 0 });
  // 70 pages of the running volume, and 100 of the one that has not started.
  assert.deepEqual(at(30, 60_000), { pagesPerMinute: 20, endsAt: "2025-11-20T12:09:30Z", window: 60 });
  const failed = { completedIndexes: "0", conditions: [{ type: "Failed", status: "True" }] };
  assert.equal(at(40, 120_000, live(3, failed)), null);
});

Deno.test("detail: its timeline counts ended volumes by their last progress, or by the end of their pod", () => {
  const status = { completedIndexes: "0,2", failedIndexes: "1", startTime: "2025-11-20T11:00:00Z" };
  const stopped = pod("1", {
    phase: "Failed",
    containerStatuses: [terminated("wrapper", { exitCode: 1, finishedAt: "2025-11-20T11:01:30Z" })],
  });
  const layout = layoutLive(job({ status }), lines(4), [stopped], pipeline, context);
  const ended = read({ done: 8, updatedAt: "2025-11-20T11:00:30Z" });
  const unknown = { answered: true, forbidden: false, progress: null };
  const answers = new Map([[0, ended], [1, unknown], [2, unknown]]);
  const { timeline } = composeDetail(layout, first, answers, Date.parse("2025-11-20T11:02:00Z"));
  assert.deepEqual(timeline, [
    { at: "2025-11-20T11:00:00Z", volumesDone: 0, volumesFailed: 0, pagesDone: 0 },
    { at: "2025-11-20T11:01:00Z", volumesDone: 1, volumesFailed: 0, pagesDone: 8 },
    { at: "2025-11-20T11:02:00Z", volumesDone: 1, volumesFailed: 1, pagesDone: 8 },
  ]);
  assert.deepEqual(composeDetail(live(2, { startTime: null }), first, new Map(), now).timeline, []);
});
