import type { BatchJob, Condition } from "./cluster_objects.ts";
import type { Phase } from "./types.ts";

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
