import assert from "node:assert/strict";
import {
  endingOf,
  finishedAtOf,
  indexWarmups,
  liveSummary,
  newestFirst,
  NO_PODS_MS,
  phaseOf,
  waitingForPods,
  waitingOf,
  warmupOf,
  warmupPhase,
} from "@/lib/campaigns/projection/summary.ts";
import type { Warmup } from "@/lib/campaigns/projection/types.ts";
import { condition, job, names, pod, terminated, warmupJob } from "./cluster_fixtures.ts";

const context = {
  resultsUrl: "https://r/results/",
  warmup: { phase: "succeeded" },
  qualityPrediction: false,
} as const;

Deno.test("live summary: a Job that says nothing yet counts nothing", () => {
  const summary = liveSummary(job({ spec: { completions: undefined }, status: { startTime: undefined } }), context);
  assert.deepEqual(summary.counts, { total: 0, active: 0, done: 0, failed: 0 });
  assert.equal(summary.startedAt, null);
});

Deno.test("live summary: a Job without a creation time has none, and comes last", () => {
  const undated = liveSummary(job({ metadata: { creationTimestamp: undefined } }), context);
  assert.equal(undated.createdAt, null);
  assert.deepEqual(newestFirst([undated, liveSummary(job(), context)]).map(({ createdAt }) => createdAt), [
    "2025-11-20T08:00:00Z",
    null,
  ]);
});

Deno.test("order of a list: newest created first as text, equals as they came", () => {
  const rows = [["a", "2025-01-01"], ["b", "2025-01-03"], ["c", "2025-01-01"], ["d", null]] as const;
  const sorted = newestFirst(rows.map(([name, createdAt]) => ({ name, createdAt })));
  assert.deepEqual(sorted.map(({ name }) => name), ["b", "a", "c", "d"]);
});

const complete = condition("Complete", "2025-11-20T10:00:00Z");
const failed = condition("Failed", "2025-11-20T11:00:00Z");

Deno.test("phase: it follows conditions, suspension and completed indexes in that order", () => {
  const cases: [string, object, object][] = [
    ["Running", {}, {}],
    ["Queued", { suspend: true }, {}],
    ["Paused", { suspend: true }, { completedIndexes: "0" }],
    ["Succeeded", {}, { conditions: [complete] }],
    ["Succeeded", {}, { conditions: [failed, complete], completedIndexes: "0" }],
    ["Failed", {}, { conditions: [failed] }],
    ["PartiallyFailed", {}, { conditions: [failed], completedIndexes: "0" }],
    ["Failed", { suspend: true }, { conditions: [failed] }],
    ["Running", {}, {
      conditions: [{ ...complete, status: "False" }, { ...failed, status: "Unknown" }],
    }],
  ];
  for (const [phase, spec, status] of cases) {
    assert.equal(phaseOf(job({ spec, status })), phase, JSON.stringify({ spec, status }));
  }
});

Deno.test("finishedAt: the completion time, else the first ending among the conditions", () => {
  assert.equal(finishedAtOf(job()), null);
  assert.equal(finishedAtOf(job({ status: { conditions: [complete], completionTime: "c" } })), "c");
  assert.equal(finishedAtOf(job({ status: { conditions: [failed, complete] } })), failed.lastTransitionTime);
  assert.equal(
    finishedAtOf(job({ status: { conditions: [{ ...failed, status: "False" }, complete] } })),
    complete.lastTransitionTime,
  );
});

