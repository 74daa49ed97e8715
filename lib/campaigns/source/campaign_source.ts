import type { BatchJob, BatchPod, CampaignRecord } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { ReapedCampaign } from "@/lib/campaigns/projection/reaped.ts";
import type { StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import type { Pipeline } from "@/lib/campaigns/projection/types.ts";
import type { VolumeList } from "@/lib/campaigns/projection/volumes.ts";

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
