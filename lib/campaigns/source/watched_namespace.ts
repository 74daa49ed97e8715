import {
  type BatchJob,
  type BatchPod,
  type CampaignRecord,
  readCampaignRecord,
  readJob,
  readUnfinishedPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, POD_JOB_LABEL, selectors } from "@/lib/campaigns/projection/conventions.ts";
import { readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { readStatusRecord, type StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import type { Pipeline } from "@/lib/campaigns/projection/types.ts";
import { indexWarmups, needsPods, type WarmupIndex } from "@/lib/campaigns/projection/warmup.ts";
import type { StreamingConnection } from "@/lib/kubernetes/connection.ts";
import {
  type Followed,
  FollowedCollection,
  type FollowedKind,
  type FollowOptions,
} from "@/lib/kubernetes/followed_collection.ts";
import { configMapsPath, jobsPath, podsPath } from "@/lib/kubernetes/object_paths.ts";
import { stringAt } from "@/lib/std/untrusted.ts";
import type { PipelineRecord } from "./campaign_source.ts";
import { pipelineRecord, withoutFailures } from "./map_documents.ts";

/** A status record without its failures, and whether it has any. */
interface WatchedStatus {
  readonly record: StatusRecord;
  readonly namesFailures: boolean;
}

interface NamespaceOptions extends FollowOptions {
  readonly connection: StreamingConnection;
  readonly conventions: Conventions;
  readonly namespace: string;
  /** Called with each Job that lacks only the label `managed-by`. */
  readonly unlisted?: (job: BatchJob) => void;
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
export class WatchedNamespace {
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
    const { connection, conventions, namespace, listChanged, unlisted } = options;
    this.#namespace = namespace;
    const selector = selectors(conventions);
    const follow = <T extends object>(kind: FollowedKind<T>) => new FollowedCollection(connection, kind, options);
    const jobs = (labelSelector: string, kind: BatchJob["kind"], changed: () => void) =>
      follow<BatchJob>({
        path: jobsPath(namespace),
        labelSelector,
        pageSize: PAGE_SIZE,
        trim: (object) => {
          const job = readJob(object, conventions);
          if (job?.kind === "unmanaged") unlisted?.(job);
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
      trim: (object) => watchedPipeline(object, conventions, options.pipelineSeen),
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
    if (before) this.#removePod(before);
    if (after) this.#addPod(after);
    // A list shows no pods but why a warm-up failed or does not start.
    const warmup = this.warmups.get((after ?? before)?.job ?? "");
    if (warmup && needsPods(warmup)) listChanged();
  }

  #removePod({ job, name }: BatchPod): void {
    if (job === null) return;
    const pods = this.#podsByJob.get(job);
    pods?.delete(name);
    if (pods?.size === 0) this.#podsByJob.delete(job);
    this.#podLists.delete(job);
  }

  #addPod(pod: BatchPod): void {
    if (pod.job === null) return;
    const pods = this.#podsByJob.get(pod.job) ?? new Map<string, BatchPod>();
    this.#podsByJob.set(pod.job, pods.set(pod.name, pod));
    this.#podLists.delete(pod.job);
  }
}

function watchedStatus(object: unknown, conventions: Conventions): WatchedStatus | null {
  const record = readStatusRecord(withoutFailures(object), conventions);
  const failures = stringAt(object, "data", "failedVolumes") ?? "";
  return record && { record, namesFailures: failures !== "" && failures !== "[]" };
}

function watchedPipeline(
  object: unknown,
  conventions: Conventions,
  seen: NamespaceOptions["pipelineSeen"],
): PipelineRecord | null {
  const name = stringAt(object, "metadata", "name");
  if (!name) return null;
  const pipeline = readPipeline(object);
  seen(name, stringAt(object, "metadata", "resourceVersion") ?? "", pipeline);
  return pipelineRecord(object, conventions, () => pipeline.scoresQuality);
}