Deno.test("ending: why a Job ended or is being ended early, of the conditions that hold", () => {
  const because = (type: string, reason: string, message = "", status = "True") => ({
    ...condition(type, "2025-11-20T10:00:00Z", status),
    reason,
    message,
  });
  const cases: [object[], object | null][] = [
    [[], null],
    [[because("Failed", "DeadlineExceeded", "m")], { reason: "DeadlineExceeded", message: "m" }],
    [[because("FailureTarget", "A"), because("Failed", "B")], { reason: "B", message: null }],
    [[because("FailureTarget", "PodFailurePolicy")], { reason: "PodFailurePolicy", message: null }],
    [[because("Failed", "A", "", "False")], null],
    [[because("Failed", "")], { reason: "Failed", message: null }],
    [[because("Complete", "SuccessPolicy")], { reason: "SuccessPolicy", message: null }],
    [[because("SuccessCriteriaMet", "SuccessPolicy")], { reason: "SuccessPolicy", message: null }],
    [[because("SuccessCriteriaMet", "CompletionsReached"), because("Complete", "CompletionsReached")], null],
    [[because("Failed", "A"), because("Complete", "")], null],
    [[because("Failed", "R".repeat(5000), "m".repeat(5000))], { reason: "R".repeat(100), message: "m".repeat(300) }],
  ];
  for (const [conditions, ending] of cases) {
    assert.deepEqual(endingOf(job({ status: { conditions } })), ending, JSON.stringify(conditions).slice(0, 200));
  }
});

Deno.test("warm-up: matched by namespace and pipeline, the first of several, never without a pipeline", () => {
  const first = warmupJob({ metadata: { name: "first" } });
  const index = indexWarmups([
    warmupJob({ metadata: { name: "nameless" }, labels: { [names.pipeline]: "" } }),
    job({ metadata: { name: "a-campaign" } }),
    first,
    warmupJob({ metadata: { name: "second" } }),
  ]);
  assert.equal(index.find("batch-default", "lion-v2"), first);
  assert.equal(index.find("other", "lion-v2"), null);
  assert.equal(index.find("batch-default", ""), null);
  assert.equal(index.find("batch-default", "__proto__"), null);
});

Deno.test("warm-up: its phase follows the Job", () => {
  const complete = condition("Complete", "t");
  const failed = condition("Failed", "t");
  const cases: [string, object][] = [
    ["pending", {}],
    ["running", { active: 1 }],
    ["succeeded", { conditions: [failed, complete], active: 1 }],
    ["failed", { conditions: [failed], active: 1 }],
    ["pending", { conditions: [{ ...failed, status: "False" }] }],
  ];
  for (const [phase, status] of cases) {
    assert.equal(warmupPhase(warmupJob({ status })), phase, JSON.stringify(status));
  }
  assert.equal(warmupPhase(null), "missing");
});

Deno.test("warm-up: only a failed one has a reason, and only when its newest pod has one", () => {
  const failing = warmupJob({ status: { conditions: [condition("Failed", "t")] } });
  const told = pod(null, { containerStatuses: [terminated("warmup", { exitCode: 13, message: "no space" })] });
  const silent = pod(null, {}, { creationTimestamp: "2025-11-20T09:00:00Z" });
  const reason = { stage: null, permanent: null, error: "no space" };
  assert.deepEqual(warmupOf(failing, [told]), { phase: "failed", reason });
  assert.deepEqual(warmupOf(failing, [told, silent]), { phase: "failed" });
  assert.deepEqual(warmupOf(failing), { phase: "failed" });
  assert.deepEqual(warmupOf(warmupJob(), [told]), { phase: "pending" });
});

Deno.test("warm-up: a running one says why its newest pod cannot start", () => {
  const waiting = (name: string) => ({
    phase: "Pending",
    [name === "warmup" ? "containerStatuses" : "initContainerStatuses"]: [
      { name, state: { waiting: { reason: "ErrImagePull", message: null } } },
    ],
  });
  const containerWaiting = { reason: "ErrImagePull", message: null };
  const running = warmupJob({ status: { active: 1 } });
  for (const name of ["warmup", "fetch-models"]) {
    assert.deepEqual(warmupOf(running, [pod(null, waiting(name))]), { phase: "running", containerWaiting });
  }
  const started = pod(null, { phase: "Running" }, { creationTimestamp: "2025-11-20T09:00:00Z" });
  assert.deepEqual(warmupOf(running, [pod(null, waiting("warmup")), started]), { phase: "running" });
  assert.deepEqual(warmupOf(warmupJob(), [pod(null, waiting("warmup"))]), { phase: "pending" });
});

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
