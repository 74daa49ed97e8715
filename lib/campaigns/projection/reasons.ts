import { isObject } from "@/lib/std/is_object.ts";
import { stringAt } from "@/lib/std/untrusted.ts";
import { parseBucketJson } from "./bucket_json.ts";
import type { BatchPod, ContainerEnd } from "./cluster_objects.ts";
import { compareText } from "@/lib/std/text_order.ts";
import type { Reason } from "./types.ts";

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
  const end = [...pod.containers, ...pod.initContainers].find(hasFailed);
  return end ? plain(`${end.reason || "Error"} (exit code ${end.exitCode})`) : null;
}

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
  const error = stringAt(report, "error");
  if (!isObject(report) || error === null) return plain(message);
  return {
    stage: stringAt(report, "stage"),
    permanent: typeof report.permanent === "boolean" ? report.permanent : null,
    error,
  };
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
