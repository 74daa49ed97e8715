import { seededRandom, volumeFinder } from "@/embedded/archive/catalogue.ts";
import { endingRecord, failuresRecord, labelKeys, type Submission } from "./campaign_objects.ts";
import { admitWaiting, expiresAt, reapJob, reconcileJob, suspendJob, wasAdmitted } from "./job_controller.ts";
import { endedAt, type Job, type KubeObject, type Pod } from "./kube_objects.ts";
import { type Lane, Outbox, type ResultsWriter } from "./outbox.ts";
import type { ResultFile } from "./result_files.ts";
import { type Campaign, type SampleCampaign, sampleCampaigns, sampleVolumes } from "./sample_campaigns.ts";
import { SampleWorld, type SampleWorldSnapshot } from "./sample_world.ts";
import { ClusterStore, type StoreSnapshot } from "./store.ts";
import { isCampaignJob, missingMaps, SubmittedCampaigns } from "./submitted_campaign.ts";
import { Workers, type WorkersSnapshot } from "./workers.ts";
import { applyByForce } from "./writes.ts";

export interface SimulatorOptions extends Submission {
  readonly seed: number;
  /** Seconds of work done in one second; calendar time (TTL, timestamps) is not changed by it. */
  readonly speed: number;
  /** The instant of the start, in milliseconds; also what "ago" in the samples counts from. */
  readonly now: number;
  /** Base of the result URLs in the files, without a trailing slash. */
  readonly resultsUrl: string;
  readonly writer: ResultsWriter;
  /** The snapshot of an earlier simulator with the same seed; without it, the past of the samples is simulated. */
  readonly restored?: SimulatorSnapshot;
}

/** The persistent state of a simulator, as plain JSON. */
export interface SimulatorSnapshot {
  readonly seed: number;
  /** The instant of the snapshot, in milliseconds. */
  readonly clock: number;
  readonly store: StoreSnapshot;
  readonly samples: SampleWorldSnapshot;
  readonly workers: WorkersSnapshot;
}

/** Time advances in quanta of this many milliseconds, so that the size of steps does not matter. */
const QUANTUM_MS = 1000;
const QUEUE_LABEL = "kueue.x-k8s.io/queue-name";
/** Real time between two ticks, ms. */
const TICK_MS = 1000;
/** After a restart, or a suspension of the process, at most this much time is simulated, ms. */
const MAX_CATCH_UP_MS = 60_000;

/**
 * Simulates the queue, the Job controller, nodes, workers and the submission tool on one clock, which advances only by
 * `step` or `run`. The same options and steps give the same objects and files.
 */
export class Simulator {
  readonly store: ClusterStore;
  readonly #world: SampleWorld;
  readonly #workers: Workers;
  readonly #submitted: SubmittedCampaigns;
  /** The result files that are not written yet. */
  readonly outbox: Outbox;
  #clock: number;
  #remainder = 0;
  #isPast = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** The uids of the objects whose faults were logged. */
  readonly #faulty = new Set<string>();

