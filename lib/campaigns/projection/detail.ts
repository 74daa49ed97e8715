import type { BatchJob, BatchPod } from "./cluster_objects.ts";
import { instantOf } from "./values.ts";
import { type PageAccumulator, PageTally, type TimelineBounds, type TimelineCounts } from "./page_tally.ts";
import { PaceMeter, startedVolumes } from "./pace.ts";
import { isOver, updatedInstant } from "./progress.ts";
import { type ReapedCampaign, reapedStates, reapedSummary } from "./status_record.ts";
import { liveSummary, type SummaryContext, waitingForPods } from "./summary.ts";
import type { JobDetail, JobSummary, Pipeline, ProgressAnswer, RunState, StoredProgress } from "./types.ts";
import { volumeLinks } from "./urls.ts";
import { joinedJson, separated, VolumeRows } from "./volume_rows.ts";
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
export type CampaignLayout = ReturnType<typeof layout>;

/** Lays out a campaign whose Job exists. `pods` are those of the Job; no volumes when its ConfigMap is missing. */
export function layoutLive(
  job: BatchJob,
  volumes: VolumeList,
  pods: readonly BatchPod[],
  pipeline: Pipeline,
  context: Omit<SummaryContext, "qualityPrediction">,
): CampaignLayout {
  const summary = liveSummary(job, { ...context, qualityPrediction: pipeline.scoresQuality });
  return layout(summary, volumes, liveStates(volumes.count, job, pods), pods, pipeline, context.resultsUrl);
}

/** Lays out a campaign whose Job is gone. */
export function layoutReaped(
  campaign: ReapedCampaign,
  volumes: VolumeList,
  pipeline: Pipeline,
  context: Omit<SummaryContext, "qualityPrediction">,
): CampaignLayout {
  const summary = reapedSummary(campaign, { ...context, qualityPrediction: pipeline.scoresQuality });
  return layout(summary, volumes, reapedStates(volumes, campaign.status), [], pipeline, context.resultsUrl);
}

/**
 * Indexes of the volumes whose progress to read, in the order in which to spend the budget: running ones first, then those that
 * each response shows, then its page, then the rest. Pending volumes have no progress and are left out, and so are those
 * that `isWanted` excludes.
 */
export function wantedProgress(
  campaign: CampaignLayout,
  page: VolumePage,
  isWanted: (index: number, state: RunState) => boolean = () => true,
): number[] {
  const { states } = campaign.states;
  const wanted: number[] = [];
  for (let index = 0; index < states.length; index++) {
    const state = states[index];
    if (state !== "pending" && isWanted(index, state)) wanted.push(index);
  }
  const { active, over } = ranked(campaign, page, wanted);
  return [...active, ...over];
}

/** Sums and speed from earlier requests of a session for one run. */
export interface RunMemory {
  readonly tally: PageTally;
  readonly pace: PaceMeter;
}

/** The input of a response. */
type CampaignReading = readonly [
  campaign: CampaignLayout,
  page: VolumePage,
  /** Results of reads by index; a volume without one has no progress and is not counted. */
  answers: ReadonlyMap<number, ProgressAnswer>,
  /** ms since 1970 */
  now: number,
  memory?: RunMemory,
];

/**
 * The detail of a campaign (spec, JobDetail). Volumes that are over are added to the tally of `memory`, which may contain
 * others from earlier requests of the same session.
 */
export function composeDetail(...reading: CampaignReading): JobDetail {
  const [campaign, page, answers, now] = reading;
  const [first, last] = surroundings(...reading);
  const row = (index: number) => campaign.rows.view(index, answers.get(index), now);
  const { failures, latest } = campaign;
  return {
    ...first,
    volumes: rowsOf(campaign, page).map(row),
    failures: failures.map(row),
    latest: latest === null ? null : row(latest),
    ...last,
  };
}

