import type { BatchJob, BatchPod } from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, RECORD_PREFIX, STATUS_SUFFIX } from "@/lib/campaigns/projection/conventions.ts";
import { reapedCampaign } from "@/lib/campaigns/projection/reaped.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/cluster_unavailable.ts";
import type { StreamingConnection } from "@/lib/kubernetes/connection.ts";
import type { FollowOptions } from "@/lib/kubernetes/followed_collection.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { sleep } from "@/lib/std/timing.ts";
import type { CampaignObjects, CampaignSnapshot, CampaignSource } from "./campaign_source.ts";
import { MapDocuments } from "./map_documents.ts";
import { joinedPods, succeededPods } from "./succeeded_pods.ts";
import { WatchedNamespace } from "./watched_namespace.ts";

export interface WatchedCampaignsOptions {
  readonly connection: StreamingConnection;
  readonly conventions: Conventions;
  readonly namespaces: readonly string[];
  /** ms since 1970 */
  readonly now: () => number;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Called with each Job that lacks only the label `managed-by`, possibly many times. */
  readonly unlisted?: (job: BatchJob) => void;
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

/** A source that watches the cluster until it is closed. */
export interface WatchedCampaigns extends CampaignSource {
  /** Resolves when the account may not watch. */
  readonly forbidden: Promise<void>;
  /** Resolves once everything has been listed. */
  readonly listed: Promise<void>;
  /** Ends all watches. */
  close(): Promise<void>;
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
export function watchedCampaigns(options: WatchedCampaignsOptions): WatchedCampaigns {
  return new Watched(options);
}

class Watched implements WatchedCampaigns {
  readonly forbidden: Promise<void>;
  readonly listed: Promise<void>;
  readonly #options: WatchedCampaignsOptions;
  readonly #limits: WatchLimits;
  readonly #stop = new AbortController();
  readonly #namespaces: ReadonlyMap<string, WatchedNamespace>;
  readonly #documents: MapDocuments;
  readonly #running: Promise<unknown>;
  readonly #campaigns = new CountedCache<string, CachedCampaign>("campaigns", { max: MAX_CACHED_CAMPAIGNS });
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

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #follow(namespace: string): WatchedNamespace {
    const { connection, conventions, now, random, unlisted } = this.#options;
    const { watchSeconds, idleMs } = this.#limits;
    return new WatchedNamespace({
      connection,
      conventions,
      namespace,
      now,
      random,
      unlisted,
      watchSeconds,
      idleMs,
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
    const isSame = ({ parts: before }: CachedCampaign) =>
      before.length === parts.length && before.every((part, i) => part === parts[i]);
    const cached = this.#campaigns.getFitting(name, isSame);
    if (cached) return cached.objects;
    const objects = make();
    this.#campaigns.set(name, { parts, objects });
    return objects;
  }
}

interface CachedCampaign {
  readonly parts: readonly unknown[];
  readonly objects: CampaignObjects;
}

const NO_FAILURES: ReadonlyMap<string, string> = new Map();
