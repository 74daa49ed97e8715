import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { type CampaignFilter, countSegments, type Segment } from "./campaign_filter.ts";
import { isAtGate, isInTrouble, lacksWarmup } from "./campaign_state.ts";

/** What a list says as a whole. The page sends it beside its first cards, for the cards that it leaves to the browser. */
export interface CampaignOverview {
  readonly campaigns: number;
  /** Campaigns of each segment that the rest of the filter lets through. */
  readonly segments: Readonly<Record<Segment, number>>;
  readonly pipelines: readonly string[];
  readonly namespaces: readonly string[];
  readonly troubled: number;
  readonly running: number;
  /** Campaigns that run and are in trouble. */
  readonly runningTroubled: number;
  /** Volumes of running campaigns that are read at the moment. */
  readonly activeVolumes: number;
  /** Campaigns that run and do no work, for want of their warm-up. */
  readonly runningHeld: number;
  /** Campaigns whose Job is gone. */
  readonly reaped: number;
}

/** The overview of a list, with the counts under a filter. */
export function overviewOf(jobs: readonly JobSummary[], filter: CampaignFilter): CampaignOverview {
  const running = jobs.filter(({ phase }) => phase === "Running");
  return {
    campaigns: jobs.length,
    segments: countSegments(jobs, filter),
    pipelines: distinct(jobs.map(({ pipeline }) => pipeline)),
    namespaces: distinct(jobs.map(({ namespace }) => namespace)),
    troubled: jobs.filter(isInTrouble).length,
    running: running.length,
    runningTroubled: running.filter(isInTrouble).length,
    activeVolumes: running.reduce((sum, job) => sum + (isAtGate(job) ? 0 : job.counts.active), 0),
    runningHeld: running.filter(lacksWarmup).length,
    reaped: jobs.filter(({ jobGone }) => jobGone).length,
  };
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => name !== "").sort();
}
