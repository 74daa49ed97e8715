import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { isSettled } from "./campaign_state.ts";
import { failureSentences, unexplainedFailure, warmupSentence } from "./problem_sentences.ts";

/** One problem of a card. */
export interface Problem {
  /** The volume it is about; null: the campaign. */
  readonly volume: string | null;
  readonly sentence: string;
  /** The volume's run log. */
  readonly log: { readonly logUrl: string; readonly manifestUrl: string | null; readonly live: boolean } | null;
}

/**
 * The problems of a card that its loaded rows do not tell: the warm-up's failure, failed volumes, the newest page error
 * (spec, Browser behaviour). `shown` are the ids of the rows on the page.
 */
export function problemsOf(job: JobSummary, detail: JobDetail | null, shown: ReadonlySet<string>): Problem[] {
  const warmup = warmupSentence(job.warmup);
  const problems: Problem[] = warmup ? [{ volume: null, sentence: warmup, log: null }] : [];
  for (const { id, reason, logUrl, manifestUrl, state } of detail?.failures ?? []) {
    if (shown.has(id)) continue;
    const sentence = reason ? failureSentences(reason, true) : unexplainedFailure();
    problems.push({ volume: id, sentence, log: { logUrl, manifestUrl, live: isLogLive(state) } });
  }
  const error = detail?.lastError;
  if (error && !shown.has(error.volume)) {
    const page = error.page === null ? "A page" : `Page ${error.page}`;
    problems.push({
      volume: error.volume,
      sentence: `${page} failed: ${error.error.replace(/\s+/g, " ").trim()}`,
      log: { logUrl: error.logUrl, manifestUrl: null, live: isErrorLive(job, detail, error.volume) },
    });
  }
  return problems;
}

/** Whether a volume's run may still write its log: a failed one may be tried again. */
export function isLogLive(state: VolumeView["state"]): boolean {
  return state !== "done" && state !== "unknown";
}

/** The newest error may be of a volume that no row, failure or latest tells the state of. */
function isErrorLive(job: JobSummary, { volumes, failures, latest }: JobDetail, id: string): boolean {
  const volume = [...volumes, ...failures, ...(latest ? [latest] : [])].find((volume) => volume.id === id);
  return volume ? isLogLive(volume.state) : !isSettled(job);
}
