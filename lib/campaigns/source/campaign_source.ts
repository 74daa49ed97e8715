import {
  type BatchJob,
  type BatchPod,
  type CampaignRecord,
  isEnding,
  readJob,
  readPod,
} from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, POD_JOB_LABEL } from "@/lib/campaigns/projection/conventions.ts";
import type { ReapedCampaign, StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import type { Pipeline } from "@/lib/campaigns/projection/types.ts";
import type { VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { listAll, podsPath } from "@/lib/kubernetes/cluster_reads.ts";
import type { ClusterConnection } from "@/lib/kubernetes/connection.ts";
import { compareText } from "@/lib/std/text.ts";

/**
 * The campaign objects of the served namespaces, reduced to what the projection reads. Every method throws
 * `ClusterUnavailable` when the cluster cannot be read. Returned objects are shared between callers and immutable.
 */
export interface CampaignSource {
  /** The objects of a list of all campaigns; the same snapshot until something in it may have changed. */
  list(): Promise<CampaignSnapshot>;

  /** The objects of one campaign's detail; null when neither a Job nor a record of that name is a campaign. */
  campaign(namespace: string, name: string): Promise<CampaignObjects | null>;

  /** The pods of a Job that have not succeeded; a list needs those of warm-ups that failed or run. */
  pods(namespace: string, job: string): Promise<readonly BatchPod[]>;

  /**
   * The age of the returned data, ms: the time since it was last known to be current. 0 where each call reads the cluster,
   * null before the first read.
   */
  age(): number | null;

  /**
   * For metrics: how long ago the campaigns were last those of the cluster, ms. A source that reads on demand returns 0
   * until a read fails. `failed`: no read has succeeded. `untried`: there has been none.
   */
  lastKnown(): number | "failed" | "untried";
}

export interface CampaignSourceOptions {
  readonly connection: ClusterConnection;
  readonly conventions: Conventions;
  readonly namespaces: readonly string[];
  /** ms since 1970 */
  readonly now: () => number;
  /** Called with each Job that lacks only the label `managed-by`, possibly many times. */
  readonly unlisted?: (job: BatchJob) => void;
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

/** The part of a pipeline's ConfigMap that a list needs. */
export interface PipelineRecord {
  readonly namespace: string;
  /** The pipeline's id. */
  readonly pipeline: string;
  readonly scoresQuality: boolean;
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

/** Reads a Job of a kind; null for any other. One that lacks only the label `managed-by` is reported. */
export function readJobOf(
  kind: BatchJob["kind"],
  object: unknown,
  { conventions, unlisted }: Pick<CampaignSourceOptions, "conventions" | "unlisted">,
): BatchJob | null {
  const job = readJob(object, conventions);
  if (job?.kind === "unmanaged") unlisted?.(job);
  return job?.kind === kind ? job : null;
}

const PAGE_SIZE = 250;

/**
 * The succeeded pods of a Job that ended before it counted all of its volumes, without those of volumes that it did count;
 * none for any other Job, whose index sets say enough.
 *
 * @throws {ClusterUnavailable}
 */
export async function succeededPods(connection: ClusterConnection, job: BatchJob): Promise<readonly BatchPod[]> {
  const isCounted = (index: number) => job.completed.has(index) || job.failed.has(index);
  if (!job.conditions.some(isEnding) || job.completed.size + job.failed.size >= (job.completions ?? 0)) return [];
  return await listAll(connection, {
    path: podsPath(job.namespace),
    labelSelector: `${POD_JOB_LABEL}=${job.name}`,
    fieldSelector: "status.phase=Succeeded",
    pageSize: PAGE_SIZE,
  }, (object) => {
    const pod = readPod(object);
    return pod?.phase === "Succeeded" && pod.index !== null && !isCounted(pod.index) ? pod : null;
  });
}

/** Both lists of pods in the order of their names, in which a server lists them. */
export function joinedPods(pods: readonly BatchPod[], succeeded: readonly BatchPod[]): readonly BatchPod[] {
  if (succeeded.length === 0) return pods;
  return [...pods, ...succeeded].sort((a, b) => compareText(a.name, b.name));
}
