import { LRUCache } from "lru-cache";
import {
  type BatchJob,
  type BatchPod,
  readCampaignRecord,
  readJob,
  readUnfinishedPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import { POD_JOB_LABEL, RECORD_PREFIX, selectors, STATUS_SUFFIX } from "@/lib/campaigns/projection/conventions.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { readStatusRecord, reapedCampaign } from "@/lib/campaigns/projection/status_record.ts";
import { NO_PIPELINE, type Pipeline } from "@/lib/campaigns/projection/types.ts";
import { NO_VOLUMES, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { indexWarmups } from "@/lib/campaigns/projection/summary.ts";
import {
  configMapsPath,
  getConfigMap,
  getObject,
  jobsPath,
  listAll,
  podsPath,
} from "@/lib/kubernetes/cluster_reads.ts";
import type { ClusterConnection } from "@/lib/kubernetes/connection.ts";
import { SharedReads } from "@/lib/std/caches.ts";
import { stringAt } from "@/lib/std/untrusted.ts";
import {
  type CampaignObjects,
  type CampaignSnapshot,
  type CampaignSource,
  type CampaignSourceOptions,
  joinedPods,
  readJobOf,
  succeededPods,
} from "./campaign_source.ts";
import { pipelineRecord, volumesOf, withoutFailures } from "./map_documents.ts";

/** A read of the cluster is reused for this long, ms. */
export const SHARED_READ_MS = 2_000;

/** Objects of one page: small ones, and those that may be hundreds of kilobytes each. */
const PAGE_SIZE = 500;
const LARGE_PAGE_SIZE = 250;
/** Cached campaigns, each with up to a megabyte of volumes, and cached pod lists of failed warm-ups. */
const MAX_CACHED_CAMPAIGNS = 64;
const MAX_CACHED_POD_LISTS = 256;
/** Pipelines whose parsed document is cached. */
const MAX_CACHED_PIPELINES = 4096;

/**
 * Campaigns listed on demand, for an account that may get and list, but not watch. Concurrent callers share one list,
 * and returned data is at most {@link SHARED_READ_MS} old.
 */
export function listedCampaigns(options: CampaignSourceOptions): CampaignSource {
  const { now } = options;
  const lists = new SharedReads<CampaignSnapshot>(SHARED_READ_MS, now, 1);
  const campaigns = new SharedReads<CampaignObjects | null>(SHARED_READ_MS, now, MAX_CACHED_CAMPAIGNS);
  const podLists = new SharedReads<BatchPod[]>(SHARED_READ_MS, now, MAX_CACHED_POD_LISTS);
  // Campaigns are cached, so their parts must not be: concurrent reads of a part are joined, results are not reused.
  const warmupLists = new SharedReads<BatchJob[]>(0, now, 1);
  const cluster = new Cluster(options);
  let last: "untried" | 0 | "failed" = "untried";
  /** When the last successful list began, ms since 1970. */
  let listedAt: number | null = null;
  const warmup = async (namespace: string, pipeline: string) => {
    if (!pipeline) return null;
    const jobs = await warmupLists.read(namespace, () => cluster.jobs(namespace, "warmup"));
    return indexWarmups(jobs).find(namespace, pipeline);
  };
  return {
    list: () => lists.read("", snapshot),
    campaign: (namespace, name) =>
      campaigns.read(`${namespace}/${name}`, async () => {
        const job = await cluster.campaignJob(namespace, name);
        return job ? await live(job) : await reaped(namespace, name);
      }),
    pods: (namespace, job) => podLists.read(`${namespace}/${job}`, () => cluster.pods(namespace, job)),
    age: () => 0,
    lastKnown: () => last !== "failed" || listedAt === null ? last : now() - listedAt,
  };

  async function snapshot(): Promise<CampaignSnapshot> {
    const startedAt = now();
    try {
      const objects = await cluster.snapshot(options.namespaces);
      listedAt = startedAt;
      last = 0;
      return objects;
    } catch (error) {
      last = "failed";
      throw error;
    }
  }

  async function live(job: BatchJob): Promise<CampaignObjects> {
    const { namespace } = job;
    const [volumes, jobPods, succeeded, pipeline, warmupJob] = await Promise.all([
      cluster.volumes(namespace, job.volumesConfigMap),
      cluster.pods(namespace, job.name),
      succeededPods(options.connection, job),
      cluster.pipeline(namespace, job.pipelineConfigMap),
      warmup(namespace, job.pipeline),
    ]);
    const pods = joinedPods(jobPods, succeeded);
    return { kind: "live", job, volumes, pods, pipeline, warmup: warmupJob };
  }

  async function reaped(namespace: string, name: string): Promise<CampaignObjects | null> {
    const { conventions } = options;
    const [recordMap, statusMap] = await Promise.all([
      cluster.configMap(namespace, RECORD_PREFIX + name),
      cluster.configMap(namespace, RECORD_PREFIX + name + STATUS_SUFFIX),
    ]);
    const record = readCampaignRecord(recordMap, conventions);
    const campaign = reapedCampaign(record, readStatusRecord(statusMap, conventions));
    if (!campaign) return null;
    const { pipeline: id } = campaign.record;
    const [pipeline, warmupJob] = await Promise.all([
      cluster.pipeline(namespace, id && conventions.pipelinePrefix + id),
      warmup(namespace, id),
    ]);
    return { kind: "reaped", campaign, volumes: volumesOf(recordMap), pipeline, warmup: warmupJob };
  }
}

/** The reads of the cluster, each reduced to what the projection needs. */
class Cluster {
  readonly #options: CampaignSourceOptions;
  readonly #connection: ClusterConnection;
  readonly #selectors: ReturnType<typeof selectors>;
  readonly #scoring = new LRUCache<string, boolean>({ max: MAX_CACHED_PIPELINES });

  constructor(options: CampaignSourceOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#selectors = selectors(options.conventions);
  }

  async snapshot(namespaces: readonly string[]): Promise<CampaignSnapshot> {
    const stop = new AbortController();
    try {
      const parts = await Promise.all(namespaces.map((namespace) => this.#snapshot(namespace, stop.signal)));
      return {
        jobs: parts.flatMap(({ jobs }) => jobs),
        warmups: parts.flatMap(({ warmups }) => warmups),
        records: parts.flatMap(({ records }) => records),
        statuses: parts.flatMap(({ statuses }) => statuses),
        pipelines: parts.flatMap(({ pipelines }) => pipelines),
      };
    } finally {
      // After a failure the other lists are not needed.
      stop.abort();
    }
  }

  async #snapshot(namespace: string, signal: AbortSignal): Promise<CampaignSnapshot> {
    const { conventions } = this.#options;
    const maps = { path: configMapsPath(namespace), signal };
    const [jobs, warmups, records, statuses, pipelines] = await Promise.all([
      this.jobs(namespace, "campaign", signal),
      this.jobs(namespace, "warmup", signal),
      listAll(
        this.#connection,
        { ...maps, labelSelector: this.#selectors.records, metadataOnly: true, pageSize: PAGE_SIZE },
        (item) => readCampaignRecord(item, conventions),
      ),
      listAll(
        this.#connection,
        { ...maps, labelSelector: this.#selectors.statusRecords, pageSize: LARGE_PAGE_SIZE },
        (item) => readStatusRecord(withoutFailures(item), conventions),
      ),
      listAll(
        this.#connection,
        { ...maps, labelSelector: this.#selectors.pipelines, pageSize: LARGE_PAGE_SIZE },
        (item) => pipelineRecord(item, conventions, () => this.#scoresQuality(item)),
      ),
    ]);
    return { jobs, warmups, records, statuses, pipelines };
  }

  jobs(namespace: string, kind: "campaign" | "warmup", signal?: AbortSignal): Promise<BatchJob[]> {
    const labelSelector = kind === "campaign" ? this.#selectors.campaignJobs : this.#selectors.warmupJobs;
    const path = jobsPath(namespace);
    const request = { path, labelSelector, pageSize: PAGE_SIZE, signal };
    return listAll(this.#connection, request, (item) => readJobOf(kind, item, this.#options));
  }

  /** Null for a Job that is gone or is not a campaign. */
  async campaignJob(namespace: string, name: string): Promise<BatchJob | null> {
    const object = await getObject(this.#connection, `${jobsPath(namespace)}/${encodeURIComponent(name)}`);
    const job = readJob(object, this.#options.conventions);
    return job?.kind === "campaign" ? job : null;
  }

  pods(namespace: string, job: string): Promise<BatchPod[]> {
    return listAll(this.#connection, {
      path: podsPath(namespace),
      labelSelector: `${POD_JOB_LABEL}=${job}`,
      fieldSelector: "status.phase!=Succeeded",
      pageSize: LARGE_PAGE_SIZE,
    }, readUnfinishedPod);
  }

  /** As {@link getConfigMap}. */
  configMap(namespace: string, name: string): Promise<unknown> {
    return getConfigMap(this.#connection, namespace, name);
  }

  async volumes(namespace: string, configMap: string | null): Promise<VolumeList> {
    return configMap === null ? NO_VOLUMES : volumesOf(await this.configMap(namespace, configMap));
  }

  async pipeline(namespace: string, configMap: string | null): Promise<Pipeline> {
    return configMap ? readPipeline(await this.configMap(namespace, configMap)) : NO_PIPELINE;
  }

  /** Cached by the map's version, because parsing is the expensive part of a list. */
  #scoresQuality(configMap: unknown): boolean {
    const uid = stringAt(configMap, "metadata", "uid");
    const version = stringAt(configMap, "metadata", "resourceVersion");
    if (!uid || !version) return readPipeline(configMap).scoresQuality;
    const name = `${uid}/${version}`;
    const scores = this.#scoring.get(name) ?? readPipeline(configMap).scoresQuality;
    this.#scoring.set(name, scores);
    return scores;
  }
}
