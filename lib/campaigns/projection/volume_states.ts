import type { BatchJob, BatchPod } from "./cluster_objects.ts";
import { instantOf } from "./instants.ts";
import { newestPod, reasonOf, WORK_CONTAINER } from "./reasons.ts";
import type { Reason, VolumeState } from "./types.ts";

/** The state of every volume of a campaign, with the reasons of failures. */
export interface VolumeStates {
  readonly states: readonly VolumeState[];
  /** Null for a volume that is done, has no pod, or whose newest pod has no reason. */
  reason(index: number): Reason | null;
  /** When the volume's newest pod was created, ms since 1970; null for one that is gone. */
  attemptAt(index: number): number | null;
  /** When the volume's newest pod stopped, RFC 3339; null for one that runs, is gone or does not say. */
  stoppedAt(index: number): string | null;
}

/**
 * The states of a live campaign's volumes, from the Job's index sets and its pods that have not succeeded. An index in
 * both sets is done. Pods without an index, or with one beyond the Job's completions, are ignored.
 */
export function liveStates(count: number, job: BatchJob, pods: Iterable<BatchPod>): VolumeStates {
  const byIndex = podsByIndex(job, pods);
  const states = new Array<VolumeState>(count).fill("pending");
  for (const index of byIndex.keys()) if (index >= 0 && index < count) states[index] = "active";
  for (const [first, last] of job.failed.ranges) states.fill("failed", first, last + 1);
  for (const [first, last] of job.completed.ranges) states.fill("done", first, last + 1);
  return {
    states,
    reason(index) {
      if (states[index] === "done") return null;
      const pod = newestPod(byIndex.get(index) ?? []);
      return pod && reasonOf(pod, WORK_CONTAINER);
    },
    attemptAt(index) {
      const pod = newestPod(byIndex.get(index) ?? []);
      return pod && instantOf(pod.createdAt);
    },
    stoppedAt(index) {
      const pod = newestPod(byIndex.get(index) ?? []);
      return pod?.isEnded ? pod.containers.findLast(({ finishedAt }) => finishedAt)?.finishedAt ?? null : null;
    },
  };
}

function podsByIndex(job: BatchJob, pods: Iterable<BatchPod>): Map<number, BatchPod[]> {
  const byIndex = new Map<number, BatchPod[]>();
  for (const pod of pods) {
    if (
      pod.index === null ||
      (job.completions !== null && pod.index >= job.completions)
    ) continue;
    const others = byIndex.get(pod.index);
    if (others) others.push(pod);
    else byIndex.set(pod.index, [pod]);
  }
  return byIndex;
}
