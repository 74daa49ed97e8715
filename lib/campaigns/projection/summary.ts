import { compareText } from "@/lib/std/text.ts";
import { clip } from "@/lib/std/untrusted.ts";
import {
  type BatchJob,
  type BatchPod,
  type Condition,
  ENDINGS,
  isEnding,
  isFinal,
  isTrue,
  keyOf,
} from "./cluster_objects.ts";
import type { JobEnding, JobSummary, Phase, Waiting, WaitingCode, Warmup, WarmupPhase } from "./types.ts";
import { resultsBaseOf } from "./urls.ts";
import { instantOf } from "./values.ts";
import { containerWaitingOf, newestPod, reasonOf, WARMUP_CONTAINER } from "./volume_states.ts";

/** The part of a summary that other objects than the campaign's decide. */
export interface SummaryContext {
  /** The results URL that browsers use. */
  readonly resultsUrl: string;
  readonly warmup: Warmup;
  /** Whether the campaign's pipeline predicts quality. */
  readonly qualityPrediction: boolean;
}

/** The summary of a campaign whose Job exists (spec, JobSummary). */
export function liveSummary(job: BatchJob, context: SummaryContext): JobSummary {
  return {
    namespace: job.namespace,
    name: job.name,
    campaign: job.campaign,
    pipeline: job.pipeline,
    phase: phaseOf(job),
    counts: { total: job.completions ?? 0, active: job.active, done: job.completed.size, failed: job.failed.size },
    suspended: job.suspended,
    createdAt: job.createdAt || null,
    startedAt: job.startedAt,
    finishedAt: finishedAtOf(job),
    resultsBase: resultsBaseOf(context.resultsUrl, job.namespace, job.pipeline),
    warmup: context.warmup,
    jobGone: false,
    qualityPrediction: context.qualityPrediction,
    waiting: waitingOf(job, context.warmup),
    ending: endingOf(job),
  };
}

/** The rows of a list in the order of the response: newest created first, equals as they came (live rows go in first). */
export function newestFirst<Row extends { readonly createdAt: string | null }>(rows: Iterable<Row>): Row[] {
  return [...rows].sort((a, b) => compareText(b.createdAt ?? "", a.createdAt ?? ""));
}

/**
 * The phase of a campaign whose Job exists (spec, Campaign phase). A Job that is both complete and failed has
 * succeeded.
 */
export function phaseOf(job: BatchJob): Phase {
  if (isTrue(job, "Complete")) return "Succeeded";
  if (isTrue(job, "Failed")) return job.completed.size > 0 ? "PartiallyFailed" : "Failed";
  if (job.suspended) return job.completed.size > 0 ? "Paused" : "Queued";
  return "Running";
}

/** When a Job ended, RFC 3339: its completion time, else the time of the first ending among its conditions. */
export function finishedAtOf(job: BatchJob): string | null {
  return job.completedAt ?? job.conditions.find(isEnding)?.since ?? null;
}

/**
 * Why a Job ended, or is being ended while its pods terminate, before all of its volumes were done; null for any other.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/#termination-of-job-pods
 */
export function endingOf(job: BatchJob): JobEnding | null {
  const type = ENDINGS.find((type) => isTrue(job, type));
  const cause = job.conditions.find((condition) => condition.type === type && condition.status === "True");
  if (!cause) return null;
  const isSuccess = type === "Complete" || type === "SuccessCriteriaMet";
  if (isSuccess && cause.reason !== "SuccessPolicy") return null;
  return { reason: clip(cause.reason || cause.type, MAX_REASON), message: cause.message || null };
}

/** Characters of the reason of a condition. */
const MAX_REASON = 100;

/** Finds the warm-up Job of a campaign. */
export type WarmupIndex = ReturnType<typeof indexWarmups>;

/**
 * Indexes warm-up Jobs by namespace and pipeline, so that a list of campaigns looks each up once. It finds the first one;
 * none for a campaign without a pipeline.
 */
export function indexWarmups(jobs: Iterable<BatchJob>) {
  const byPipeline = new Map<string, BatchJob>();
  for (const job of jobs) {
    const key = keyOf(job.namespace, job.pipeline);
    if (job.kind === "warmup" && job.pipeline && !byPipeline.has(key)) byPipeline.set(key, job);
  }
  return {
    find: (namespace: string, pipeline: string): BatchJob | null =>
      (pipeline && byPipeline.get(keyOf(namespace, pipeline))) || null,
  };
}

