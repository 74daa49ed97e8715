import { type BatchJob, type BatchPod, keyOf } from "./cluster_objects.ts";
import { isTrue } from "./phase.ts";
import { containerWaitingOf, newestPod, reasonOf, WARMUP_CONTAINER } from "./reasons.ts";
import type { Warmup, WarmupPhase } from "./types.ts";

/** Finds the warm-up Job of a campaign. */
export interface WarmupIndex {
  /** The first warm-up Job of that namespace and pipeline; none for a campaign without a pipeline. */
  find(namespace: string, pipeline: string): BatchJob | null;
}

/** Indexes warm-up Jobs by namespace and pipeline, so that a list of campaigns looks each up once. */
export function indexWarmups(jobs: Iterable<BatchJob>): WarmupIndex {
  const byPipeline = new Map<string, BatchJob>();
  for (const job of jobs) {
    const key = keyOf(job.namespace, job.pipeline);
    if (job.kind === "warmup" && job.pipeline && !byPipeline.has(key)) {
      byPipeline.set(key, job);
    }
  }
  return { find: (namespace, pipeline) => (pipeline && byPipeline.get(keyOf(namespace, pipeline))) || null };
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
