import { clip, isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import { parseBucketJson } from "./bucket_json.ts";
import type { BatchPod, ContainerEnd } from "./cluster_objects.ts";
import { compareText } from "@/lib/std/text.ts";
import type { ContainerWaiting, Reason } from "./types.ts";

/** The container of a campaign's pod that does the work. */
export const WORK_CONTAINER = "wrapper";
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
    if (!newest || compareText(pod.createdAt, newest.createdAt) > 0) {
      newest = pod;
    }
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

/** Reads a report whose end was cut off: its whole members and the beginning of its error; null for any other text. */
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
  const killed = pod.reason === "DeadlineExceeded" &&
    reason.error === "SIGTERM";
  return killed ? { ...reason, error: "DeadlineExceeded" } : reason;
}

function hasFailed(end: ContainerEnd): boolean {
  return end.exitCode !== 0;
}

function plain(error: string): Reason {
  return { stage: null, permanent: null, error };
}
