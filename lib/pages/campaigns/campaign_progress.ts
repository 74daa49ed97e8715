import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { CARD } from "./campaign_sentences.ts";
import { isAtGate, isSettled, isWaiting, isWhole, lacksWarmup } from "./campaign_state.ts";
import { formatAge, formatSpan } from "@/lib/pages/moments.ts";

/**
 * The pages of the volumes that have started; before they are known, the number of these volumes.
 *
 * @returns the parts of one sentence: `351 of 373 pages`, ` in 25 of 40 volumes` and `5 pages could not be read`
 */
export function pagesSentence(job: JobSummary, detail: JobDetail | null) {
  const { counts } = job;
  const all = formatCount(counts.total);
  if (detail && knowsPages(detail)) {
    const figure = atLeast(detail);
    return {
      figure: CARD.pagesIn(figure(detail.pagesDone), figure(detail.pagesTotal)),
      base: CARD.inVolumes(formatCount(detail.pagesCoverage.of), all),
      lost: detail.pagesFailed > 0 ? CARD.pagesLost(figure(detail.pagesFailed), detail.pagesFailed === 1) : "",
    };
  }
  const started = Math.min(counts.total, counts.done + counts.failed + counts.active);
  if (started === 0) return { figure: CARD.noPageRead, base: CARD.noneStarted(all), lost: "" };
  if (isAtGate(job)) return { figure: CARD.noPageRead, base: CARD.atGate(formatCount(started), all), lost: "" };
  const base = job.phase === "Succeeded" ? CARD.allDone : CARD.started;
  return { figure: CARD.volumesStarted(formatCount(started), all), base, lost: "" };
}

/** Whether anything was read about the pages; volumes may have started and written nothing yet. */
export function knowsPages({ pagesDone, pagesTotal, pagesFailed }: JobDetail): boolean {
  return pagesDone + pagesTotal + pagesFailed > 0;
}

/** Writes the figures of a detail: each with `≥` until its sums cover every volume. */
export function atLeast(detail: JobDetail): (count: number) => string {
  const mark = isWhole(detail) ? "" : "≥ ";
  return (count) => mark + formatCount(count);
}

/** A duration or an age, with the instant that it is relative to. */
export interface TimeWords {
  readonly text: string;
  /** RFC 3339; null where no instant is known. */
  readonly at: string | null;
  /** Name of the event at the instant. */
  readonly of: string;
}

/**
 * When a campaign ends or ended, and how long it has run, waited or taken.
 *
 * @param now ms since 1970
 */
export function timesOf(job: JobSummary, detail: JobDetail | null, now: number) {
  const { createdAt, startedAt, finishedAt } = job;
  if (isSettled(job)) {
    const begin = startedAt ?? createdAt;
    const took = spanBetween(begin, finishedAt);
    return {
      main: finishedAt === null
        ? words(CARD.endNotRecorded, null, "")
        : words(CARD.endedAgo(ageOf(finishedAt, now)), finishedAt, CARD.endedAt),
      sub: took === ""
        ? words(CARD.createdAgo(ageOf(createdAt, now)), createdAt, CARD.createdAt)
        : words(CARD.took(took), begin, CARD.startedAt),
    };
  }
  if (isWaiting(job)) {
    const since = job.waiting?.since ?? createdAt;
    return {
      main: words(job.phase === "Paused" ? CARD.paused : CARD.notStarted, null, ""),
      sub: words(CARD.waitingFor(spanTo(since, now)), since, CARD.waitingSince),
    };
  }
  const begin = startedAt ?? createdAt;
  const sub = words(CARD.runningFor(spanTo(begin, now)), begin, CARD.startedAt);
  const endsAt = detail?.pace?.endsAt ?? null;
  if (endsAt === null && lacksWarmup(job)) return { main: words(CARD.standsStill, null, ""), sub };
  return { main: endWords(endsAt, now), sub };
}

function endWords(endsAt: string | null, now: number): TimeWords {
  const left = (Date.parse(endsAt ?? "") - now) / 1000;
  if (Number.isNaN(left)) return words(CARD.endUnknown, null, "");
  const text = left < 60 ? CARD.littleTimeLeft : CARD.timeLeft(formatSpan(left));
  return words(text, endsAt, CARD.estimatedEnd);
}

/** Empty if the instant is missing or invalid. */
function words(text: string, at: string | null, of: string): TimeWords {
  const isKnown = of === "" || !Number.isNaN(Date.parse(at ?? ""));
  return isKnown ? { text, at, of } : { text: "", at: null, of: "" };
}

function spanTo(begin: string | null, now: number): string {
  return formatSpan(Math.max(0, (now - Date.parse(begin ?? "")) / 1000));
}

function spanBetween(begin: string | null, end: string | null): string {
  return formatSpan((Date.parse(end ?? "") - Date.parse(begin ?? "")) / 1000);
}

function ageOf(instant: string | null, now: number): string {
  return formatAge((now - Date.parse(instant ?? "")) / 1000);
}