/** The same as JSON, from the cached JSON of its rows: writing thousands of texts anew would be most of its cost. */
export function detailJson(...reading: CampaignReading): Uint8Array<ArrayBuffer> {
  const [campaign, page, answers, now] = reading;
  const [first, last] = surroundings(...reading);
  const row = (index: number) => campaign.rows.json(index, answers.get(index), now);
  const { failures, latest } = campaign;
  return joinedJson([
    `${JSON.stringify(first).slice(0, -1)},"volumes":[`,
    ...separated(rowsOf(campaign, page).map(row)),
    `],"failures":[`,
    ...separated(failures.map(row)),
    `],"latest":`,
    latest === null ? "null" : row(latest),
    `,${JSON.stringify(last).slice(1)}`,
  ]);
}

/** The members of a detail before its rows, and those after them. */
function surroundings(
  ...[campaign, page, answers, now, memory = { tally: new PageTally(), pace: new PaceMeter() }]: CampaignReading
) {
  const { tally, pace } = memory;
  const { summary, states: { attemptAt }, started, pipeline } = campaign;
  const bounds = timelineBounds(summary, now);
  const sums = sumPages(campaign, page, answers, tally, bounds);
  const sample = { at: now, campaign: started, answers, attemptAt, meanPages: sums.meanPages };
  return [
    { ...summary, waiting: waitingForPods(summary, campaign.pods, now) },
    {
      pace: summary.phase === "Running" && !summary.ending ? pace.sample(sample) : null,
      timeline: bounds ? tally.timeline.entries(bounds) : [],
      pipelineSteps: pipeline.steps,
      pipelineYaml: pipeline.yaml,
      pipelineModels: pipeline.models,
      ...sums.sums(started.started),
    },
  ] as const;
}

function layout(
  summary: JobSummary,
  volumes: VolumeList,
  states: VolumeStates,
  pods: readonly BatchPod[],
  pipeline: Pipeline,
  resultsUrl: string,
) {
  const failures: number[] = [];
  let newestActive: number | null = null;
  let newestDone: number | null = null;
  for (let index = volumes.count - 1; index >= 0; index--) {
    const state = states.states[index];
    if (state === "failed" && failures.length < MAX_FAILURES) failures.push(index);
    else if (state === "active") newestActive ??= index;
    else if (state === "done") newestDone ??= index;
  }
  const latest = newestActive ?? newestDone;
  const links = volumeLinks(resultsUrl, summary.namespace, summary.pipeline);
  return {
    summary,
    pipeline,
    volumes,
    states,
    pods,
    /** Indexes of the newest failed volumes, newest first. */
    failures,
    /** Index of the newest active volume, else of the newest done one. */
    latest,
    /** Failures and latest: the rows that each response shows, whatever its page. */
    shown: new Set(latest === null ? failures : [...failures, latest]),
    started: startedVolumes(states.states),
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
  bounds: TimelineBounds | null,
): PageAccumulator {
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
      if (bounds) addToTimeline(tally.timeline, campaign, index, answer.progress, bounds);
    }
  }
  const sums = tally.sums();
  for (const index of active) {
    const answer = answers.get(index);
    if (answer?.answered) sums.add(counted(index), answer.progress);
  }
  return sums;
}

/** The time between a campaign's start and its end or the present; null for one that has not started. */
function timelineBounds({ startedAt, finishedAt }: JobSummary, now: number): TimelineBounds | null {
  const start = startedAt === null ? null : instantOf(startedAt);
  const end = finishedAt === null ? null : instantOf(finishedAt);
  return start === null ? null : { start, end: Math.max(start, end ?? now) };
}

/** A volume ends with the last write of its progress; one that wrote none, with its pod. */
function addToTimeline(
  timeline: TimelineCounts,
  { states: { states, stoppedAt } }: CampaignLayout,
  index: number,
  progress: StoredProgress | null,
  bounds: TimelineBounds,
): void {
  const updated = progress && updatedInstant(progress);
  const stopped = updated === null ? stoppedAt(index) : null;
  const endedAt = updated ?? (stopped === null ? null : instantOf(stopped));
  if (endedAt !== null) timeline.add({ state: states[index], pages: progress?.done ?? 0, endedAt }, bounds);
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
