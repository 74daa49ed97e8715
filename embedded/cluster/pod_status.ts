import { type ContainerStatus, type Pod, timestamp } from "./objects.ts";

/** Whether a pod has ended. */
export function isOver(pod: Pod): boolean {
  return pod.status.phase === "Succeeded" || pod.status.phase === "Failed";
}

/** Whether a pod is marked for deletion. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Containers of a pod that ended with an exit code other than zero. */
export function failedOf(pod: Pod): { name: string; exitCode: number; message?: string }[] {
  return containersOf(pod).flatMap(({ name, state }) =>
    state.terminated && state.terminated.exitCode !== 0 ? [{ name, ...state.terminated }] : []
  );
}

/** When the last of its containers ended, in milliseconds; its creation for a pod whose containers never began. */
export function finishedAt(pod: Pod): number {
  const ends = containersOf(pod).flatMap(({ state }) =>
    state.terminated ? [Date.parse(state.terminated.finishedAt)] : []
  );
  return Math.max(Date.parse(pod.metadata.creationTimestamp), ...ends);
}

function containersOf(pod: Pod): ContainerStatus[] {
  return [...pod.status.initContainerStatuses ?? [], ...pod.status.containerStatuses ?? []];
}

/** A pod whose times all lie later by some milliseconds, whole seconds. */
export function postponed(pod: Pod, milliseconds: number): Pod {
  const later = (time: string) => timestamp(Date.parse(time) + milliseconds);
  const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
  const { creationTimestamp, deletionTimestamp } = pod.metadata;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      creationTimestamp: later(creationTimestamp),
      ...(deletionTimestamp !== undefined && { deletionTimestamp: later(deletionTimestamp) }),
    },
    status: JSON.parse(JSON.stringify(pod.status), (_, value) => isTime(value) ? later(value) : value),
  };
}
