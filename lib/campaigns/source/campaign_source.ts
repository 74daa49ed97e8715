import {
  type BatchJob,
  type BatchPod,
  type CampaignRecord,
  isEnding,
  readPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import {
  type Conventions,
  POD_JOB_LABEL,
  RECORD_PREFIX,
  STATUS_SUFFIX,
} from "@/lib/campaigns/projection/conventions.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import {
  readStatusRecord,
  type ReapedCampaign,
  reapedCampaign,
  type StatusRecord,
} from "@/lib/campaigns/projection/status_record.ts";
import { NO_PIPELINE, type Pipeline } from "@/lib/campaigns/projection/types.ts";
import { NO_VOLUMES, readVolumes, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { listAll, podsPath } from "@/lib/kubernetes/cluster_reads.ts";
import {
  type ClusterConnection,
  clusterReachable,
  ClusterUnavailable,
  type StreamingConnection,
} from "@/lib/kubernetes/connection.ts";
import type { FollowOptions } from "@/lib/kubernetes/watch.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { compareText } from "@/lib/std/text.ts";
import { sleep } from "@/lib/std/timing.ts";
import { stringAt } from "@/lib/std/untrusted.ts";
import { CampaignNamespace, type PipelineRecord, unlistedJobs } from "./campaign_namespace.ts";
import { MapDocuments } from "./map_documents.ts";

/**
 * The campaign objects of the served namespaces, reduced to what the projection reads. `list` and
 * `campaign` throw `ClusterUnavailable` when the cluster cannot be read. Returned objects are shared between callers and immutable.
 */
export interface CampaignSource {
  /** The objects of a list of all campaigns; the same snapshot until something in it may have changed. */
  list(): Promise<CampaignSnapshot>;

  /** The objects of one campaign's detail; null when neither a Job nor a record of that name is a campaign. */
  campaign(namespace: string, name: string): Promise<CampaignObjects | null>;

  /** The pods of a Job that have not succeeded, as of the last call of another method. Never throws. */
  pods(namespace: string, job: string): readonly BatchPod[];

  /**
   * The age of the returned data, ms: the time since it was last known to be current. 0 where the cluster is listed for each
   * request, null before the first list.
   */
  age(): number | null;

  /** For metrics: the same, but the time since the last list where the cluster is listed and that failed. */
  lastKnown(): number | null;
}

/** Data that is older is shown with a warning, ms. */
export const STALE_MS = 30_000;

export interface CampaignSnapshot {
  /** Campaign Jobs only. */
  readonly jobs: readonly BatchJob[];
  readonly warmups: readonly BatchJob[];
  readonly records: readonly CampaignRecord[];
  /** Without their failures. */
  readonly statuses: readonly StatusRecord[];
  readonly pipelines: readonly PipelineRecord[];
}

interface AnyCampaign {
  readonly volumes: VolumeList;
  readonly pipeline: Pipeline;
  readonly warmup: BatchJob | null;
}

export type CampaignObjects =
  | AnyCampaign & { readonly kind: "live"; readonly job: BatchJob; readonly pods: readonly BatchPod[] }
  /** The Job is gone; its record and status record exist. */
  | AnyCampaign & { readonly kind: "reaped"; readonly campaign: ReapedCampaign };

interface ClusterCampaignsOptions {
  readonly connection: StreamingConnection;
  readonly conventions: Conventions;
  readonly namespaces: readonly string[];
  /** ms since 1970 */
  readonly now: () => number;
  /** 0 up to 1. */
  readonly random: () => number;
  readonly log: RequestLog;
  /** Called when the account may not watch and the cluster is listed instead. */
  readonly watchRefused: () => void;
  /** Called when a forbidden watch is allowed later, and the cluster is watched from then on. */
  readonly watchAllowed: () => void;
  readonly limits?: Partial<SourceLimits>;
}

export interface SourceLimits extends Pick<FollowOptions, "watchSeconds" | "idleMs"> {
  /** How long a caller waits for the first lists, ms. */
  readonly waitTimeoutMs: number;
  /** Cache budget of volume lists, of pipeline documents and of failures, each, bytes. */
  readonly documentBytes: number;
  /** The shortest time between two snapshots, ms. */
  readonly snapshotMs: number;
  /** Until a forbidden watch is tried again, ms. */
  readonly watchAgainMs: number;
}

/** Watched data that has not been known to be current for this long is no longer returned, ms. */
export const MAX_AGE_MS = 300_000;
/** While the account may not watch, requests within this time share one list of the cluster, ms. */
export const SHARED_LIST_MS = 2_000;

/** Watches are so short that unchanged data is confirmed twice within half a minute. */
const LIMITS: SourceLimits = {
  watchSeconds: 14,
  idleMs: 3_000,
  waitTimeoutMs: 10_000,
  documentBytes: 48 * 1024 * 1024,
  snapshotMs: 100,
  // Permissions change rarely, and a trial lists everything.
  watchAgainMs: 300_000,
};
/** Campaigns whose detail objects are cached. */
const MAX_CACHED_CAMPAIGNS = 64;

/**
 * The campaigns of a cluster. They are watched, so that a list needs no read and a detail only those of documents that are
 * not cached; while the account may not watch, requests list the cluster.
 */
export class ClusterCampaigns implements CampaignSource {
  readonly #limits: SourceLimits;
  readonly #stop = new AbortController();
  readonly #namespaces: ReadonlyMap<string, CampaignNamespace>;
  readonly #collections: CampaignNamespace["collections"];
  readonly #volumes: MapDocuments<VolumeList>;
  readonly #pipelines: MapDocuments<Pipeline>;
  readonly #failures: MapDocuments<ReadonlyMap<string, string>>;
  readonly #running: Promise<void>;
  readonly #campaigns = new CountedCache<string, { parts: readonly unknown[]; objects: CampaignObjects }>("campaigns", {
    max: MAX_CACHED_CAMPAIGNS,
  });
  readonly #succeeded = new WeakMap<BatchJob, Promise<readonly BatchPod[]>>();
  /** Aborts the present watches. */
  #watches = new AbortController();
  #mayWatch = true;
  /** Whether the last list for a request failed. */
  #hasFailed = false;
  #snapshot: CampaignSnapshot | null = null;
  #snapshotAt = -Infinity;
  #isChanged = true;

  constructor(private readonly options: ClusterCampaignsOptions) {
    this.#limits = { ...LIMITS, ...options.limits };
    const cached = { ...options, ...this.#limits };
    const { conventions } = options;
    this.#volumes = new MapDocuments("volume_lists", { ...cached, parse: volumesOf, sizeOf: ({ size }) => size });
    this.#pipelines = new MapDocuments("pipelines", { ...cached, parse: readPipeline, sizeOf: sizeOfPipeline });
    this.#failures = new MapDocuments("campaign_failures", {
      ...cached,
      parse: (map) => readStatusRecord(map, conventions)?.failures ?? NO_FAILURES,
      sizeOf: sizeOfFailures,
    });
    const unlisted = unlistedJobs(options.log, conventions);
    this.#namespaces = new Map(options.namespaces.map((namespace) => [
      namespace,
      new CampaignNamespace({
        ...cached,
        namespace,
        sleep,
        signal: this.#stop.signal,
        unlisted,
        listChanged: () => this.#isChanged = true,
        pipelineSeen: (configMap, version, pipeline) => this.#pipelines.put(namespace, configMap, version, pipeline),
      }),
    ]));
    this.#collections = [...this.#namespaces.values()].flatMap(({ collections }) => collections);
    this.#running = this.#run();
  }

  age(): number | null {
    return this.#mayWatch ? this.#ageOfData() : 0;
  }

  lastKnown(): number | null {
    return this.#mayWatch || this.#hasFailed ? this.#ageOfData() : 0;
  }

  /** Whether the cluster responds and the data is current, for the readiness probe. Never throws. */
  async ready(): Promise<boolean> {
    if (!this.#mayWatch) return await clusterReachable(this.options.connection);
    const age = this.age();
    return age !== null && age <= STALE_MS;
  }

  async list(): Promise<CampaignSnapshot> {
    await this.#readable();
    const now = this.options.now();
    if (!this.#snapshot || (this.#isChanged && now - this.#snapshotAt >= this.#limits.snapshotMs)) {
      this.#isChanged = false;
      this.#snapshotAt = now;
      this.#snapshot = this.#takeSnapshot();
    }
    return this.#snapshot;
  }

  async campaign(namespace: string, name: string): Promise<CampaignObjects | null> {
    await this.#readable();
    const objects = this.#namespaces.get(namespace);
    if (!objects) return null;
    const job = objects.jobs.get(name);
    return job ? await this.#live(objects, job) : await this.#reaped(objects, namespace, name);
  }

  pods(namespace: string, job: string): readonly BatchPod[] {
    return this.#namespaces.get(namespace)?.podsOf(job) ?? [];
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Watches until the account may not, then tries now and then whether it may again. */
  async #run(): Promise<void> {
    const { watchRefused, watchAllowed } = this.options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#watches = new AbortController();
      const either = AbortSignal.any([signal, this.#watches.signal]);
      const following = this.#collections.map((collection) => collection.follow(either));
      await Promise.race(following);
      if (!signal.aborted) {
        this.#mayWatch = false;
        this.#watches.abort();
        watchRefused();
      }
      await Promise.all(following);
      do await sleep(this.#limits.watchAgainMs, signal); while (!signal.aborted && !(await this.#isAllowed()));
      if (signal.aborted) return;
      this.#mayWatch = true;
      watchAllowed();
    }
  }

  async #isAllowed(): Promise<boolean> {
    return (await Promise.all(this.#collections.map((collection) => collection.mayWatch()))).every(Boolean);
  }

  #ageOfData(): number | null {
    let oldest = Infinity;
    for (const { currentAt } of this.#collections) {
      if (currentAt === null) return null;
      oldest = Math.min(oldest, currentAt);
    }
    return Math.max(0, this.options.now() - oldest);
  }

  /** Waits for the first lists, or lists. @throws ClusterUnavailable when that fails, or the data is too old */
  async #readable(): Promise<void> {
    if (this.#mayWatch && this.#ageOfData() === null) await this.#firstLists();
    if (!this.#mayWatch) return await this.#refresh();
    const age = this.#ageOfData();
    if (age === null || age > MAX_AGE_MS) throw new ClusterUnavailable("the cluster could not be followed");
  }

  async #firstLists(): Promise<void> {
    const waiting = new AbortController();
    const signal = AbortSignal.any([waiting.signal, this.#watches.signal, this.#stop.signal]);
    const lists = Promise.all(this.#collections.map(({ listed }) => listed));
    await Promise.race([lists, sleep(this.#limits.waitTimeoutMs, signal)]);
    waiting.abort();
  }

  async #refresh(): Promise<void> {
    try {
      await Promise.all(this.#collections.map((collection) => collection.refresh(SHARED_LIST_MS)));
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
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

  async #live(objects: CampaignNamespace, job: BatchJob): Promise<CampaignObjects> {
    const { namespace, volumesConfigMap, pipelineConfigMap } = job;
    const [volumes, pipeline, succeeded] = await Promise.all([
      volumesConfigMap
        ? this.#volumes.read(namespace, volumesConfigMap, objects.records.version(volumesConfigMap))
        : NO_VOLUMES,
      this.#pipeline(objects, namespace, pipelineConfigMap),
      this.#succeededPods(job),
    ]);
    const pods = objects.podsOf(job.name);
    const warmup = objects.warmup(job.pipeline);
    return this.#cachedCampaign(`${namespace}/${job.name}`, [job, volumes, pods, succeeded, pipeline, warmup], () => {
      return { kind: "live", job, volumes, pods: joinedPods(pods, succeeded), pipeline, warmup };
    });
  }

  /** Read once for each state of a Job: an ended one changes rarely, and its succeeded pods only disappear. */
  #succeededPods(job: BatchJob): Promise<readonly BatchPod[]> {
    const read = this.#succeeded.get(job) ?? succeededPods(this.options.connection, job);
    this.#succeeded.set(job, read);
    read.catch(() => this.#succeeded.delete(job));
    return read;
  }

  async #reaped(objects: CampaignNamespace, namespace: string, name: string): Promise<CampaignObjects | null> {
    const recordMap = RECORD_PREFIX + name;
    const statusMap = recordMap + STATUS_SUFFIX;
    const status = objects.statuses.get(statusMap);
    const campaign = reapedCampaign(objects.records.get(recordMap) ?? null, status?.record ?? null);
    if (!campaign || !status) return null;
    const { pipeline: id } = campaign.record;
    const [volumes, pipeline, failures] = await Promise.all([
      this.#volumes.read(namespace, recordMap, objects.records.version(recordMap)),
      this.#pipeline(objects, namespace, id && this.options.conventions.pipelinePrefix + id),
      status.namesFailures
        ? this.#failures.read(namespace, statusMap, objects.statuses.version(statusMap))
        : NO_FAILURES,
    ]);
    const warmup = objects.warmup(id);
    const parts = [campaign.record, campaign.status, volumes, pipeline, failures, warmup];
    return this.#cachedCampaign(`${namespace}/${name}`, parts, () => {
      const withFailures = { ...campaign, status: { ...campaign.status, failures } };
      return { kind: "reaped", campaign: withFailures, volumes, pipeline, warmup };
    });
  }

  #pipeline(objects: CampaignNamespace, namespace: string, name: string | null): Pipeline | Promise<Pipeline> {
    return name ? this.#pipelines.read(namespace, name, objects.pipelines.version(name)) : NO_PIPELINE;
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

/** The volumes of a campaign's ConfigMap; none when it is gone or has no list. */
function volumesOf(configMap: unknown): VolumeList {
  const text = stringAt(configMap, "data", "volumes.txt");
  return text === null ? NO_VOLUMES : readVolumes(text);
}

/** Memory of an entry of a list beside its text, bytes. */
const ENTRY_BYTES = 256;

function sizeOfPipeline({ yaml, steps }: Pipeline): number {
  return yaml.length * 2 + steps.length * ENTRY_BYTES;
}

function sizeOfFailures(failures: ReadonlyMap<string, string>): number {
  let size = 0;
  for (const [id, reason] of failures) size += (id.length + reason.length) * 2 + ENTRY_BYTES;
  return size;
}

const PAGE_SIZE = 250;

/**
 * The succeeded pods of a Job that ended before it counted all of its volumes, without those of volumes that it did count;
 * none for any other Job, whose index sets say enough.
 *
 * @throws {ClusterUnavailable}
 */
async function succeededPods(connection: ClusterConnection, job: BatchJob): Promise<readonly BatchPod[]> {
  const isCounted = (index: number) => job.completed.has(index) || job.failed.has(index);
  if (!job.conditions.some(isEnding) || job.completed.size + job.failed.size >= (job.completions ?? 0)) return [];
  const { found } = await listAll(connection, {
    path: podsPath(job.namespace),
    labelSelector: `${POD_JOB_LABEL}=${job.name}`,
    fieldSelector: "status.phase=Succeeded",
    pageSize: PAGE_SIZE,
  }, (object) => {
    const pod = readPod(object);
    return pod?.phase === "Succeeded" && pod.index !== null && !isCounted(pod.index) ? pod : null;
  });
  return found;
}

/** Both lists of pods in the order of their names, in which a server lists them. */
function joinedPods(pods: readonly BatchPod[], succeeded: readonly BatchPod[]): readonly BatchPod[] {
  if (succeeded.length === 0) return pods;
  return [...pods, ...succeeded].sort((a, b) => compareText(a.name, b.name));
}
