import type { BatchJob, BatchPod } from "./cluster_objects.ts";
import { PageTally } from "./page_tally.ts";
import { isOver } from "./progress.ts";
import { type ReapedCampaign, reapedStates, reapedSummary } from "./reaped.ts";
import { liveSummary, type SummaryContext } from "./summary.ts";
import type { JobDetail, JobSummary, PageSums, Pipeline, ProgressAnswer, VolumeLinks, VolumeState } from "./types.ts";
import { volumeLinks } from "./urls.ts";
import { VolumeRows } from "./volume_rows.ts";
import { liveStates, type VolumeStates } from "./volume_states.ts";
import type { VolumeList } from "./volumes.ts";

/** Failed rows that a detail shows beside its page (spec, Limits). */
const MAX_FAILURES = 50;

/** The requested rows of a detail. */
export interface VolumePage {
  readonly offset: number;
  readonly limit: number;
}

/** A campaign laid out, before any progress is known. */
export interface CampaignLayout {
  readonly summary: JobSummary;
  readonly pipeline: Pipeline;
  readonly volumes: VolumeList;
  readonly states: VolumeStates;
  /** Indexes of the newest failed volumes, newest first. */
  readonly failures: readonly number[];
  /** Index of the newest active volume, else of the newest done one. */
  readonly latest: number | null;
  /** Failures and latest: the rows that each response shows, whatever its page. */
  readonly shown: ReadonlySet<number>;
  /** Volumes that are not pending. */
  readonly started: number;
  readonly rows: VolumeRows;
  links(id: string): VolumeLinks;
}

/** A volume whose progress a response needs. */
export interface WantedProgress {
  readonly index: number;
  readonly id: string;
  readonly state: VolumeState;
}

/** Lays out a campaign whose Job exists. `pods` are those of the Job; no volumes when its ConfigMap is missing. */
export function layoutLive(
  job: BatchJob,
  volumes: VolumeList,
  pods: Iterable<BatchPod>,
  pipeline: Pipeline,
  context: Omit<SummaryContext, "qualityPrediction">,
): CampaignLayout {
  const summary = liveSummary(job, { ...context, qualityPrediction: pipeline.scoresQuality });
  return layout(summary, volumes, liveStates(volumes.count, job, pods), pipeline, context.resultsUrl);
}

/** Lays out a campaign whose Job is gone. */
export function layoutReaped(
  campaign: ReapedCampaign,
  volumes: VolumeList,
  pipeline: Pipeline,
  context: Omit<SummaryContext, "qualityPrediction">,
): CampaignLayout {
  const summary = reapedSummary(campaign, { ...context, qualityPrediction: pipeline.scoresQuality });
  return layout(summary, volumes, reapedStates(volumes, campaign.status), pipeline, context.resultsUrl);
}

/**
 * The volumes whose progress to read, in the order in which to spend the budget: running ones first, then those that
 * each response shows, then its page, then the rest. Pending volumes have no progress and are left out, and so are those
 * that `isWanted` excludes.
 */
export function wantedProgress(
  campaign: CampaignLayout,
  page: VolumePage,
  isWanted: (index: number, state: VolumeState) => boolean = () => true,
): WantedProgress[] {
  const { states } = campaign.states;
  const wanted: number[] = [];
  for (let index = 0; index < states.length; index++) {
    const state = states[index];
    if (state !== "pending" && isWanted(index, state)) wanted.push(index);
  }
  const { active, over } = ranked(campaign, page, wanted);
  return [...active, ...over].map((index) => ({ index, id: campaign.rows.id(index), state: states[index] }));
}

/**
 * The detail of a campaign (spec, JobDetail). `answers` holds what was read, by index; a volume without an answer has
 * no progress and is not counted. Volumes that are over are added to `tally`, which may contain others from earlier
 * requests of the same session. `now` is in milliseconds since 1970.
 */
export function composeDetail(
  campaign: CampaignLayout,
  page: VolumePage,
  answers: ReadonlyMap<number, ProgressAnswer>,
  now: number,
  tally: PageTally = new PageTally(),
): JobDetail {
  const row = (index: number) => campaign.rows.view(index, answers.get(index), now);
  return {
    ...campaign.summary,
    volumes: rowsOf(campaign, page).map(row),
    failures: campaign.failures.map(row),
    latest: campaign.latest === null ? null : row(campaign.latest),
    pipelineSteps: campaign.pipeline.steps,
    pipelineYaml: campaign.pipeline.yaml,
    pipelineModels: campaign.pipeline.models,
    ...sumPages(campaign, page, answers, tally),
  };
}

function layout(
  summary: JobSummary,
  volumes: VolumeList,
  states: VolumeStates,
  pipeline: Pipeline,
  resultsUrl: string,
): CampaignLayout {
  const failures: number[] = [];
  let newestActive: number | null = null;
  let newestDone: number | null = null;
  let started = 0;
  for (let index = volumes.count - 1; index >= 0; index--) {
    const state = states.states[index];
    if (state !== "pending") started++;
    if (state === "failed" && failures.length < MAX_FAILURES) {
      failures.push(index);
    } else if (state === "active") newestActive ??= index;
    else if (state === "done") newestDone ??= index;
  }
  const latest = newestActive ?? newestDone;
  const links = volumeLinks(resultsUrl, summary.namespace, summary.pipeline);
  return {
    summary,
    pipeline,
    volumes,
    states,
    failures,
    latest,
    shown: new Set(latest === null ? failures : [...failures, latest]),
    started,
    rows: new VolumeRows(volumes, states, links),
    links,
  };
}

/** Running volumes are summed last: unlike the others they are not in the tally. */
function sumPages(
  campaign: CampaignLayout,
  page: VolumePage,
  answers: ReadonlyMap<number, ProgressAnswer>,
  tally: PageTally,
): PageSums {
  const { states } = campaign.states;
  const answered = [...answers.keys()].filter((index) => index < states.length && states[index] !== "pending");
  const { active, over } = ranked(campaign, page, answered.sort((a, b) => a - b));
  const counted = (index: number) => {
    const id = campaign.rows.id(index);
    return { id, links: campaign.links(id) };
  };
  for (const index of over) {
    const answer = answers.get(index);
    if (answer?.answered && !tally.has(index)) {
      tally.add(index, counted(index), answer.progress);
    }
  }
  const sums = tally.sums();
  for (const index of active) {
    const answer = answers.get(index);
    if (answer?.answered) sums.add(counted(index), answer.progress);
  }
  return sums.sums(campaign.started);
}

/** Ascending indexes of started volumes, ordered by the priority of a response, ascending among equals. */
function ranked(
  { states: { states }, shown }: CampaignLayout,
  { offset, limit }: VolumePage,
  indexes: readonly number[],
): { active: number[]; over: number[] } {
  const active: number[][] = [[], [], []];
  const over: number[][] = [[], [], []];
  for (const index of indexes) {
    const onPage = index >= offset && index < offset + limit;
    (isOver(states[index]) ? over : active)[shown.has(index) ? 0 : onPage ? 1 : 2].push(index);
  }
  return { active: active.flat(), over: over.flat() };
}

function rowsOf({ volumes }: CampaignLayout, { offset, limit }: VolumePage): number[] {
  const end = Math.min(volumes.count, offset + limit);
  return Array.from({ length: Math.max(0, end - offset) }, (_, position) => offset + position);
}
