import { pick, seededRandom } from "@/embedded/archive/catalogue.ts";
import { sameJson } from "./json_body.ts";
import {
  type Condition,
  condition,
  endedAt,
  failedOf,
  finishedAt,
  isOver,
  isTerminating,
  type Job,
  type JobStatus,
  type Pod,
  readIndexes,
  timestamp,
  writeIndexes,
} from "./kube_objects.ts";
import type { ClusterStore } from "./store.ts";

export const INDEX_LABEL = "batch.kubernetes.io/job-completion-index";
export const FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
export const IGNORED_ANNOTATION = "batch.kubernetes.io/job-index-ignored-failure-count";
const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";

/** First wait before a retry, doubled for each further one, in seconds of work. */
const BACKOFF_SECONDS = 10;
const MAX_BACKOFF_SECONDS = 600;

/**
 * One reconciliation of a Job: counts ended pods, retries or fails indexes, starts pods, suspends, resumes and ends the Job,
 * by the rules of batch/v1 ("Jobs", "Pod backoff limit per index", "Pod failure policy"). All state is in the objects, so it
 * may run at any time and repeatedly. `speed` divides the waits before retries.
 */
export function reconcileJob(
  store: ClusterStore,
  job: Job,
  pods: readonly Pod[],
  { seed, speed }: { readonly seed: number; readonly speed: number },
): void {
  if (endedAt(job) !== null) return;
  const now = store.now();
  const counted = countEnded(store, job, pods);
  const states = indexStates(job, pods, now, speed);
  const running = pods.filter((pod) => !isOver(pod) && !isTerminating(pod));
  let terminating = pods.filter((pod) => !isOver(pod) && isTerminating(pod)).length;
  let active = running.length;
  let status: JobStatus = { ...job.status, ...counted };
  if (job.spec.completionMode === "Indexed") {
    status = {
      ...status,
      succeeded: states.completed.size || undefined,
      completedIndexes: writeIndexes(states.completed) || undefined,
      failedIndexes: job.spec.backoffLimitPerIndex === undefined ? undefined : writeIndexes(states.failed),
    };
  }
  status = withTarget(job, status, states, now);
  const fails = condition({ status }, "FailureTarget") !== undefined;
  if (fails || job.spec.suspend) {
    for (const pod of running) terminatePod(store, pod, fails);
    terminating += active;
    active = 0;
  }
  if (!fails) {
    status = withSuspension(status, job.spec.suspend, now);
    // An index waits until its terminating pod has ended, as podReplacementPolicy Failed requires.
    const free = job.spec.suspend ? 0 : Math.max(0, job.spec.parallelism - active - terminating);
    for (const index of states.startable.slice(0, free)) {
      startPod(store, job, pods, { index, seed });
      active++;
    }
  }
  const ready = running.filter((pod) => pod.status.containerStatuses?.some((container) => container.ready)).length;
  status = { ...status, active: active || undefined, ready: fails || job.spec.suspend ? 0 : ready, terminating };
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (active + terminating + succeeded.length + failed.length === 0) status = withEnding(status, now);
  if (!sameJson(status, job.status)) store.replace("jobs", { ...job, status });
}

/** Deletes a Job whose TTL after its end has expired, with its pods. */
export function reapJob(store: ClusterStore, job: Job): void {
  const expiry = expiresAt(job);
  if (expiry === null || store.now() < expiry) return;
  store.deleteWithPods("jobs", job);
}

/** When a Job's TTL expires, in milliseconds; null while it has not ended or without a TTL. */
export function expiresAt(job: Job): number | null {
  const ended = endedAt(job);
  const ttl = job.spec.ttlSecondsAfterFinished;
  return ended === null || ttl === undefined ? null : ended + ttl * 1000;
}

/**
 * Counts pods in two reconciliations, as the real controller does: the first puts their uids into
 * `uncountedTerminatedPods`, the second removes their finalizers and increases the counts. Completed indexes do not need
 * this, and failures that the policy ignores are not counted.
 */
function countEnded(store: ClusterStore, job: Job, pods: readonly Pod[]): Partial<JobStatus> {
  const indexed = job.spec.completionMode === "Indexed";
  const waiting = job.status.uncountedTerminatedPods ?? {};
  const uncounted = new Set([...waiting.succeeded ?? [], ...waiting.failed ?? []]);
  const fresh = { succeeded: [] as string[], failed: [] as string[] };
  for (const pod of pods) {
    const { uid, finalizers = [], namespace = "", name } = pod.metadata;
    if (!isOver(pod) || !finalizers.includes(TRACKING_FINALIZER)) continue;
    const succeeded = pod.status.phase === "Succeeded";
    const isCounted = succeeded ? !indexed : ruleFor(job, pod) !== "Ignore";
    if (isCounted && !uncounted.has(uid)) {
      fresh[succeeded ? "succeeded" : "failed"].push(uid);
      continue;
    }
    const current = store.get("pods", namespace, name);
    if (current) store.replace("pods", { ...current, metadata: { ...current.metadata, finalizers: undefined } });
  }
  const succeeded = (job.status.succeeded ?? 0) + (waiting.succeeded?.length ?? 0);
  const failed = (job.status.failed ?? 0) + (waiting.failed?.length ?? 0);
  return {
    succeeded: succeeded || undefined,
    failed: failed || undefined,
    uncountedTerminatedPods: {
      ...(fresh.succeeded.length > 0 && { succeeded: fresh.succeeded }),
      ...(fresh.failed.length > 0 && { failed: fresh.failed }),
    },
  };
}

