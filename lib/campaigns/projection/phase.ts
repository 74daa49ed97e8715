import { clip } from "@/lib/std/untrusted.ts";
import type { BatchJob, Condition } from "./cluster_objects.ts";
import type { JobEnding, Phase } from "./types.ts";

/**
 * The phase of a campaign whose Job exists (spec, Campaign phase). A Job that is both complete and failed has
 * succeeded.
 */
export function phaseOf(job: BatchJob): Phase {
  if (isTrue(job, "Complete")) return "Succeeded";
  if (isTrue(job, "Failed")) {
    return job.completed.size > 0 ? "PartiallyFailed" : "Failed";
  }
  if (job.suspended) return job.completed.size > 0 ? "Paused" : "Queued";
  return "Running";
}

/** When a Job ended, RFC 3339: its completion time, else the time of the first ending among its conditions. */
export function finishedAtOf(job: BatchJob): string | null {
  return job.completedAt ?? job.conditions.find(isEnding)?.since ?? null;
}

/** Whether a condition of that type holds; `False` and `Unknown` do not count. */
export function isTrue(job: BatchJob, type: string): boolean {
  return job.conditions.some((condition) => condition.type === type && condition.status === "True");
}

/** Whether a condition says that its Job has ended. */
export function isEnding({ type, status }: Condition): boolean {
  return status === "True" && (type === "Complete" || type === "Failed");
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

/** Whether a Job starts no more pods: it has ended or is being ended. */
export function isFinal(job: BatchJob): boolean {
  return ENDINGS.some((type) => isTrue(job, type));
}

/** The conditions that end a Job: those of one that has ended before those of one whose pods still terminate. */
const ENDINGS = ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"];
const MAX_REASON = 100;
