import type { BatchJob, BatchPod, Condition } from "./cluster_objects.ts";
import { instantOf } from "./instants.ts";
import { isFinal } from "./phase.ts";
import type { JobSummary, Waiting, WaitingCode, Warmup, WarmupPhase } from "./types.ts";

/** Pods appear a moment after their Job's start: without one for longer, something prevents them, ms. */
export const NO_PODS_MS = 60_000;

/** What a campaign waits for, by its Job and its warm-up; null for one that works or has ended. */
export function waitingOf(job: BatchJob, warmup: Warmup): Waiting | null {
  if (isFinal(job)) return null;
  return job.suspended ? heldBack(job) : beforeWarmup(job, warmup);
}

/**
 * What a campaign waits for, by its pods as well: an unschedulable pod explains the wait only where no other pod of the
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
