import {
  type BatchJob,
  type BatchPod,
  type CampaignRecord,
  readCampaignRecord,
  readUnfinishedPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import {
  type Conventions,
  POD_JOB_LABEL,
  RECORD_PREFIX,
  selectors,
  STATUS_SUFFIX,
} from "@/lib/campaigns/projection/conventions.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { readStatusRecord, reapedCampaign } from "@/lib/campaigns/projection/status_record.ts";
import { indexWarmups, needsPods, type WarmupIndex } from "@/lib/campaigns/projection/summary.ts";
import type { Pipeline } from "@/lib/campaigns/projection/types.ts";
import { configMapsPath, jobsPath, podsPath } from "@/lib/kubernetes/cluster_reads.ts";
import { ClusterUnavailable, type StreamingConnection } from "@/lib/kubernetes/connection.ts";
import { type Followed, FollowedCollection, type FollowedKind, type FollowOptions } from "@/lib/kubernetes/watch.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { sleep } from "@/lib/std/timing.ts";
import { stringAt } from "@/lib/std/untrusted.ts";
import {
  type CampaignObjects,
  type CampaignSnapshot,
  type CampaignSource,
  type CampaignSourceOptions,
  joinedPods,
  type PipelineRecord,
  readJobOf,
  succeededPods,
} from "./campaign_source.ts";
import { MapDocuments, pipelineRecord, withoutFailures } from "./map_documents.ts";

export interface WatchedCampaignsOptions extends CampaignSourceOptions {
  readonly connection: StreamingConnection;
  /** 0 up to 1. */
  readonly random: () => number;
  readonly limits?: Partial<WatchLimits>;
}

export interface WatchLimits extends Pick<FollowOptions, "watchSeconds" | "idleMs"> {
  /** How long a caller waits for the first lists, ms. */
  readonly waitTimeoutMs: number;
  /** Cache budget of volume lists, of pipeline documents and of failures, each, bytes. */
  readonly documentBytes: number;
  /** The shortest time between two snapshots, ms. */
  readonly snapshotMs: number;
}

/** Data that has not been known to be current for this long is no longer returned, ms. */
export const MAX_AGE_MS = 300_000;

/** Watches are so short that unchanged data is confirmed twice within half a minute. */
const LIMITS: WatchLimits = {
  watchSeconds: 14,
  idleMs: 3_000,
  waitTimeoutMs: 10_000,
  documentBytes: 48 * 1024 * 1024,
  snapshotMs: 100,
};
/** Campaigns whose detail objects are cached. */
const MAX_CACHED_CAMPAIGNS = 64;

/**
 * Campaigns of a watched cluster: a list needs no read, and a detail only those of documents that are not cached. For an
 * account that may watch Jobs, pods and ConfigMaps.
 */
export class WatchedCampaigns implements CampaignSource {
  /** Resolves when the account may not watch. */
  readonly forbidden: Promise<void>;
  /** Resolves once everything has been listed. */
  readonly listed: Promise<void>;
  readonly #options: WatchedCampaignsOptions;
  readonly #limits: WatchLimits;
  readonly #stop = new AbortController();
  readonly #namespaces: ReadonlyMap<string, WatchedNamespace>;
  readonly #documents: MapDocuments;
  readonly #running: Promise<unknown>;
  readonly #campaigns = new CountedCache<string, { parts: readonly unknown[]; objects: CampaignObjects }>("campaigns", {
    max: MAX_CACHED_CAMPAIGNS,
  });
  readonly #succeeded = new WeakMap<BatchJob, Promise<readonly BatchPod[]>>();
  #snapshot: CampaignSnapshot | null = null;
  #snapshotAt = -Infinity;
  #isChanged = true;

  constructor(options: WatchedCampaignsOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#documents = new MapDocuments(options, this.#limits.documentBytes);
    this.#namespaces = new Map(options.namespaces.map((namespace) => [namespace, this.#follow(namespace)]));
    const collections = [...this.#namespaces.values()].flatMap(({ collections }) => collections);
    this.listed = Promise.all(collections.map(({ listed }) => listed)).then(() => {});
    this.forbidden = Promise.race(collections.map(({ forbidden }) => forbidden));
    this.#running = Promise.all(collections.map((collection) => collection.run()));
  }

  age(): number | null {
    let oldest = Infinity;
    for (const { collections } of this.#namespaces.values()) {
      for (const { currentAt } of collections) {
        if (currentAt === null) return null;
        oldest = Math.min(oldest, currentAt);
      }
    }
    return Math.max(0, this.#options.now() - oldest);
  }

  lastKnown(): number | "failed" {
    return this.age() ?? "failed";
  }

  async list(): Promise<CampaignSnapshot> {
    await this.#readable();
    const now = this.#options.now();
    if (!this.#snapshot || (this.#isChanged && now - this.#snapshotAt >= this.#limits.snapshotMs)) {
      this.#isChanged = false;
      this.#snapshotAt = now;
      this.#snapshot = this.#takeSnapshot();
    }
    return this.#snapshot;
  }

  async campaign(namespace: string, name: string): Promise<CampaignObjects | null> {
    await this.#readable();
    const watched = this.#namespaces.get(namespace);
    if (!watched) return null;
    const job = watched.jobs.get(name);
    return job ? await this.#live(watched, job) : await this.#reaped(watched, namespace, name);
  }

  async pods(namespace: string, job: string) {
    await this.#readable();
    return this.#namespaces.get(namespace)?.podsOf(job) ?? [];
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #follow(namespace: string): WatchedNamespace {
    return new WatchedNamespace({
      ...this.#options,
      ...this.#limits,
      namespace,
      sleep,
      signal: this.#stop.signal,
      listChanged: () => this.#isChanged = true,
      pipelineSeen: (configMap, version, pipeline) =>
        this.#documents.keepPipeline(namespace, configMap, version, pipeline),
    });
  }

  /** Waits for the first lists. @throws ClusterUnavailable when they do not arrive, or the data is too old */
  async #readable(): Promise<void> {
    if (this.age() === null) await this.#firstLists();
    const age = this.age();
    if (age === null || age > MAX_AGE_MS) throw new ClusterUnavailable("the cluster could not be followed");
  }

  async #firstLists(): Promise<void> {
    const waiting = new AbortController();
    const signal = AbortSignal.any([waiting.signal, this.#stop.signal]);
    await Promise.race([this.listed, sleep(this.#limits.waitTimeoutMs, signal)]);
    waiting.abort();
  }

  #takeSnapshot(): CampaignSnapshot {
    const all = [...this.#namespaces.values()];
    return {
      jobs: all.flatMap(({ jobs }) => jobs.values()),
      warmups: all.flatMap(({ warmups }) => warmups.values()),
      records: all.flatMap(({ records }) => records.values()),
      statuses: all.flatMap(({ statuses }) => statuses.values().map(({ record }) => record)),
      pipelines: all.flatMap(({ pipelines }) => pipelines.values()),
    };
  }

  async #live(watched: WatchedNamespace, job: BatchJob): Promise<CampaignObjects> {
    const { namespace, volumesConfigMap, pipelineConfigMap } = job;
    const [volumes, pipeline, succeeded] = await Promise.all([
      this.#documents.volumes(namespace, volumesConfigMap, watched.records),
      this.#documents.pipeline(namespace, pipelineConfigMap, watched.pipelines),
      this.#succeededPods(job),
    ]);
    const pods = watched.podsOf(job.name);
    const warmup = watched.warmup(job.pipeline);
    return this.#cachedCampaign(`${namespace}/${job.name}`, [job, volumes, pods, succeeded, pipeline, warmup], () => {
      return { kind: "live", job, volumes, pods: joinedPods(pods, succeeded), pipeline, warmup };
    });
  }

  /** Read once for each state of a Job: an ended one changes rarely, and its succeeded pods only disappear. */
  #succeededPods(job: BatchJob): Promise<readonly BatchPod[]> {
    const read = this.#succeeded.get(job) ?? succeededPods(this.#options.connection, job);
    this.#succeeded.set(job, read);
    read.catch(() => this.#succeeded.delete(job));
    return read;
  }

  async #reaped(watched: WatchedNamespace, namespace: string, name: string): Promise<CampaignObjects | null> {
    const recordMap = RECORD_PREFIX + name;
    const statusMap = recordMap + STATUS_SUFFIX;
    const status = watched.statuses.get(statusMap);
    const campaign = reapedCampaign(watched.records.get(recordMap) ?? null, status?.record ?? null);
    if (!campaign || !status) return null;
    const { pipeline: id } = campaign.record;
    const [volumes, pipeline, failures] = await Promise.all([
      this.#documents.volumes(namespace, recordMap, watched.records),
      this.#documents.pipeline(namespace, id && this.#options.conventions.pipelinePrefix + id, watched.pipelines),
      status.namesFailures ? this.#documents.failures(namespace, statusMap, watched.statuses) : NO_FAILURES,
    ]);
    const warmup = watched.warmup(id);
    const parts = [campaign.record, campaign.status, volumes, pipeline, failures, warmup];
    return this.#cachedCampaign(`${namespace}/${name}`, parts, () => {
      const withFailures = { ...campaign, status: { ...campaign.status, failures } };
      return { kind: "reaped", campaign: withFailures, volumes, pipeline, warmup };
    });
  }

  /** The cached objects where the parts are the same: callers cache results by the identity of the objects. */
  #cachedCampaign(name: string, parts: readonly unknown[], make: () => CampaignObjects): CampaignObjects {
    const cached = this.#campaigns.getFitting(
      name,
      ({ parts: before }) => before.length === parts.length && before.every((part, i) => part === parts[i]),
    );
    if (cached) return cached.objects;
    const objects = make();
    this.#campaigns.set(name, { parts, objects });
    return objects;
  }
}

