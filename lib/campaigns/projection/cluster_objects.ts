import { clip, entries, integerAt, isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import {
  type Conventions,
  labelNames,
  POD_INDEX_LABEL,
  POD_JOB_LABEL,
  QUEUE_LABEL,
  RECORD_PREFIX,
} from "./conventions.ts";
import { lowerBound } from "@/lib/std/lower_bound.ts";

/** Characters that are stored of a condition's message, and of the reason and message of a waiting container. */
const MAX_TEXT = 300;

/** A condition of a Job or a pod (Kubernetes, JobCondition and PodCondition). */
export type Condition = Readonly<ReturnType<typeof readConditions>[number]>;
/** The part of a batch Job that responses need, small enough to store thousands. */
export type BatchJob = Readonly<NonNullable<ReturnType<typeof readJob>>>;
/** The part of a pod that responses need. */
export type BatchPod = Readonly<NonNullable<ReturnType<typeof readPod>>>;
/** How a container ended, now or the time before. */
export type ContainerEnd = Readonly<ReturnType<typeof endedContainers>[number]>;
/** The metadata of a campaign's ConfigMap. */
export type CampaignRecord = Readonly<NonNullable<ReturnType<typeof readCampaignRecord>>>;

/** A name within its namespace as one key; unambiguous, because a namespace contains no slash. */
export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Namespace and name of an object; null for something that has none. */
function identityOf(value: unknown): { readonly namespace: string; readonly name: string } | null {
  const namespace = stringAt(value, "metadata", "namespace");
  const name = stringAt(value, "metadata", "name");
  return namespace && name ? { namespace, name } : null;
}

/** Reads a Job of the Kubernetes API; null for something that has no name. Never throws. */
export function readJob(value: unknown, conventions: Conventions) {
  const identity = identityOf(value);
  if (!identity) return null;
  const names = labelNames(conventions);
  const labels = member(value, "metadata", "labels");
  const completions = member(value, "spec", "completions");
  return {
    ...identity,
    uid: stringAt(value, "metadata", "uid") ?? "",
    kind: jobKind(labels, conventions),
    /** The campaign file's name. */
    campaign: stringAt(labels, names.campaign) || identity.name,
    /** Pipeline id, "" without the label. */
    pipeline: stringAt(labels, names.pipeline) ?? "",
    createdAt: stringAt(value, "metadata", "creationTimestamp") ?? "",
    completions: Number.isSafeInteger(completions) ? Number(completions) : null,
    suspended: member(value, "spec", "suspend") === true,
    /** Whether a queue decides when it runs (Kueue). */
    isQueued: Boolean(stringAt(labels, QUEUE_LABEL)),
    active: integerAt(value, "status", "active"),
    startedAt: stringAt(value, "status", "startTime") || null,
    completedAt: stringAt(value, "status", "completionTime") || null,
    conditions: readConditions(value),
    completed: readIndexRanges(stringAt(value, "status", "completedIndexes")),
    failed: readIndexRanges(stringAt(value, "status", "failedIndexes")),
    /** Name of the ConfigMap mounted as `campaign`, with volumes.txt. */
    volumesConfigMap: mountedConfigMap(value, "campaign"),
    pipelineConfigMap: mountedConfigMap(value, "pipeline"),
  };
}

/** Reads a pod; null for something that has no name. Never throws. */
export function readPod(value: unknown) {
  const identity = identityOf(value);
  if (!identity) return null;
  const labels = member(value, "metadata", "labels");
  const statuses = entries(member(value, "status", "containerStatuses"));
  const initStatuses = statuses.some(hasStarted) ? [] : entries(member(value, "status", "initContainerStatuses"));
  return {
    ...identity,
    job: stringAt(labels, POD_JOB_LABEL),
    /** The Job index it works on; null for a pod without a readable one. */
    index: readIndex(stringAt(labels, POD_INDEX_LABEL)),
    createdAt: stringAt(value, "metadata", "creationTimestamp") ?? "",
    /** Such as `Evicted` or `DeadlineExceeded`, "" when unknown. */
    reason: stringAt(value, "status", "reason") ?? "",
    /** `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`; "" when the cluster names none. */
    phase: stringAt(value, "status", "phase") ?? "",
    /** Whether its deletion has been requested. */
    isDeleted: Boolean(stringAt(value, "metadata", "deletionTimestamp")),
    /** The condition that says why no node runs it; null for one that is scheduled or new. */
    unscheduled: readUnscheduled(value),
    /** Only containers that have ended. */
    containers: endedContainers(statuses),
    /** The same of init containers that can fail the pod. */
    initContainers: endedContainers(withoutSidecars(value, initStatuses)),
    /** Containers that something unusual keeps from starting; init containers only until another one has started. */
    waits: [...readWaits(statuses, false), ...readWaits(initStatuses, true)],
  };
}

/** Reads a pod that has not succeeded, which is all that a Job needs that has not ended. Never throws. */
export function readUnfinishedPod(value: unknown): BatchPod | null {
  return stringAt(value, "status", "phase") === "Succeeded" ? null : readPod(value);
}

/** Reads the metadata of a campaign's ConfigMap; null when its name is not that of one. Never throws. */
export function readCampaignRecord(value: unknown, conventions: Conventions) {
  const identity = identityOf(value);
  if (!identity?.name.startsWith(RECORD_PREFIX)) return null;
  const job = identity.name.slice(RECORD_PREFIX.length);
  const names = labelNames(conventions);
  const labels = member(value, "metadata", "labels");
  return {
    namespace: identity.namespace,
    /** The Job's name. */
    job,
    campaign: stringAt(labels, names.campaign) || job,
    pipeline: stringAt(labels, names.pipeline) ?? "",
    createdAt: stringAt(value, "metadata", "creationTimestamp") ?? "",
  };
}

/**
 * The kind of a Job by both labels; any other Job of the namespace is not a campaign. `unmanaged`: only the label
 * `managed-by` is missing or different.
 */
function jobKind(labels: unknown, conventions: Conventions): "campaign" | "warmup" | "unmanaged" | "other" {
  const app = stringAt(labels, "app");
  if (app !== conventions.campaignApp && app !== conventions.warmupApp) return "other";
  if (stringAt(labels, labelNames(conventions).managedBy) !== conventions.managedBy) return "unmanaged";
  return app === conventions.campaignApp ? "campaign" : "warmup";
}

function readConditions(value: unknown) {
  return entries(member(value, "status", "conditions")).filter(isObject).map((condition) => ({
    type: stringAt(condition, "type") ?? "",
    /** `True`, `False` or `Unknown`. */
    status: stringAt(condition, "status") ?? "",
    reason: stringAt(condition, "reason") ?? "",
    message: clip(stringAt(condition, "message") ?? "", MAX_TEXT),
    /** When the status last changed, RFC 3339. */
    since: stringAt(condition, "lastTransitionTime") || null,
  }));
}

function readUnscheduled(pod: unknown): Condition | null {
  return readConditions(pod).find(({ type, status }) => type === "PodScheduled" && status === "False") ?? null;
}

function mountedConfigMap(job: unknown, volume: string): string | null {
  const volumes = entries(member(job, "spec", "template", "spec", "volumes"));
  const mount = volumes.find((candidate) => member(candidate, "name") === volume);
  return stringAt(mount, "configMap", "name") || null;
}

function readIndex(label: string | null): number | null {
  return label !== null && /^\d{1,15}$/.test(label) ? Number(label) : null;
}

function endedContainers(statuses: readonly unknown[]) {
  return statuses.flatMap((status) => {
    // For a restarted container that ended again only `state` counts, even when `lastState` has more details.
    const now = member(status, "state", "terminated");
    const end = isObject(now) ? now : member(status, "lastState", "terminated");
    if (!isObject(end)) return [];
    return [{
      container: stringAt(status, "name") ?? "",
      /** Whether it has been started again since. */
      isRunning: isRunning(status),
      exitCode: integerAt(end, "exitCode"),
      reason: stringAt(end, "reason") ?? "",
      finishedAt: stringAt(end, "finishedAt") || null,
      /** Termination message; an empty one is a message, null is none. */
      message: stringAt(end, "message"),
    }];
  });
}

/**
 * The init containers without sidecars (`restartPolicy: Always`), which never fail a pod. A status does not name the policy,
 * so one that runs again after its end counts as a sidecar, too.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
 */
function withoutSidecars(pod: unknown, statuses: readonly unknown[]): readonly unknown[] {
  const sidecars = new Set(
    entries(member(pod, "spec", "initContainers"))
      .filter((container) => stringAt(container, "restartPolicy") === "Always")
      .map((container) => stringAt(container, "name")),
  );
  return statuses.filter((status) => !isRunning(status) && !sidecars.has(stringAt(status, "name")));
}

/** A container starts only after all init containers that can fail have succeeded. */
function hasStarted(status: unknown): boolean {
  return isRunning(status) || Boolean(stringAt(status, "state", "terminated", "startedAt"));
}

function isRunning(status: unknown): boolean {
  return isObject(member(status, "state", "running"));
}

/** Why containers do not start, in the cluster's words. */
function readWaits(statuses: readonly unknown[], isInit: boolean) {
  return statuses.flatMap((status) => {
    const reason = stringAt(status, "state", "waiting", "reason");
    if (!reason || USUAL_WAITS.has(reason)) return [];
    const message = stringAt(status, "state", "waiting", "message");
    return [{
      container: stringAt(status, "name") ?? "",
      isInit,
      reason: clip(reason, MAX_TEXT),
      message: message === null ? null : clip(message, MAX_TEXT),
    }];
  });
}

/** Each container waits for these before it starts. */
const USUAL_WAITS: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

/** Whether a condition of that type holds; `False` and `Unknown` do not count. */
export function isTrue(job: BatchJob, type: string): boolean {
  return job.conditions.some((condition) => condition.type === type && condition.status === "True");
}

/** Whether a condition says that its Job has ended. */
export function isEnding({ type, status }: Condition): boolean {
  return status === "True" && (type === "Complete" || type === "Failed");
}

/** Whether a Job starts no more pods: it has ended or is being ended. */
export function isFinal(job: BatchJob): boolean {
  return ENDINGS.some((type) => isTrue(job, type));
}

/** The conditions that end a Job: those of one that has ended before those of one whose pods still terminate. */
export const ENDINGS = ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"];

/** No Job of the largest permitted size needs more ranges; what a longer text adds is ignored. */
export const MAX_INDEX_RANGES = 100_000;

/**
 * Reads `completedIndexes` and `failedIndexes` of a Job's status, such as `0-2,5` (Kubernetes, JobStatus). Spaces
 * around numbers are ignored, invalid ranges are skipped, overlapping ranges count once. The memory of the set depends on
 * the length of the text, not on the numbers in it.
 */
export function readIndexRanges(text: string | null | undefined) {
  if (!text) return EMPTY;
  // Ascending, apart from each other.
  const ranges: IndexRange[] = merged(text.split(",", MAX_INDEX_RANGES).flatMap(readRange));
  let size = 0;
  for (const [first, last] of ranges) size += last - first + 1;
  return { size, ranges, has: (index: number) => contains(ranges, index) };
}

type IndexRange = readonly [first: number, last: number];

const EMPTY = { size: 0, ranges: [] as IndexRange[], has: (_index: number) => false };
const RANGE = /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/;

function readRange(text: string): IndexRange[] {
  const match = RANGE.exec(text);
  if (!match) return [];
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Number(match[2]);
  return first <= last ? [[first, last]] : [];
}

function merged(ranges: IndexRange[]): IndexRange[] {
  ranges.sort((a, b) => a[0] - b[0]);
  const result: [number, number][] = [];
  for (const [first, last] of ranges) {
    const previous = result.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else result.push([first, last]);
  }
  return result;
}

function contains(ranges: readonly IndexRange[], index: number): boolean {
  const range = ranges[lowerBound(ranges.length, (place) => ranges[place][1] < index)];
  return range !== undefined && range[0] <= index;
}
