import type { BatchJob, BatchPod, CampaignRecord } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { ReapedCampaign } from "@/lib/campaigns/projection/reaped.ts";
import type { StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import type { Pipeline } from "@/lib/campaigns/projection/types.ts";
import type { VolumeList } from "@/lib/campaigns/projection/volumes.ts";

/**
 * The campaign objects of the namespaces served, trimmed to what the projection reads. Every method throws
 * `ClusterUnavailable` when the cluster cannot be read. What it hands out is shared between readers and never changed.
 */
export interface CampaignSource {
  /** What a list of all campaigns is made of: the same object for as long as nothing in it may have changed. */
  list(): Promise<CampaignSnapshot>;

  /** What the detail of one campaign is made of; null when no Job and no record of that name makes a campaign. */
  campaign(namespace: string, name: string): Promise<CampaignObjects | null>;

  /** The pods of a Job that have not succeeded; a list asks for those of warm-ups that failed. */
  pods(namespace: string, job: string): Promise<readonly BatchPod[]>;

  /**
   * For how long it is not known whether what is handed out is still so, ms; 0 where that is asked each time. Null when
   * nothing has been read yet.
   */
  age(): number | null;
}

/** What is older than this is not shown without saying so, ms. */
export const STALE_MS = 30_000;

export interface CampaignSnapshot {
  /** Campaign Jobs only. */
  readonly jobs: readonly BatchJob[];
  readonly warmups: readonly BatchJob[];
  readonly records: readonly CampaignRecord[];
  /** Without the failures that they name. */
  readonly statuses: readonly StatusRecord[];
  readonly pipelines: readonly PipelineRecord[];
}

/** What a list reads of a pipeline's ConfigMap. */
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
  /** The Job is gone; its record and status are there. */
  | AnyCampaign & { readonly kind: "reaped"; readonly campaign: ReapedCampaign };
