import {
  type BatchJob,
  type BatchPod,
  type CampaignRecord,
  keyOf,
  readCampaignRecord,
  readJob,
  readUnfinishedPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, labelNames, POD_JOB_LABEL, selectors } from "@/lib/campaigns/projection/conventions.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { readStatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import { indexWarmups, needsPods, type WarmupIndex } from "@/lib/campaigns/projection/summary.ts";
import type { Pipeline } from "@/lib/campaigns/projection/types.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { configMapsPath, jobsPath, podsPath } from "@/lib/kubernetes/cluster_reads.ts";
import type { StreamingConnection } from "@/lib/kubernetes/connection.ts";
import { FollowedCollection, type FollowedKind, type FollowOptions } from "@/lib/kubernetes/watch.ts";
import { isObject, member, stringAt } from "@/lib/std/untrusted.ts";

/** A status record without its failures, and whether it has any. */
type WatchedStatus = NonNullable<ReturnType<typeof watchedStatus>>;

/** The part of a pipeline's ConfigMap that a list needs. */
export interface PipelineRecord {
  readonly namespace: string;
  /** The pipeline's id. */
  readonly pipeline: string;
  readonly scoresQuality: boolean;
}

interface NamespaceOptions extends FollowOptions {
  readonly connection: StreamingConnection;
  readonly conventions: Conventions;
  readonly namespace: string;
  /** Called with each Job that lacks only the label `managed-by`, possibly many times. */
  readonly unlisted: (job: BatchJob) => void;
  /** Called when something changed that a list of campaigns shows. */
  readonly listChanged: () => void;
  /** Called with each pipeline document of a list or watch event. */
  readonly pipelineSeen: (configMap: string, version: string, pipeline: Pipeline) => void;
}

/** Objects of one page: few, because parsing of Jobs and pods delays concurrent requests. */
const PAGE_SIZE = 50;
const METADATA_PAGE_SIZE = 500;

const NO_PODS: readonly BatchPod[] = [];

/** The campaign objects of one namespace, reduced to what the projection reads. */
export class CampaignNamespace {
  readonly jobs: FollowedCollection<BatchJob>;
  readonly warmups: FollowedCollection<BatchJob>;
  readonly pods: FollowedCollection<BatchPod>;
  readonly records: FollowedCollection<CampaignRecord>;
  readonly statuses: FollowedCollection<WatchedStatus>;
  readonly pipelines: FollowedCollection<PipelineRecord>;
  readonly #namespace: string;
  readonly #podsByJob = new Map<string, Map<string, BatchPod>>();
  readonly #podLists = new Map<string, readonly BatchPod[]>();
  #warmupIndex: WarmupIndex | null = null;

  constructor(options: NamespaceOptions) {
    const { connection, conventions, namespace, unlisted, listChanged, pipelineSeen } = options;
    this.#namespace = namespace;
    const selector = selectors(conventions);
    const follow = <T extends object>(kind: FollowedKind<T>) => new FollowedCollection(connection, kind, options);
    const jobs = (labelSelector: string, kind: "campaign" | "warmup", changed: () => void) =>
      follow<BatchJob>({
        path: jobsPath(namespace),
        labelSelector,
        pageSize: PAGE_SIZE,
        trim(object) {
          const job = readJob(object, conventions);
          if (job?.kind === "unmanaged") unlisted(job);
          return job?.kind === kind ? job : null;
        },
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
      trim(object) {
        const name = stringAt(object, "metadata", "name");
        if (!name?.startsWith(conventions.pipelinePrefix)) return null;
        const read = readPipeline(object);
        pipelineSeen(name, stringAt(object, "metadata", "resourceVersion") ?? "", read);
        const pipeline = name.slice(conventions.pipelinePrefix.length);
        return { namespace, pipeline, scoresQuality: read.scoresQuality };
      },
    });
  }

  get collections() {
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

/** Without its failures: a list does not show them, and those of thousands of records are a gigabyte. */
function watchedStatus(object: unknown, conventions: Conventions) {
  const data = member(object, "data");
  const shortened = isObject(data) ? { ...data, failedVolumes: "[]" } : data;
  const record = readStatusRecord({ metadata: member(object, "metadata"), data: shortened }, conventions);
  const failures = stringAt(object, "data", "failedVolumes") ?? "";
  return record && { record, namesFailures: failures !== "" && failures !== "[]" };
}

/** Jobs that a process reports; further ones are not reported, so that memory and log stay bounded. */
export const MAX_REPORTED_JOBS = 1000;

/** Logs once for each Job why it is not listed: it has every label of a campaign or a warm-up but `managed-by`. */
export function unlistedJobs(log: RequestLog, conventions: Conventions): (job: BatchJob) => void {
  const reported = new Set<string>();
  const label = `${labelNames(conventions).managedBy}=${conventions.managedBy}`;
  return ({ namespace, name, uid }) => {
    const job = keyOf(namespace, name);
    const id = `${job} ${uid}`;
    if (reported.has(id) || reported.size >= MAX_REPORTED_JOBS) return;
    reported.add(id);
    log.write({ level: "warn", unlisted_job: job, error: `the label ${label} is missing` });
  };
}
