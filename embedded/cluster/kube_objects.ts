import type { JobSpec, PodSpec } from "./job_spec.ts";

/** Metadata every stored object has (Kubernetes API conventions, "Metadata"). Times are RFC 3339 in whole seconds. */
interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFields[];
}

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that a manager has applied (Kubernetes, "Server-Side Apply"). */
export interface ManagedFields {
  readonly manager: string;
  readonly operation: "Apply";
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: Readonly<Record<string, unknown>>;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime: string;
}

/** The metadata of a new object, before the store sets uid, version and time. */
export type NewMeta = Omit<ObjectMeta, "uid" | "resourceVersion" | "creationTimestamp">;

export interface Job {
  readonly apiVersion: "batch/v1";
  readonly kind: "Job";
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

/** Status of a Job. Like batch/v1 it omits `active`, `succeeded` and `failed` when they are zero. */
export interface JobStatus {
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
  readonly conditions?: readonly Condition[];
}

export interface Pod {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

export interface PodStatus {
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed";
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: string;
  readonly conditions?: readonly Condition[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly message?: string;
    readonly startedAt: string;
    readonly finishedAt: string;
  };
}

export interface ConfigMap {
  readonly apiVersion: "v1";
  readonly kind: "ConfigMap";
  readonly metadata: ObjectMeta;
  readonly data?: Readonly<Record<string, string>>;
}

interface Namespace {
  readonly apiVersion: "v1";
  readonly kind: "Namespace";
  readonly metadata: ObjectMeta;
  readonly spec: { readonly finalizers: readonly string[] };
  readonly status: { readonly phase: "Active" };
}

/** Every kind of object in the cluster, by its plural in paths. */
export interface Kinds {
  jobs: Job;
  pods: Pod;
  configmaps: ConfigMap;
  namespaces: Namespace;
}

export type Plural = keyof Kinds;
export type KubeObject = Kinds[Plural];

/** An instant as objects carry it: RFC 3339, UTC, whole seconds. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19) + "Z";
}

/** The first condition of a type that holds. */
export function condition({ status }: Pick<Job, "status">, type: string): Condition | undefined {
  return status.conditions?.find((candidate) => candidate.type === type && candidate.status === "True");
}

/** When a Job ended, in milliseconds; null while it has not. */
export function endedAt(job: Job): number | null {
  const ending = condition(job, "Complete") ?? condition(job, "Failed");
  return ending ? Date.parse(ending.lastTransitionTime) : null;
}

/** Indexes as a Job's status writes them: ascending, three or more in a row as a range, such as `0-2,5`. */
export function writeIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (sorted[end + 1] === sorted[end] + 1) end++;
    // Two neighbours are a list in the real controller, more are a range.
    if (end - start < 2) ranges.push(...sorted.slice(start, end + 1).map(String));
    else ranges.push(`${sorted[start]}-${sorted[end]}`);
    start = end + 1;
  }
  return ranges.join(",");
}

/** Reads what `writeIndexes` wrote. */
export function readIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const range of (text ?? "").split(",").filter((part) => part !== "")) {
    const [first, last = first] = range.split("-").map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

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
export function postponed({ metadata, status, ...pod }: Pod, milliseconds: number): Pod {
  const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
  const later = (_: string, value: unknown) =>
    isTime(value) ? timestamp(Date.parse(String(value)) + milliseconds) : value;
  return { ...pod, ...JSON.parse(JSON.stringify({ metadata, status }), later) };
}
