import assert from "node:assert/strict";
import { liveSummary } from "@/lib/campaigns/projection/summary.ts";
import type { Warmup } from "@/lib/campaigns/projection/types.ts";
import { NO_PODS_MS, waitingForPods, waitingOf } from "@/lib/campaigns/projection/waiting.ts";
import { condition, job, pod } from "./cluster_fixtures.ts";

const SUSPENDED = condition("Suspended", "2025-11-20T09:00:00Z");
const READY: Warmup = { phase: "succeeded" };
const queueLabel = { "kueue.x-k8s.io/queue-name": "campaigns" };
const STARTED = Date.parse("2025-11-20T08:01:00Z");

const suspended = (conditions: object[], labels = {}) =>
  waitingOf(job({ labels, spec: { suspend: true }, status: { conditions } }), READY);

Deno.test("waiting: a suspended campaign is held by hand, or by the queue that its Job names", () => {
  const expected = { reason: "SuspendedReason", message: null, since: "2025-11-20T09:00:00Z" };
  assert.deepEqual(suspended([SUSPENDED]), { code: "suspended", ...expected });
  assert.deepEqual(suspended([SUSPENDED], queueLabel), { code: "queue", ...expected });
});

Deno.test("waiting: conditions of a queue say more than the suspension", () => {
  const quota = { ...condition("QuotaReserved", "t", "False"), message: "insufficient quota for gpu" };
  const admission = condition("Admitted", "u", "False");
  assert.deepEqual(suspended([SUSPENDED, admission, quota], queueLabel), {
    code: "quota",
    reason: "QuotaReservedReason",
    message: "insufficient quota for gpu",
    since: "t",
  });
  assert.equal(suspended([SUSPENDED, admission], queueLabel)?.code, "queue");
  const admitted = [SUSPENDED, { ...admission, status: "True" }, { ...quota, status: "True" }];
  assert.equal(suspended(admitted)?.code, "suspended");
});

Deno.test("waiting: a campaign that has ended waits for nothing, nor does one whose Job says nothing", () => {
  assert.equal(suspended([]), null);
  assert.equal(suspended([SUSPENDED, condition("Failed", "t")]), null);
  assert.equal(waitingOf(job({ status: { conditions: [SUSPENDED] } }), READY), null);
  const ended = job({ status: { conditions: [condition("Complete", "t")] } });
  assert.equal(waitingOf(ended, { phase: "failed" }), null);
});

Deno.test("waiting: without an ended volume a campaign waits for a warm-up that has not succeeded", () => {
  const reason = { stage: null, permanent: null, error: "no space" };
  const since = "2025-11-20T08:01:00Z";
  assert.deepEqual(waitingOf(job(), { phase: "running" }), {
    code: "warmup",
    reason: "WarmupRunning",
    message: null,
    since,
  });
  assert.equal(waitingOf(job(), { phase: "pending" })?.reason, "WarmupPending");
  assert.deepEqual(waitingOf(job(), { phase: "failed", reason }), {
    code: "warmup",
    reason: "WarmupFailed",
    message: "no space",
    since,
  });
  assert.equal(waitingOf(job(), { phase: "missing" }), null);
  assert.equal(waitingOf(job({ status: { completedIndexes: "0" } }), { phase: "running" }), null);
  assert.equal(waitingOf(job({ status: { failedIndexes: "0" } }), { phase: "failed" }), null);
});

const summary = (status = {}, warmup = READY) =>
  liveSummary(job({ status }), { resultsUrl: "https://r", warmup, qualityPrediction: false });
const unscheduled = (index: string, since: string, reason = "Unschedulable") =>
  pod(index, {
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", reason, message: "0/3 nodes", lastTransitionTime: since }],
  });

Deno.test("waiting: pods that no node takes explain it, the earliest one since when", () => {
  const pods = [unscheduled("0", "2025-11-20T08:03:00Z"), unscheduled("1", "2025-11-20T08:02:00Z")];
  assert.deepEqual(waitingForPods(summary(), pods, STARTED), {
    code: "unschedulable",
    reason: "Unschedulable",
    message: "0/3 nodes",
    since: "2025-11-20T08:02:00Z",
  });
  assert.equal(waitingForPods(summary(), [unscheduled("0", "t", "SchedulingGated")], STARTED)?.code, "queue");
});

Deno.test("waiting: a scheduled pod works, a failed one does not", () => {
  const waiting = unscheduled("0", "t");
  const scheduled = pod("1", { conditions: [{ type: "PodScheduled", status: "True" }] });
  assert.equal(waitingForPods(summary(), [waiting, scheduled], STARTED), null);
  assert.equal(waitingForPods(summary(), [waiting, pod("1", { phase: "Failed" })], STARTED)?.code, "unschedulable");
  const beforeWarmup = summary({}, { phase: "running" });
  assert.equal(waitingForPods(beforeWarmup, [scheduled], STARTED)?.code, "warmup");
});

Deno.test("waiting: a running campaign without a pod says so a minute after its start", () => {
  const at = (ms: number, status = {}) => waitingForPods(summary(status), [], STARTED + ms);
  assert.equal(at(NO_PODS_MS - 1), null);
  assert.deepEqual(at(NO_PODS_MS), {
    code: "no-pods",
    reason: "NoPods",
    message: null,
    since: "2025-11-20T08:01:00Z",
  });
  assert.equal(at(NO_PODS_MS, { active: 1 }), null);
  assert.equal(at(NO_PODS_MS, { completedIndexes: "0-3" }), null);
  assert.equal(at(NO_PODS_MS, { conditions: [condition("Complete", "t")] }), null);
});
