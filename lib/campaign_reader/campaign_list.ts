import type { BatchJob } from "@/lib/campaigns/cluster_objects.ts";
import { chooseReaped, reapedSummary } from "@/lib/campaigns/reaped.ts";
import { liveSummary, newestFirst } from "@/lib/campaigns/summary.ts";
import type { JobSummary, Warmup } from "@/lib/campaigns/types.ts";
import { indexWarmups, warmupOf, warmupPhase } from "@/lib/campaigns/warmup.ts";
import type { CampaignRecords } from "@/lib/kubernetes/campaign_records.ts";
import type { CampaignSnapshot, CampaignSource, PipelineRecord } from "@/lib/kubernetes/campaign_source.ts";
import { sideBySide } from "@/lib/side_by_side.ts";

export interface CampaignListRequest {
  /** The results URL that the caller's browser uses. */
  readonly resultsUrl: string;
  /** Most reaped campaigns that are wanted. */
  readonly reaped: number;
}

export interface CampaignList {
  /** Newest created first. */
  readonly jobs: JobSummary[];
  /** All reaped campaigns, listed or not. */
  readonly reapedTotal: number;
}

/** Cluster reads for the reasons of failed warm-ups, side by side. */
const READS_AT_ONCE = 8;

/**
 * Every live campaign and the reaped ones that ended last (spec, GET /api/v1/jobs). `records`, if there are any, learn of
 * the list behind the answer.
 *
 * @throws {ClusterUnavailable}
 */
export async function campaignList(
  source: CampaignSource,
  { resultsUrl, reaped }: CampaignListRequest,
  records?: CampaignRecords,
): Promise<CampaignList> {
  const snapshot = await source.list();
  const live = new Set(snapshot.jobs.map(({ namespace, name }) => keyOf(namespace, name)));
  const { chosen, total } = chooseReaped(
    snapshot.records,
    snapshot.statuses,
    (namespace, job) => live.has(keyOf(namespace, job)),
    reaped,
  );
  const warmups = await warmupsOf(source, snapshot, [...snapshot.jobs, ...chosen.map(({ record }) => record)]);
  const scoring = scoringPipelines(snapshot.pipelines);
  const context = ({ namespace, pipeline }: PipelineUse) => ({
    resultsUrl,
    warmup: warmups(namespace, pipeline),
    qualityPrediction: scoring.has(keyOf(namespace, pipeline)),
  });
  const jobs = newestFirst([
    ...snapshot.jobs.map((job) => liveSummary(job, context(job))),
    ...chosen.map((campaign) => reapedSummary(campaign, context(campaign.record))),
  ]);
  records?.listed(snapshot);
  return { jobs, reapedTotal: total };
}

interface PipelineUse {
  readonly namespace: string;
  readonly pipeline: string;
}

/** The warm-ups of the campaigns listed; campaigns of one pipeline share one, and its pods are read once. */
async function warmupsOf(
  source: CampaignSource,
  snapshot: CampaignSnapshot,
  campaigns: readonly PipelineUse[],
): Promise<(namespace: string, pipeline: string) => Warmup> {
  const index = indexWarmups(snapshot.warmups);
  const failed = new Set<BatchJob>();
  for (const { namespace, pipeline } of campaigns) {
    const job = index.find(namespace, pipeline);
    if (job && warmupPhase(job) === "failed") failed.add(job);
  }
  const told = new Map<BatchJob, Warmup>();
  await sideBySide(failed, READS_AT_ONCE, async (job) => {
    told.set(job, warmupOf(job, await source.pods(job.namespace, job.name)));
  });
  return (namespace, pipeline) => {
    const job = index.find(namespace, pipeline);
    return (job && told.get(job)) ?? warmupOf(job);
  };
}

function scoringPipelines(pipelines: readonly PipelineRecord[]): ReadonlySet<string> {
  const scoring = pipelines.filter(({ scoresQuality }) => scoresQuality);
  return new Set(scoring.map(({ namespace, pipeline }) => keyOf(namespace, pipeline)));
}

/** A namespace has no slash, so the two parts cannot run into each other. */
function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
