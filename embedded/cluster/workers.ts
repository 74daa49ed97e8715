import { GATE_SECONDS, type Submission } from "./campaign_objects.ts";
import { FAILURES_ANNOTATION, IGNORED_ANNOTATION, INDEX_LABEL } from "./job_controller.ts";
import type { Container } from "./job_spec.ts";
import {
  condition,
  type ContainerState,
  type ContainerStatus,
  isOver,
  isTerminating,
  type Pod,
  type PodStatus,
  postponed,
  timestamp,
} from "./kube_objects.ts";
import {
  altoFile,
  goodPages,
  interimPages,
  logFile,
  manifestFile,
  progressFile,
  type ResultFile,
  viewerFile,
} from "./result_files.ts";
import { type Campaign, samplePipelineOf } from "./sample_campaigns.ts";
import type { ClusterStore } from "./store.ts";
import {
  deadlineEnd,
  drainEnd,
  type End,
  gateEnd,
  type RunState,
  runState,
  type VolumeRun,
  volumeTimeline,
  warmupEnd,
} from "./volume_run.ts";

interface WorkersOptions extends Submission {
  readonly store: ClusterStore;
  readonly seed: number;
  readonly speed: number;
  readonly resultsUrl: string;
  /** The campaign of an indexed pod; null for one without its Job. */
  readonly campaignOf: (pod: Pod) => Campaign | null;
  /** The id of a pod's pipeline; empty where its Job names none. */
  readonly pipelineIdOf: (pod: Pod) => string;
  /** Whether everything that a pod mounts exists. */
  readonly canStart: (pod: Pod) => boolean;
  readonly write: (file: ResultFile) => void;
  /** Whether files have reached the store. */
  readonly hasWritten: (keys: Iterable<string>) => boolean;
}

/** The run log is written at this interval, in seconds, and at the end. */
const LOG_SECONDS = 15;

/** Work of a warm-up for a pipeline that is none of the samples, in seconds. */
const WARMUP_SECONDS = 30;

/** The state of the workers that is stored, as plain JSON. */
export interface WorkersSnapshot {
  /** Pages in the bucket by volume. */
  readonly finished: readonly (readonly [string, readonly number[]])[];
  /** Pages that earlier attempts had left when a running one began, by the uid of its pod. */
  readonly begun: readonly (readonly [string, readonly number[]])[];
}

/** The state of a running worker between two steps. */
interface Memory {
  run: VolumeRun;
  written: RunState | null;
  logged: number;
  /** Its end while the last files are pending: a container ends once they are written. */
  ending: { readonly end: End; readonly at: number; readonly files: ReadonlySet<string> } | null;
}

/**
 * Nodes and their containers: pods are scheduled, wait for their warm-up, work and end, and their workers write results.
 * The state of a pod follows from its start and the clock; only the pages of earlier attempts are stored here.
 */
export class Workers {
  readonly #memories = new Map<string, Memory>();
  readonly #finishedPages = new Map<string, Set<number>>();
  /** The inputs of attempts that the previous process started. */
  readonly #begun = new Map<string, readonly number[]>();
  /** Files of those attempts up to this instant are in the store, in milliseconds. */
  #restoredAt = 0;

  constructor(readonly options: WorkersOptions) {}

  /** Advances one pod to the current time. */
  advance(pod: Pod): void {
    const { store } = this.options;
    const now = store.now();
    const leaves = isTerminating(pod);
    if (isOver(pod)) {
      if (leaves && !pod.metadata.finalizers?.length) this.#remove(pod);
      return;
    }
    // A running worker has to end first.
    const isWorking = pod.status.containerStatuses?.[0].state.running !== undefined && isIndexed(pod);
    if (leaves && !isWorking) return this.#stopIdle(pod);
    if (!pod.status.startTime) {
      if (now > Date.parse(pod.metadata.creationTimestamp) && this.options.canStart(pod)) this.#schedule(pod);
      return;
    }
    const elapsed = this.#worked(Date.parse(pod.status.startTime));
    const late = elapsed >= (pod.spec.activeDeadlineSeconds ?? Infinity);
    const main = pod.status.containerStatuses?.[0];
    if (!main?.state.running) return this.#passGate(pod, late);
    const started = Date.parse(main.state.running.startedAt);
    if (!isIndexed(pod)) return this.#warmUp(pod, this.#worked(started));
    const memory = this.#memoryOf(pod, started);
    if (!memory) return;
    if (memory.ending) return this.#endWhenWritten(pod, memory.ending);
    const state = runState(memory.run, this.#worked(started));
    const end = state.end ?? (late ? deadlineEnd(state.stage) : leaves ? drainEnd(state.stage) : null);
    const files = this.#writeFiles(memory, state, end);
    if (!end) return;
    memory.ending = { end, at: now, files };
    this.#endWhenWritten(pod, memory.ending);
  }

  /** Ends a terminating pod without a running worker. */
  #stopIdle(pod: Pod): void {
    // With finalizers, the controller has to count the pod first.
    if (!pod.metadata.finalizers?.length) this.#remove(pod);
    else this.#update(pod, { phase: "Failed" });
  }