  constructor(private readonly options: SimulatorOptions) {
    this.#clock = wholeSeconds(options.now);
    const { seed, namespace, conventions, archiveUrl } = options;
    this.store = new ClusterStore(() => this.#clock, seededRandom("uid", seed));
    this.outbox = new Outbox(options.writer);
    const write = (file: ResultFile) => this.outbox.push(file, this.#laneOf(file));
    // The past is simulated before its files can be written, so they count as written.
    const hasWritten = (keys: Iterable<string>) => this.#isPast || this.outbox.hasWritten(keys);
    const sources = { conventions, archiveUrl, findVolume: volumeFinder(seed, sampleVolumes(seed)) };
    this.#submitted = new SubmittedCampaigns(this.store, sources);
    const campaignOf = (pod: Pod): Campaign | null => {
      const job = this.#jobOf(pod);
      return job && (this.#sampleOf(job) ?? this.#submitted.campaignOf(job));
    };
    const canStart = (pod: Pod) => {
      const job = this.#jobOf(pod);
      return job !== null && (this.#sampleOf(job) !== undefined || missingMaps(this.store, job).length === 0);
    };
    const pipelineIdOf = (pod: Pod) => this.#jobOf(pod)?.metadata.labels?.[labelKeys(conventions).pipeline] ?? "";
    const works = { campaignOf, pipelineIdOf, canStart, write, hasWritten };
    this.#workers = new Workers({ ...options, ...works, store: this.store });
    const removed = (pipeline: string, volume: string) => this.#workers.forget(namespace, pipeline, volume);
    this.#world = new SampleWorld({ ...options, store: this.store, outbox: this.outbox, removed });
    if (options.restored && options.restored.seed === options.seed) this.#restore(options.restored);
    else this.#simulatePast();
  }

  /** Advances the clock and writes all pending files. Rejects when the writer does. */
  async step(milliseconds: number): Promise<void> {
    let left = milliseconds;
    do {
      this.#advance(Math.min(left, QUANTUM_MS));
      await this.outbox.drain();
      left -= QUANTUM_MS;
    } while (left > 0);
  }

  /** Follows the real clock until `stop`. `onWriteError` is called at the first of several failed writes; they are retried. */
  run(onWriteError: (error: unknown) => void, realNow: () => number = Date.now): void {
    if (this.#timer !== null) return;
    let last = realNow();
    let isFailing = false;
    let writing = false;
    const tick = () => {
      const real = realNow();
      this.#skip(Math.max(0, real - last - MAX_CATCH_UP_MS));
      this.#advance(Math.min(Math.max(0, real - last), MAX_CATCH_UP_MS));
      last = real;
      if (!writing) {
        writing = true;
        this.outbox.drain().then(() => isFailing = false, (error) => {
          if (!isFailing) onWriteError(error);
          isFailing = true;
        }).finally(() => writing = false);
      }
      this.#timer = setTimeout(tick, TICK_MS);
    };
    this.#timer = setTimeout(tick, 0);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  snapshot(): SimulatorSnapshot {
    return {
      seed: this.options.seed,
      clock: this.#clock,
      store: this.store.snapshot(),
      samples: this.#world.snapshot(),
      workers: this.#workers.snapshot(),
    };
  }

  #advance(milliseconds: number): void {
    this.#remainder += milliseconds;
    while (this.#remainder >= QUANTUM_MS) {
      this.#remainder -= QUANTUM_MS;
      this.#clock += QUANTUM_MS;
      this.#tick();
    }
  }

  /** Skips time without work, as if the whole cluster had slept: running pods continue afterwards. */
  #skip(milliseconds: number): void {
    const whole = wholeSeconds(milliseconds);
    if (whole === 0) return;
    this.#clock += whole;
    this.#workers.postpone(whole);
  }

  #tick(): void {
    const { store } = this;
    const { seed, speed } = this.options;
    for (const pod of [...store.all("pods")]) this.#isolate(pod, () => this.#workers.advance(pod));
    const pods = Map.groupBy(store.all("pods"), ({ metadata }) => metadata.ownerReferences?.[0]?.uid ?? "");
    const jobs = store.list("jobs");
    const working = jobs.filter((job) => endedAt(job) === null);
    this.#submitted.retain(new Set(working.map(({ metadata }) => metadata.uid)));
    for (const job of jobs) {
      this.#isolate(job, () => {
        if (endedAt(job) !== null) return reapJob(store, job);
        reconcileJob(store, job, pods.get(job.metadata.uid) ?? [], { seed, speed });
        this.#recordEnding(job, pods.get(job.metadata.uid) ?? []);
      });
    }
    if (!this.#isPast) this.#world.advance();
    this.#world.admit();
    this.#admitSubmitted();
  }

  /** Advances one object. An error is logged once for each object, so that it never ends the cluster. */
  #isolate({ kind, metadata: { namespace, name, uid } }: KubeObject, advance: () => void): void {
    try {
      advance();
    } catch (error) {
      if (this.#faulty.has(uid)) return;
      this.#faulty.add(uid);
      const message = error instanceof Error ? error.message : error;
      console.error(`embedded cluster: the ${kind} ${namespace}/${name} does not advance: ${message}`);
    }
  }

  /** The queue of submitted campaigns: of the Jobs that name one. */
  #admitSubmitted(): void {
    const jobs = [...this.store.all("jobs")].filter((job) =>
      isCampaignJob(job, this.options.conventions) && endedAt(job) === null && job.metadata.labels?.[QUEUE_LABEL] &&
      this.#sampleOf(job) === undefined
    );
    admitWaiting(this.store, jobs, () => false);
  }