/**
 * Marks a pod for deletion; its node ends it. A pod of a suspended Job does not count as a failure, so its finalizer is
 * removed first; each pod of a failing Job counts.
 */
function terminatePod(store: ClusterStore, pod: Pod, counts: boolean): void {
  const grace = pod.spec.terminationGracePeriodSeconds;
  store.replace("pods", {
    ...pod,
    metadata: {
      ...pod.metadata,
      deletionTimestamp: timestamp(store.now() + grace * 1000),
      deletionGracePeriodSeconds: grace,
      finalizers: counts ? pod.metadata.finalizers : undefined,
    },
  });
}

/** The indexes that are completed, those that failed, and those that need a pod now, lowest first. */
function indexStates(job: Job, pods: readonly Pod[], now: number, speed: number) {
  const completed = readIndexes(job.status.completedIndexes);
  const failed = readIndexes(job.status.failedIndexes);
  // A terminating pod does not decide its index, but occupies it until it is gone.
  const leaving = new Set(pods.filter((pod) => isTerminating(pod) && !isOver(pod)).map(indexOf));
  const newest = newestByIndex(pods.filter((pod) => !isTerminating(pod)));
  for (const [index, pod] of newest) {
    if (pod.status.phase === "Succeeded") completed.add(index);
    else if (pod.status.phase === "Failed" && !mayRetry(job, pod)) failed.add(index);
  }
  const startable: number[] = [];
  for (let index = 0; index < job.spec.completions; index++) {
    if (completed.has(index) || failed.has(index) || leaving.has(index)) continue;
    const pod = newest.get(index);
    if (pod && !isOver(pod)) continue;
    // Each earlier attempt of the index doubles the wait, also one that cost no retry.
    const wait = pod ? Math.min(MAX_BACKOFF_SECONDS, BACKOFF_SECONDS * 2 ** attempts(pod)) : 0;
    if (pod && now < finishedAt(pod) + wait * 1000 / speed) continue;
    startable.push(index);
  }
  return { completed, failed, startable };
}

/** The newest pod of each index; a Job without indexes counts as one of index 0. */
export function newestByIndex(pods: readonly Pod[]): Map<number, Pod> {
  const newest = new Map<number, Pod>();
  for (const pod of pods) {
    const index = indexOf(pod);
    const other = newest.get(index);
    if (!other || attempts(other) <= attempts(pod)) newest.set(index, pod);
  }
  return newest;
}

function indexOf(pod: Pod): number {
  return Number(pod.metadata.labels?.[INDEX_LABEL] ?? 0);
}

function attempts(pod: Pod): number {
  return annotated(pod, FAILURES_ANNOTATION) + annotated(pod, IGNORED_ANNOTATION);
}

function annotated(pod: Pod, key: string): number {
  return Number(pod.metadata.annotations?.[key] ?? 0);
}

function mayRetry(job: Job, pod: Pod): boolean {
  const rule = ruleFor(job, pod);
  if (rule === "FailIndex") return false;
  const failures = annotated(pod, FAILURES_ANNOTATION) + (rule === "Ignore" ? 0 : 1);
  return failures <= (job.spec.backoffLimitPerIndex ?? job.spec.backoffLimit);
}

/** The action of the failure policy for a failed pod: that of its first matching rule. */
function ruleFor(job: Job, pod: Pod): "Ignore" | "FailIndex" | null {
  for (const rule of job.spec.podFailurePolicy?.rules ?? []) {
    const { onExitCodes, onPodConditions } = rule;
    const byCode = onExitCodes &&
      failedOf(pod).some(({ name, exitCode }) =>
        name === onExitCodes.containerName && onExitCodes.values.includes(exitCode)
      );
    const byCondition = onPodConditions?.some(({ type, status }) =>
      pod.status.conditions?.some((condition) => condition.type === type && condition.status === status)
    );
    if (byCode || byCondition) return rule.action;
  }
  return null;
}

const SUFFIX_LETTERS = [..."bcdfghjklmnpqrstvwxz2456789"];