  #remove(pod: Pod): void {
    this.#memories.delete(pod.metadata.uid);
    this.options.store.delete("pods", pod.metadata.namespace ?? "", pod.metadata.name);
  }

  #endWhenWritten(pod: Pod, { end, at, files }: NonNullable<Memory["ending"]>): void {
    if (this.options.hasWritten(files)) this.#end(pod, end, at);
  }

  /** Moves the start of all running pods by some milliseconds: time in which this process did not run is no work. */
  postpone(milliseconds: number): void {
    const { store } = this.options;
    if (milliseconds === 0) return;
    for (const pod of [...store.all("pods")].filter((candidate) => !isOver(candidate))) {
      store.put("pods", postponed(pod, milliseconds));
      const memory = this.#memories.get(pod.metadata.uid);
      if (!memory) continue;
      memory.run = { ...memory.run, startedAt: memory.run.startedAt + milliseconds };
      memory.logged += milliseconds;
    }
  }

  /** Forgets the pages of a volume whose files are removed. */
  forget(namespace: string, pipeline: string, volume: string): void {
    this.#finishedPages.delete(`${namespace}/${pipeline}/${volume}`);
  }

  snapshot(): WorkersSnapshot {
    return {
      finished: [...this.#finishedPages].map(([volume, pages]) => [volume, [...pages]]),
      // Those that were restored and not yet advanced as well: a snapshot may be taken before the first tick.
      begun: [...this.#begun, ...[...this.#memories].map(([uid, { run }]) => [uid, [...run.attempt.kept]] as const)],
    };
  }

  /** Continues with the workers of a snapshot, whose pods and clock the store already has. */
  restore({ finished, begun }: WorkersSnapshot): void {
    this.#finishedPages.clear();
    for (const [volume, pages] of finished) this.#finishedPages.set(volume, new Set(pages));
    this.#begun.clear();
    for (const [uid, pages] of begun) this.#begun.set(uid, pages);
    this.#restoredAt = this.options.store.now();
  }

  #schedule(pod: Pod): void {
    const time = timestamp(this.options.store.now());
    const gate = pod.spec.initContainers?.[0];
    const [main] = pod.spec.containers;
    const status: PodStatus = {
      phase: gate ? "Pending" : "Running",
      startTime: time,
      conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: time }],
      ...(gate && { initContainerStatuses: [containerStatus(gate, { running: { startedAt: time } })] }),
      containerStatuses: [
        containerStatus(main, gate ? { waiting: { reason: "PodInitializing" } } : { running: { startedAt: time } }),
      ],
    };
    const node = `embedded-${Number(pod.metadata.labels?.[INDEX_LABEL] ?? 0) % 2 + 1}`;
    this.options.store.replace("pods", { ...pod, spec: { ...pod.spec, nodeName: node }, status });
  }

  #passGate(pod: Pod, late: boolean): void {
    const { store } = this.options;
    const { namespace = "" } = pod.metadata;
    const [gate] = pod.spec.initContainers ?? [];
    const [main] = pod.spec.containers;
    const startedAt = pod.status.initContainerStatuses?.[0].state.running?.startedAt;
    if (!gate || !startedAt) return;
    const pipeline = this.options.pipelineIdOf(pod);
    const warmup = store.get("jobs", namespace, `warmup-${pipeline}`);
    const time = timestamp(store.now());
    const ended = (exitCode: number, reason: string, message?: string) =>
      containerStatus(gate, { terminated: { exitCode, reason, message, startedAt, finishedAt: time } });
    if (warmup && condition(warmup, "Complete")) {
      return this.#update(pod, {
        phase: "Running",
        initContainerStatuses: [ended(0, "Completed")],
        containerStatuses: [containerStatus(main, { running: { startedAt: time } })],
      });
    }
    const waited = this.#worked(Date.parse(startedAt));
    if (late) {
      this.#update(pod, { phase: "Failed", reason: "DeadlineExceeded", initContainerStatuses: [ended(143, "Error")] });
    } else if (waited >= GATE_SECONDS) {
      const { exitCode, reason, message } = gateEnd(pipeline);
      this.#update(pod, { phase: "Failed", initContainerStatuses: [ended(exitCode, reason, message ?? undefined)] });
    }
  }

  #warmUp(pod: Pod, elapsed: number): void {
    const pipeline = samplePipelineOf(this.options.pipelineIdOf(pod)) ??
      { warmupSeconds: WARMUP_SECONDS, warmupError: null };
    if (pipeline.warmupSeconds <= elapsed) this.#end(pod, warmupEnd(pipeline), this.options.store.now());
  }

  /** Returns the keys of the written files. */
  #writeFiles(memory: Memory, state: RunState, end: End | null): ReadonlySet<string> {
    const { run, written } = memory;
    const { store } = this.options;
    const files = new Set<string>();
    // Without a volume there is no name for its files.
    if (run.volume.trouble?.kind === "config") return files;
    const write = (file: ResultFile) => {
      files.add(file.key);
      this.options.write(file);
    };
    const now = store.now();
    const elapsed = this.#worked(run.startedAt);
    if (state.events > (written?.events ?? 0)) {
      const before = new Set(written ? goodPages(written) : run.attempt.kept);
      const kept = this.#finishedPagesOf(run);
      for (const page of goodPages(state)) {
        kept.add(page);
        if (!before.has(page)) write(altoFile(run, page));
      }
      const interim = interimPages(state);
      if (state.stage === "done" || interim > (written ? interimPages(written) : 0)) write(viewerFile(run, state));
      write(progressFile(run, state, now));
    }
    const killed = end !== null && end.message === null && end.exitCode !== 0;
    if (!killed && (end !== null || now - memory.logged >= LOG_SECONDS * 1000)) {
      write(logFile(run, elapsed));
      memory.logged = now;
    }
    if (end?.exitCode === 0) write(manifestFile(run, state, now));
    memory.written = state;
    return files;
  }

  #end(pod: Pod, end: End, at: number): void {
    const [main] = pod.spec.containers;
    const now = timestamp(at);
    const startedAt = pod.status.containerStatuses?.[0].state.running?.startedAt ?? now;
    const { exitCode, reason, message, podReason, disrupted } = end;
    const terminated = { exitCode, reason, ...(message !== null && { message }), startedAt, finishedAt: now };
    this.#memories.delete(pod.metadata.uid);
    this.#update(pod, {
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      ...(podReason && { reason: podReason }),
      ...(podReason && { message: POD_MESSAGES[podReason] }),
      ...(disrupted && {
        conditions: [...pod.status.conditions ?? [], {
          type: "DisruptionTarget",
          status: "True" as const,
          reason: "TerminationByKubelet",
          lastTransitionTime: now,
        }],
      }),
      containerStatuses: [containerStatus(main, { terminated })],
    });
  }

  #update(pod: Pod, change: Partial<PodStatus>): void {
    this.options.store.replace("pods", { ...pod, status: { ...pod.status, ...change } });
  }

  #memoryOf(pod: Pod, startedAt: number): Memory | null {
    const known = this.#memories.get(pod.metadata.uid);
    if (known) return known;
    this.#dropDeleted();
    const { seed, speed, archiveUrl, resultsUrl } = this.options;
    const { uid, namespace = "", annotations = {} } = pod.metadata;
    const campaign = this.options.campaignOf(pod);
    if (!campaign) return null;
    const volume = campaign.volumes[Number(pod.metadata.labels?.[INDEX_LABEL])];
    const begun = this.#begun.get(uid);
    const attempt = {
      failures: Number(annotations[FAILURES_ANNOTATION] ?? 0),
      evictions: Number(annotations[IGNORED_ANNOTATION] ?? 0),
      retries: 3,
      kept: new Set(begun ?? this.#finishedPages.get(`${namespace}/${campaign.pipeline.id}/${volume.id}`)),
    };
    const inputs = { seed, speed, namespace, archiveUrl, resultsUrl, campaign, volume, attempt, startedAt };
    const run = { ...inputs, timeline: volumeTimeline(inputs) };
    // The process before this one has written what the worker had done until then.
    const written = begun ? runState(run, (this.#restoredAt - startedAt) / 1000 * speed) : null;
    this.#begun.delete(uid);
    const memory: Memory = { run, written, logged: startedAt, ending: null };
    this.#memories.set(uid, memory);
    return memory;
  }

  /** Drops the state of pods that were deleted while they worked. */
  #dropDeleted(): void {
    const alive = new Set([...this.options.store.all("pods")].map((pod) => pod.metadata.uid));
    for (const byUid of [this.#memories, this.#begun]) {
      for (const uid of [...byUid.keys()]) if (!alive.has(uid)) byUid.delete(uid);
    }
  }

  #finishedPagesOf(run: VolumeRun): Set<number> {
    const key = `${run.namespace}/${run.campaign.pipeline.id}/${run.volume.id}`;
    let kept = this.#finishedPages.get(key);
    if (!kept) this.#finishedPages.set(key, kept = new Set());
    return kept;
  }

  /** Seconds of work since an instant. */
  #worked(since: number): number {
    return (this.options.store.now() - since) / 1000 * this.options.speed;
  }
}

/** Whether a pod works on a volume; a warm-up's has no index. */
function isIndexed(pod: Pod): boolean {
  return pod.metadata.labels?.[INDEX_LABEL] !== undefined;
}

const POD_MESSAGES: Readonly<Record<string, string>> = {
  Evicted: "The node was low on resource: ephemeral-storage.",
  DeadlineExceeded: "Pod was active on the node longer than the specified deadline",
};

function containerStatus({ name, image }: Container, state: ContainerState): ContainerStatus {
  const running = state.running !== undefined;
  return { name, image, imageID: image, ready: running, started: running, restartCount: 0, state, lastState: {} };
}