const NO_FAILURES: ReadonlyMap<string, string> = new Map();

/** A status record without its failures, and whether it has any. */
type WatchedStatus = NonNullable<ReturnType<typeof watchedStatus>>;

interface NamespaceOptions extends FollowOptions, Omit<CampaignSourceOptions, "connection" | "namespaces"> {
  readonly connection: StreamingConnection;
  readonly namespace: string;
  /** Called when something changed that a list of campaigns shows. */
  readonly listChanged: () => void;
  /** Called with each pipeline document of a list or watch event. */
  readonly pipelineSeen: (configMap: string, version: string, pipeline: Pipeline) => void;
}

/** Objects of one page: few, because parsing of Jobs and pods delays concurrent requests. */
const PAGE_SIZE = 50;
const METADATA_PAGE_SIZE = 500;

const NO_PODS: readonly BatchPod[] = [];

/** The watched campaign objects of one namespace, reduced to what the projection reads. */
class WatchedNamespace {
  readonly jobs: FollowedCollection<BatchJob>;
  readonly warmups: FollowedCollection<BatchJob>;
  readonly pods: FollowedCollection<BatchPod>;
  /** By the name of the ConfigMap. */
  readonly records: FollowedCollection<CampaignRecord>;
  readonly statuses: FollowedCollection<WatchedStatus>;
  readonly pipelines: FollowedCollection<PipelineRecord>;
  readonly #namespace: string;
  readonly #podsByJob = new Map<string, Map<string, BatchPod>>();
  readonly #podLists = new Map<string, readonly BatchPod[]>();
  #warmupIndex: WarmupIndex | null = null;