/** The phase of a warm-up (spec, JobSummary); null stands for no Job. */
export function warmupPhase(job: BatchJob | null): WarmupPhase {
  if (!job) return "missing";
  if (isTrue(job, "Complete")) return "succeeded";
  if (isTrue(job, "Failed")) return "failed";
  return job.active > 0 ? "running" : "pending";
}

/** Whether the pods of a warm-up say more about it than its Job. */
export function needsPods(job: BatchJob): boolean {
  const phase = warmupPhase(job);
  return phase === "failed" || phase === "running";
}

/** The member `warmup` of a summary. `pods` are needed where `needsPods` says so. */
export function warmupOf(job: BatchJob | null, pods: Iterable<BatchPod> = []): Warmup {
  const phase = warmupPhase(job);
  const pod = newestPod(pods);
  const reason = pod && phase === "failed" ? reasonOf(pod, WARMUP_CONTAINER) : null;
  const containerWaiting = pod && phase === "running" ? containerWaitingOf(pod, WARMUP_CONTAINER) : null;
  return { phase, ...(reason && { reason }), ...(containerWaiting && { containerWaiting }) };
}

/** Pods appear a moment after their Job's start: without one for longer, something prevents them, ms. */
export const NO_PODS_MS = 60_000;

/** Why a campaign makes no progress, by its Job and its warm-up; null for one that works or has ended. */
export function waitingOf(job: BatchJob, warmup: Warmup): Waiting | null {
  if (isFinal(job)) return null;
  return job.suspended ? heldBack(job) : beforeWarmup(job, warmup);
}

/**
 * Why a campaign makes no progress, by its pods as well: an unschedulable pod explains the wait only where no other pod of the
 * campaign is scheduled. `now` is in ms since 1970.
 */
export function waitingForPods(summary: JobSummary, pods: Iterable<BatchPod>, now: number): Waiting | null {
  if (summary.phase !== "Running" || summary.ending) return summary.waiting;
  let unscheduled: BatchPod["unscheduled"] = null;
  let hasPods = false;
  for (const pod of pods) {
    hasPods = true;
    if (pod.phase === "Failed" || pod.phase === "Succeeded") continue;
    if (!pod.unscheduled) return summary.waiting;
    if (!unscheduled || (pod.unscheduled.since ?? "") < (unscheduled.since ?? "")) unscheduled = pod.unscheduled;
  }
  if (unscheduled) return waiting(unscheduled.reason === GATED ? "queue" : "unschedulable", unscheduled);
  const { active, done, failed, total } = summary.counts;
  const startedAt = summary.startedAt === null ? null : instantOf(summary.startedAt);
  if (hasPods || active > 0 || done + failed >= total || startedAt === null || now - startedAt < NO_PODS_MS) {
    return summary.waiting;
  }
  return { code: "no-pods", reason: "NoPods", message: null, since: summary.startedAt };
}

/** A queue has not released the pod. */
const GATED = "SchedulingGated";

function heldBack(job: BatchJob): Waiting | null {
  const unmet = (type: string) => job.conditions.find((one) => one.type === type && one.status === "False");
  const quota = unmet("QuotaReserved");
  if (quota) return waiting("quota", quota);
  const admission = unmet("Admitted");
  if (admission) return waiting("queue", admission);
  const suspension = job.conditions.find(({ type, status }) => type === "Suspended" && status === "True");
  return suspension ? waiting(job.isQueued ? "queue" : "suspended", suspension) : null;
}

/** A volume that has ended shows that the pods do not wait: they go by a file that an earlier warm-up may have left. */
function beforeWarmup(job: BatchJob, { phase, reason }: Warmup): Waiting | null {
  const word = WARMUP_REASONS[phase];
  if (!word || job.completed.size + job.failed.size > 0) return null;
  return { code: "warmup", reason: word, message: reason?.error ?? null, since: job.startedAt };
}

/** A warm-up that is missing may have been removed after its success. */
const WARMUP_REASONS: Readonly<Partial<Record<WarmupPhase, string>>> = {
  pending: "WarmupPending",
  running: "WarmupRunning",
  failed: "WarmupFailed",
};

function waiting(code: WaitingCode, { type, reason, message, since }: Condition): Waiting {
  return { code, reason: reason || type, message: message || null, since };
}