function startPod(
  store: ClusterStore,
  job: Job,
  pods: readonly Pod[],
  { index, seed }: { readonly index: number; readonly seed: number },
): void {
  const { name, namespace = "", uid } = job.metadata;
  const before = newestByIndex(pods.filter((pod) => !isTerminating(pod))).get(index);
  const ignored = before && ruleFor(job, before) === "Ignore" ? 1 : 0;
  const failures = before ? annotated(before, FAILURES_ANNOTATION) + 1 - ignored : 0;
  const ignoredFailures = before ? annotated(before, IGNORED_ANNOTATION) + ignored : 0;
  const random = seededRandom("pod", seed, namespace, name, index, store.version);
  const suffix = Array.from({ length: 5 }, () => pick(random, SUFFIX_LETTERS)).join("");
  const indexed = job.spec.completionMode === "Indexed";
  const generateName = indexed ? `${name}-${index}-` : `${name}-`;
  const template = job.spec.template;
  store.create("pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${generateName}${suffix}`,
      generateName,
      namespace,
      labels: {
        ...template.metadata.labels,
        "batch.kubernetes.io/controller-uid": uid,
        "controller-uid": uid,
        ...(indexed && { [INDEX_LABEL]: String(index) }),
      },
      annotations: indexed
        ? {
          [INDEX_LABEL]: String(index),
          [FAILURES_ANNOTATION]: String(failures),
          ...(ignoredFailures > 0 && { [IGNORED_ANNOTATION]: String(ignoredFailures) }),
        }
        : undefined,
      finalizers: [TRACKING_FINALIZER],
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: { ...template.spec, ...(indexed && { hostname: `${name}-${index}` }) },
    status: { phase: "Pending" },
  });
}

function withSuspension(status: JobStatus, suspend: boolean, now: number): JobStatus {
  const current = status.conditions?.find((candidate) => candidate.type === "Suspended");
  const wanted = suspend ? "True" : "False";
  if (current?.status === wanted || (!suspend && !current)) {
    return suspend || status.startTime ? status : { ...status, startTime: timestamp(now) };
  }
  const others = { ...status, conditions: status.conditions?.filter((candidate) => candidate.type !== "Suspended") };
  const suspended = { type: "Suspended", reason: "JobSuspended", message: "Job suspended" };
  if (suspend) return withCondition(others, now, suspended);
  // Resuming resets the start, which a suspension leaves as it was.
  const resumed = withCondition(others, now, {
    ...suspended,
    status: "False",
    reason: "JobResumed",
    message: "Job resumed",
  });
  return { ...resumed, startTime: timestamp(now) };
}

/** Adds the condition that announces the end of a Job; its pods may still run. */
function withTarget(job: Job, status: JobStatus, states: ReturnType<typeof indexStates>, now: number): JobStatus {
  if (condition({ status }, "FailureTarget") ?? condition({ status }, "SuccessCriteriaMet")) return status;
  const indexed = job.spec.completionMode === "Indexed";
  const { completed, failed } = states;
  const target = (type: string, reason: string, message: string) =>
    withCondition(status, now, { type, reason, message });
  if (indexed && failed.size > (job.spec.maxFailedIndexes ?? Infinity)) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return target("FailureTarget", "MaxFailedIndexesExceeded", message);
  }
  if ((indexed ? completed.size : status.succeeded ?? 0) >= job.spec.completions) {
    return target("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods");
  }
  if (failed.size === 0 || completed.size + failed.size < job.spec.completions) return status;
  return indexed
    ? target("FailureTarget", "FailedIndexes", "Job has failed indexes")
    : target("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
}

/** The end of a Job that has its target, once no pod of it is left. */
function withEnding(status: JobStatus, now: number): JobStatus {
  for (const [target, type] of [["FailureTarget", "Failed"], ["SuccessCriteriaMet", "Complete"]]) {
    const bound = condition({ status }, target);
    if (!bound) continue;
    const ended = withCondition(status, now, { type, reason: bound.reason, message: bound.message });
    return type === "Complete" ? { ...ended, completionTime: timestamp(now) } : ended;
  }
  return status;
}

/** The status with a further condition, which holds unless it states another status. */
function withCondition(
  status: JobStatus,
  now: number,
  stated: Pick<Condition, "type" | "reason" | "message"> & Partial<Condition>,
): JobStatus {
  const time = timestamp(now);
  const condition: Condition = { status: "True", ...stated, lastProbeTime: time, lastTransitionTime: time };
  return { ...status, conditions: [...status.conditions ?? [], condition] };
}

/** Whether the queue has admitted a Job: it runs, or ran before it was paused. */
export function wasAdmitted(job: Job): boolean {
  return !job.spec.suspend || job.status.startTime !== undefined || condition(job, "Failed") !== undefined;
}

export function suspendJob(store: ClusterStore, job: Job, suspend: boolean): void {
  const generation = (job.metadata.generation ?? 1) + 1;
  store.replace("jobs", { ...job, metadata: { ...job.metadata, generation }, spec: { ...job.spec, suspend } });
}

/** Campaigns that a queue lets run concurrently, beside those that are held. */
const MAX_RUNNING_CAMPAIGNS = 3;

/** A queue: admits the oldest of its suspended Jobs that have never run. A held Job leaves its turn to the next one. */
export function admitWaiting(store: ClusterStore, jobs: readonly Job[], isHeld: (job: Job) => boolean): void {
  const running = jobs.filter((job) => !job.spec.suspend && !isHeld(job)).length;
  const waiting = jobs.filter((job) => !wasAdmitted(job))
    .sort((a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp));
  for (const job of waiting.slice(0, Math.max(0, MAX_RUNNING_CAMPAIGNS - running))) suspendJob(store, job, false);
}