  #jobOf(pod: Pod): Job | null {
    const [owner] = pod.metadata.ownerReferences ?? [];
    const job = owner && this.store.get("jobs", pod.metadata.namespace ?? "", owner.name);
    return job?.metadata.uid === owner?.uid ? job ?? null : null;
  }

  /** The sample of a Job; undefined for one that a client submitted. */
  #sampleOf({ metadata }: Job): SampleCampaign | undefined {
    return metadata.namespace === this.options.namespace
      ? this.#world.campaignOf(metadata.name, metadata.uid)
      : undefined;
  }

  #recordEnding(before: Job, pods: readonly Pod[]): void {
    const { namespace = "", name } = before.metadata;
    const job = this.store.get("jobs", namespace, name);
    const campaign = job && this.#sampleOf(job);
    if (!job || !campaign || endedAt(job) === null) return;
    const { conventions, resultsUrl } = this.options;
    applyByForce(this.store, endingRecord(job, campaign, conventions, resultsUrl), conventions.applyManager);
    if (!campaign.failuresRecorded) return;
    applyByForce(this.store, failuresRecord(job, campaign, pods), conventions.failuresManager);
  }

  /** Simulates the past of the samples up to the start, in large steps while nothing runs. */
  #simulatePast(): void {
    const { seed, speed } = this.options;
    const start = this.#clock;
    const events = sampleCampaigns(seed).flatMap((campaign) => {
      const { submitted, pausedAfter } = campaign;
      const ago = "work" in submitted ? submitted.work / speed : submitted.calendar;
      const at = wholeSeconds(start - ago * 1000);
      const submission = { at, act: () => this.#world.submit(campaign) };
      if (pausedAfter === null) return [submission];
      const pause = () => {
        const job = this.store.get("jobs", this.options.namespace, campaign.name);
        if (job) suspendJob(this.store, job, true);
      };
      return [submission, { at: wholeSeconds(at + pausedAfter * 1000 / speed), act: pause }];
    }).sort((a, b) => a.at - b.at);
    this.#isPast = true;
    this.#clock = Math.min(start, events[0]?.at ?? start);
    for (const name of new Set(["default", this.options.namespace])) {
      this.store.create("namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      });
    }
    while (true) {
      while (events.length > 0 && events[0].at <= this.#clock) events.shift()?.act();
      this.#tick();
      if (this.#clock >= start) break;
      const next = this.#works() ? this.#clock + QUANTUM_MS : this.#nextEvent(events[0]?.at ?? start);
      this.#clock = Math.min(start, next);
    }
    this.#isPast = false;
  }

  #works(): boolean {
    for (const job of this.store.all("jobs")) {
      if (endedAt(job) !== null) continue;
      const leaving = job.status.active || job.status.terminating;
      if (!job.spec.suspend || !wasAdmitted(job) || leaving) return true;
    }
    return false;
  }

  #nextEvent(scripted: number): number {
    const expiries = [...this.store.all("jobs")].map((job) => expiresAt(job) ?? Infinity);
    return Math.max(this.#clock + QUANTUM_MS, wholeSeconds(Math.min(scripted, ...expiries)));
  }

  /** Continues from a snapshot: the last minute is simulated, the time before it counts as no work. */
  #restore(snapshot: SimulatorSnapshot): void {
    const now = this.#clock;
    const lead = Math.min(Math.max(0, now - snapshot.clock), MAX_CATCH_UP_MS);
    this.store.restore(snapshot.store);
    this.#world.restore(snapshot.samples);
    this.#clock = now - lead;
    this.#workers.postpone(this.#clock - snapshot.clock);
    this.#workers.restore(snapshot.workers);
    this.#advance(lead);
  }

  #laneOf(file: ResultFile): Lane {
    if (!this.#isPast) return "live";
    return file.key.endsWith("/progress.json") ? "states" : "rest";
  }
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}
