import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { isSettled } from "./campaign_state.ts";
import {
  containerWords,
  endingWords,
  type FailureWords,
  failureWords,
  PROBLEMS,
  unexplainedFailure,
  warmupWords,
} from "./problem_sentences.ts";

/** One problem of a card. */
export interface Problem {
  /** The volume it is about; null: the campaign. */
  readonly volume: string | null;
  readonly sentence: string;
  /** What the cluster or the worker reported, where the sentence does not contain it. */
  readonly raw: string | null;
  /** A person must act; other problems are said quietly. */
  readonly isTrouble: boolean;
  /** The volume's run log. */
  readonly log: { readonly logUrl: string; readonly manifestUrl: string | null; readonly live: boolean } | null;
}

/** The problems of a card. */
interface CardProblems {
  readonly problems: readonly Problem[];
  /** How many there will be once the detail is read: a card holds their space free. */
  readonly expected: number;
}

/**
 * The problems of a card that its loaded rows do not tell: the warm-up, why it ended, failed volumes, the newest volume if it
 * cannot start, the newest page error (spec, Browser behaviour).
 *
 * @param shown ids of the rows on the page; null for a folded card, whose line of pages tells of lost ones
 */
export function problemsOf(job: JobSummary, detail: JobDetail | null, shown: ReadonlySet<string> | null): CardProblems {
  const campaign = campaignProblems(job);
  const volumes = (detail?.failures ?? []).filter(({ id }) => !shown?.has(id)).map(failedVolume);
  const starting = detail?.latest && !shown?.has(detail.latest.id) ? cannotStart(detail.latest) : [];
  const page = shown && detail ? lostPage(job, detail, shown) : [];
  const problems = [...campaign, ...volumes, ...starting, ...page];
  const expected = campaign.length + Math.min(job.counts.failed, MAX_FAILURES);
  return { problems, expected: detail ? problems.length : expected };
}

/** Whether a volume's run may still write its log: a failed one may be tried again. */
export function isLogLive(state: VolumeView["state"]): boolean {
  return state !== "done" && state !== "unknown";
}

/**
 * Whether the run of the volume with the newest error may still write its log. It may be a volume that no row, failure or
 * latest tells the state of.
 */
export function isErrorLive(job: JobSummary, { volumes, failures, latest }: JobDetail, id: string): boolean {
  const volume = [...volumes, ...failures, ...(latest ? [latest] : [])].find((volume) => volume.id === id);
  return volume ? isLogLive(volume.state) : !isSettled(job);
}

/** Failed volumes that a detail names (spec, Limits). */
export const MAX_FAILURES = 50;

function campaignProblems(job: JobSummary): Problem[] {
  const warmup = warmupWords(job);
  const ending = endingWords(job);
  const volumes = volumesNotDone(job);
  const text = [ending?.text, volumes].filter(Boolean).join(" ");
  const isTrouble = isSettled(job) && (job.phase !== "Succeeded" || job.counts.failed > 0);
  return [
    ...(warmup ? [campaignProblem(warmup, job.warmup.phase !== "running")] : []),
    ...(text ? [campaignProblem({ text, raw: ending?.raw ?? null }, isTrouble)] : []),
  ];
}

/** How many volumes have no result. A campaign whose Job is gone does not say which of the others did not finish. */
function volumesNotDone(job: JobSummary): string | null {
  const { counts: { total, done, failed }, phase, jobGone, ending } = job;
  if (!isSettled(job)) return failed === 0 ? null : PROBLEMS.volumesFailed(failed);
  const unfinished = jobGone || !ending ? 0 : Math.max(0, total - done - failed);
  if (failed + unfinished === 0) return phase === "Failed" ? PROBLEMS.campaignFailed : null;
  const count = PROBLEMS.notDone(failed, unfinished);
  return phase === "Succeeded" && failed === 0 ? count : `${count} ${PROBLEMS.runAgain(failed + unfinished)}`;
}

function campaignProblem({ text, raw }: FailureWords, isTrouble: boolean): Problem {
  return { volume: null, sentence: text, raw, isTrouble, log: null };
}

function failedVolume({ id, reason, logUrl, manifestUrl, state }: VolumeView): Problem {
  const { text, raw } = reason ? failureWords(reason, true) : unexplainedFailure();
  const log = { logUrl, manifestUrl, live: isLogLive(state) };
  return { volume: id, sentence: text, raw, isTrouble: false, log };
}

function cannotStart({ id, containerWaiting, logUrl, manifestUrl, state, final }: VolumeView): Problem[] {
  if (!containerWaiting) return [];
  const { text, raw } = containerWords(containerWaiting, final === true);
  const log = { logUrl, manifestUrl, live: isLogLive(state) };
  return [{ volume: id, sentence: text, raw, isTrouble: false, log }];
}

function lostPage(job: JobSummary, detail: JobDetail, shown: ReadonlySet<string>): Problem[] {
  const error = detail.lastError;
  if (!error || shown.has(error.volume)) return [];
  return [{
    volume: error.volume,
    sentence: PROBLEMS.pageLost(error.page, error.error.replace(/\s+/g, " ").trim()),
    raw: null,
    isTrouble: false,
    log: { logUrl: error.logUrl, manifestUrl: null, live: isErrorLive(job, detail, error.volume) },
  }];
}