  constructor(options: NamespaceOptions) {
    const { connection, conventions, namespace, listChanged } = options;
    this.#namespace = namespace;
    const selector = selectors(conventions);
    const follow = <T extends object>(kind: FollowedKind<T>) => new FollowedCollection(connection, kind, options);
    const jobs = (labelSelector: string, kind: BatchJob["kind"], changed: () => void) =>
      follow<BatchJob>({
        path: jobsPath(namespace),
        labelSelector,
        pageSize: PAGE_SIZE,
        trim: (object) => readJobOf(kind, object, options),
        changed,
      });
    const maps = { path: configMapsPath(namespace), changed: listChanged };
    this.jobs = jobs(selector.campaignJobs, "campaign", listChanged);
    this.warmups = jobs(selector.warmupJobs, "warmup", () => {
      this.#warmupIndex = null;
      listChanged();
    });
    this.pods = follow<BatchPod>({
      path: podsPath(namespace),
      labelSelector: POD_JOB_LABEL,
      fieldSelector: "status.phase!=Succeeded",
      pageSize: PAGE_SIZE,
      trim: readUnfinishedPod,
      changed: (before, after) => this.#podChanged(before, after, listChanged),
    });
    this.records = follow<CampaignRecord>({
      ...maps,
      labelSelector: selector.records,
      metadataOnly: true,
      pageSize: METADATA_PAGE_SIZE,
      trim: (object) => readCampaignRecord(object, conventions),
    });
    this.statuses = follow<WatchedStatus>({
      ...maps,
      labelSelector: selector.statusRecords,
      pageSize: PAGE_SIZE,
      trim: (object) => watchedStatus(object, conventions),
    });
    this.pipelines = follow<PipelineRecord>({
      ...maps,
      labelSelector: selector.pipelines,
      pageSize: PAGE_SIZE,
      trim: (object) => watchedPipeline(object, options),
    });
  }

