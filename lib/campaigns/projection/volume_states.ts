import { compareText } from "@/lib/std/text.ts";
import { clip, isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import { type BatchJob, type BatchPod, type ContainerEnd, isEnding, isFinal } from "./cluster_objects.ts";
import type { ContainerWaiting, Reason, RunState } from "./types.ts";
import { instantOf, parseBucketJson } from "./values.ts";

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
    if (pod.index === null || (job.completions !== null && pod.index >= job.completions)) continue;
    const others = byIndex.get(pod.index);
    if (others) others.push(pod);
    else byIndex.set(pod.index, [pod]);
  }
  return byIndex;
}

/** The container of a campaign's pod that does the work. */
const WORK_CONTAINER = "wrapper";
/** The container of a warm-up's pod. */
export const WARMUP_CONTAINER = "warmup";

/**
 * Why a pod stopped, from the first source with a value: the working container's termination message, the message of a failed
 * init container, the pod's own reason, an exit code. Null without any (spec, Reason sources).
 */
export function reasonOf(pod: BatchPod, container: string): Reason | null {
  const message = messageOf(pod, container);
  if (message !== null) return renamed(readMessage(message), pod);
  if (pod.reason) return plain(pod.reason);
  const isOver = (end: ContainerEnd) => !end.isRunning || end.container === container;
  const end = [...pod.containers, ...pod.initContainers].find((end) => hasFailed(end) && isOver(end));
  return end ? plain(`${end.reason || "Error"} (exit code ${end.exitCode})`) : null;
}

/** Why a pod does not start its work: its container or an init container cannot start; null without such an obstacle. */
export function containerWaitingOf(pod: BatchPod, container: string): ContainerWaiting | null {
  if (pod.isDeleted || ENDED_PHASES.has(pod.phase)) return null;
  const wait = pod.waits.find((wait) => wait.isInit || wait.container === container);
  return wait ? { reason: wait.reason, message: wait.message } : null;
}

const ENDED_PHASES: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);

/** The pod created last; of several created in the same second, the first. */
export function newestPod(pods: Iterable<BatchPod>): BatchPod | null {
  let newest: BatchPod | null = null;
  for (const pod of pods) {
    if (!newest || compareText(pod.createdAt, newest.createdAt) > 0) newest = pod;
  }
  return newest;
}

function messageOf(pod: BatchPod, container: string): string | null {
  const own = pod.containers.find((end) => end.container === container)?.message ?? null;
  if (own !== null) return own;
  return pod.initContainers.find((end) => hasFailed(end) && end.message !== null)?.message ?? null;
}

function readMessage(message: string): Reason {
  const report = parseBucketJson(message);
  if (report === undefined) {
    return readCutReport(message) ?? plain(isCut(message) ? clip(message, MAX_CUT_ERROR) : message);
  }
  const error = stringAt(report, "error");
  return error === null ? plain(message) : reasonIn(report, error);
}

function reasonIn(report: unknown, error: string): Reason {
  const permanent = member(report, "permanent");
  return { stage: stringAt(report, "stage"), permanent: typeof permanent === "boolean" ? permanent : null, error };
}

/** The kubelet cuts a termination message at so many bytes (Kubernetes, "Customizing the termination message"). */
const MAX_MESSAGE_BYTES = 4096;
/** Characters of an error that are used of a message that was cut. */
const MAX_CUT_ERROR = 300;

function isCut(message: string): boolean {
  return message.length >= MAX_MESSAGE_BYTES || new TextEncoder().encode(message).length >= MAX_MESSAGE_BYTES;
}

/** Reads a report whose end was cut off: its complete members and the first part of its error; null for any other text. */
function readCutReport(message: string): Reason | null {
  const text = message.slice(0, MAX_MESSAGE_BYTES);
  const found = /^\s*\{/.test(text) ? cutInText(text) ?? cutElsewhere(text) : null;
  const reason = found && reasonIn(found, stringAt(found, "error") ?? text);
  if (!reason || (reason.stage ?? reason.permanent ?? stringAt(found, "error")) === null) return null;
  // Half of a character may be left at the cut.
  return { ...reason, error: clip(reason.error.replace(/[\ud800-\udbff\ufffd]+$/, ""), MAX_CUT_ERROR) };
}

/** The members of an object that was cut within a text, which only an error may be. */
function cutInText(text: string): object | null {
  const report = parseBucketJson(`${text.replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i, "$1")}"}`);
  if (!isObject(report)) return null;
  const last = Object.keys(report).at(-1);
  return Object.fromEntries(Object.entries(report).filter(([name]) => name !== last || name === "error"));
}

/** The members of an object before its last comma, or one of the commas before that, which may be in a nested value. */
function cutElsewhere(text: string): object | null {
  for (let end = text.length, tries = 0; end > 0 && tries < 8; end = text.lastIndexOf(",", end - 1), tries++) {
    const report = parseBucketJson(`${text.slice(0, end)}}`);
    if (isObject(report)) return report;
  }
  return null;
}

/** A worker that is killed at its deadline reports only the signal; the pod has the cause. */
function renamed(reason: Reason, pod: BatchPod): Reason {
  const killed = pod.reason === "DeadlineExceeded" && reason.error === "SIGTERM";
  return killed ? { ...reason, error: "DeadlineExceeded" } : reason;
}

function hasFailed(end: ContainerEnd): boolean {
  return end.exitCode !== 0;
}

function plain(error: string): Reason {
  return { stage: null, permanent: null, error };
}
