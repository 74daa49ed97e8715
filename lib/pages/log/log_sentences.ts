import type { Chip } from "@/lib/pages/campaigns/campaign_state.ts";
import { formatDuration } from "@/lib/pages/moments.ts";
import { type FetchProblem, fetchProblemSentence, FILE_NAMES } from "@/lib/pages/fetch_problems.ts";
import { formatCount, formatDecimal } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { clip } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/log.ts";
import * as sv from "@/locales/sv/log.ts";
import type { RequestsResult } from "./log_lines.ts";
import { placeOfHit } from "./log_rows.ts";
import type { LogStage, RunOutcome } from "./run_log.ts";

export const LOG_SENTENCES = inLanguage({ en: en.LOG_SENTENCES, sv: sv.LOG_SENTENCES });
export const LOG_LABELS = inLanguage({ en: en.LOG_LABELS, sv: sv.LOG_LABELS });
export const LOG_FIGURES = inLanguage({ en: en.LOG_FIGURES, sv: sv.LOG_FIGURES });
const OUTCOMES = inLanguage({ en: en.OUTCOMES, sv: sv.OUTCOMES });
export const STAGE_TITLES = inLanguage({ en: en.STAGE_TITLES, sv: sv.STAGE_TITLES });

/** Requests in one sentence with their result: `18 requests, all answered 200, median 0.21 s apart`. */
export function requestsSentence({ count, statuses, medianSeconds }: RequestsResult): string {
  const apart = medianSeconds === null ? "" : LOG_FIGURES.medianApart(formatSeconds(medianSeconds));
  return LOG_FIGURES.requests(count) + answers(statuses) + apart;
}

function answers(statuses: RequestsResult["statuses"]): string {
  const [most] = statuses;
  if (statuses.every(({ status }) => status === null)) return "";
  if (statuses.length === 1 && most.status !== null) return LOG_FIGURES.allAnswered(most.status);
  return `: ${statuses.map(({ status, count }) => LOG_FIGURES.answered(count, status)).join(", ")}`;
}

/** Requests that are folded into the line behind them, in few words: `1 request, 200`. */
export function requestsInShort({ count, statuses }: RequestsResult): string {
  return [LOG_FIGURES.requests(count), ...statuses.map(({ status }) => status)].join(", ");
}

function formatSeconds(seconds: number): string {
  return seconds < 10 ? `${formatDecimal(seconds, 2)} s` : formatDuration(seconds);
}

/** A time since the start of the log with the width of a clock's: `+00:01:05.250`. */
export function formatOffset(ms: number): string {
  const size = Math.abs(ms);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const milliseconds = String(size % 1000).padStart(3, "0");
  return `${ms < 0 ? "−" : "+"}${two(size / 3_600_000)}:${two(size / 60_000 % 60)}:${
    two(size / 1000 % 60)
  }.${milliseconds}`;
}

/** Counts of a stage: `39 lines, 1 warning, 2 errors, 18 requests, all answered 200`. */
export function stageCounts({ warnings, errors, requests, folds }: LogStage): string {
  return [
    LOG_FIGURES.lines(folds.reduce((sum, { lines }) => sum + lines.length, 0)),
    ...(warnings > 0 ? [LOG_FIGURES.warnings(warnings)] : []),
    ...(errors > 0 ? [LOG_FIGURES.errors(errors)] : []),
    ...(requests.count > 0 ? [LOG_FIGURES.requests(requests.count) + answers(requests.statuses)] : []),
  ].join(", ");
}

/** The message of a stage's last error; for a traceback without a record, its last line with words. null: no error. */
export function stoppedBy({ folds }: LogStage): string | null {
  let last: string | null = null;
  for (const { kind, lines } of folds.toReversed()) {
    if (kind !== "error") continue;
    for (const line of lines.toReversed()) {
      if (line.level !== null) return clip(line.message, MAX_STOPPED_CHARACTERS);
      if (last === null && /\p{L}/u.test(line.message)) last = line.message.replace(/^[\s|]+/, "");
      if (line.opensError) return last && clip(last, MAX_STOPPED_CHARACTERS);
    }
  }
  return last && clip(last, MAX_STOPPED_CHARACTERS);
}

const MAX_STOPPED_CHARACTERS = 300;

/** The hits of a search: `12 lines`, then `3 of 12`. */
export function hitsFigure(lines: readonly number[], current: number | null): string {
  const count = formatCount(lines.length);
  if (lines.length === 0) return LOG_LABELS.noHits;
  if (current !== null) return LOG_LABELS.hitOf(formatCount(placeOfHit(lines, current) + 1), count);
  return LOG_LABELS.hits(lines.length);
}

/** How the reading of a log stands. `stopped`: it was followed, but could not be read for too long. */
export type Following = "yes" | "no" | "waiting" | "stopped";

/** How a run stands, and whether its log is read again and again. */
export function outcomeChip(outcome: RunOutcome | null, following: Following): Chip {
  if (outcome === "finished") return { text: OUTCOMES.finished, tone: "done" };
  if (outcome === "failed") return { text: OUTCOMES.failed, tone: "bad" };
  if (following === "stopped") return { text: OUTCOMES.stopped, tone: "warn" };
  if (following === "waiting") return { text: OUTCOMES.waiting, tone: "idle" };
  if (outcome === "retrying") {
    return following === "yes"
      ? { text: OUTCOMES.anotherFollows, tone: "warn", live: true }
      : { text: OUTCOMES.attemptFailed, tone: "warn" };
  }
  return following === "yes"
    ? { text: OUTCOMES.live, tone: "run", live: true }
    : { text: OUTCOMES.noEnding, tone: "idle" };
}

/** Why a log cannot be shown. */
export function logProblem(problem: FetchProblem): string {
  return fetchProblemSentence(problem, {
    name: FILE_NAMES.log,
    isOurs: true,
    own: { 404: LOG_SENTENCES.noLog, "too large": LOG_SENTENCES.logTooLarge },
  });
}
