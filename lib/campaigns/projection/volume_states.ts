import type { BatchJob, BatchPod } from "./cluster_objects.ts";
import { instantOf } from "./instants.ts";
import { isEnding, isFinal } from "./phase.ts";
import { containerWaitingOf, newestPod, reasonOf, WORK_CONTAINER } from "./reasons.ts";
import type { ContainerWaiting, Reason, RunState } from "./types.ts";

/** The state of every volume of a campaign, with the reasons of failures. */
export interface VolumeStates {
  readonly states: readonly RunState[];
  /** The Job starts no more pods, so that no volume is tried again. */
  readonly isFinal: boolean;
  /** Null for a volume that is done, has no pod, or whose newest pod has no reason. */
  reason(index: number): Reason | null;
  /** Why an active volume's newest pod cannot start; null where nothing unusual prevents it. */
  containerWaiting(index: number): ContainerWaiting | null;
  /** When the volume's newest pod was created, ms since 1970; null for one that is gone. */
  attemptAt(index: number): number | null;
  /** When the volume's newest pod stopped, RFC 3339; null for one that runs, is gone or does not say. */
  stoppedAt(index: number): string | null;
}

/**
 * The states of a live campaign's volumes, from the Job's index sets and its pods. An index in both sets is done. Pods
 * without an index, or with one beyond the Job's completions, are ignored. While the Job runs, a volume with a pod that has
 * not succeeded is active; once it has ended or is suspended, only one whose newest pod still runs.
 */
export function liveStates(count: number, job: BatchJob, pods: Iterable<BatchPod>): VolumeStates {
  const byIndex = podsByIndex(job, pods);
  const hasEnded = job.conditions.some(isEnding);
  const stateOf = hasEnded || job.suspended
    ? (pods: readonly BatchPod[]) => stoppedState(pods, hasEnded)
    : runningState;
  const states = new Array<RunState>(count).fill(hasEnded ? "unfinished" : "pending");
  for (const [index, pods] of byIndex) if (index < count) states[index] = stateOf(pods);
  for (const [first, last] of job.failed.ranges) states.fill("failed", first, last + 1);
  for (const [first, last] of job.completed.ranges) states.fill("done", first, last + 1);
  const newest = (index: number) => newestPod(byIndex.get(index) ?? []);
  return {
    states,
    isFinal: isFinal(job),
    reason(index) {
      if (states[index] === "done") return null;
      const pod = newest(index);
      return pod && reasonOf(pod, WORK_CONTAINER);
    },
    containerWaiting(index) {
      const pod = states[index] === "active" ? newest(index) : null;
      return pod && containerWaitingOf(pod, WORK_CONTAINER);
    },
    attemptAt(index) {
      const pod = newest(index);
      return pod && instantOf(pod.createdAt);
    },
    stoppedAt(index) {
      const pod = newest(index);
      return pod?.phase === "Failed"
        ? pod.containers.findLast(({ finishedAt }) => finishedAt)?.finishedAt ?? null
        : null;
    },
  };
}

function runningState(pods: readonly BatchPod[]): RunState {
  return pods.some(({ phase }) => phase !== "Succeeded") ? "active" : "pending";
}

/** The state of a volume whose Job starts no pod: its newest pod alone decides. */
function stoppedState(pods: readonly BatchPod[], hasEnded: boolean): RunState {
  const pod = newestPod(pods);
  if (pod && !pod.isDeleted && RUNNING_PHASES.has(pod.phase)) return "active";
  if (!hasEnded) return "pending";
  return pod?.phase === "Failed" ? "failed" : pod?.phase === "Succeeded" ? "done" : "unfinished";
}

const RUNNING_PHASES: ReadonlySet<string> = new Set(["Pending", "Running", "Unknown"]);

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