  get collections(): readonly Followed[] {
    return [this.jobs, this.warmups, this.pods, this.records, this.statuses, this.pipelines];
  }

  /** The warm-up of a pipeline; the same object until it changes. */
  warmup(pipeline: string): BatchJob | null {
    this.#warmupIndex ??= indexWarmups(this.warmups.values());
    return this.#warmupIndex.find(this.#namespace, pipeline);
  }

  /** The pods of a Job in the order of their names; the same array until one changes. */
  podsOf(job: string): readonly BatchPod[] {
    const cached = this.#podLists.get(job);
    if (cached) return cached;
    const byName = this.#podsByJob.get(job);
    if (!byName) return NO_PODS;
    const pods = [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1);
    this.#podLists.set(job, pods);
    return pods;
  }

  #podChanged(before: BatchPod | undefined, after: BatchPod | undefined, listChanged: () => void): void {
    for (const pod of [before, after]) {
      if (!pod || pod.job === null) continue;
      const pods = this.#podsByJob.get(pod.job) ?? new Map<string, BatchPod>();
      if (pod === before) pods.delete(pod.name);
      else pods.set(pod.name, pod);
      if (pods.size === 0) this.#podsByJob.delete(pod.job);
      else this.#podsByJob.set(pod.job, pods);
      this.#podLists.delete(pod.job);
    }
    // A list shows no pods but why a warm-up failed or does not start.
    const warmup = this.warmups.get((after ?? before)?.job ?? "");
    if (warmup && needsPods(warmup)) listChanged();
  }
}

function watchedStatus(object: unknown, conventions: Conventions) {
  const record = readStatusRecord(withoutFailures(object), conventions);
  const failures = stringAt(object, "data", "failedVolumes") ?? "";
  return record && { record, namesFailures: failures !== "" && failures !== "[]" };
}

function watchedPipeline(object: unknown, { conventions, pipelineSeen }: NamespaceOptions): PipelineRecord | null {
  const name = stringAt(object, "metadata", "name");
  if (!name) return null;
  const pipeline = readPipeline(object);
  pipelineSeen(name, stringAt(object, "metadata", "resourceVersion") ?? "", pipeline);
  return pipelineRecord(object, conventions, () => pipeline.scoresQuality);
}
