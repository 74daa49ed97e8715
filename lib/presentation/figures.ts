import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isAtGate, isWhole } from "./campaign_state.ts";
import { CARD } from "./card_sentences.ts";

/** A whole number with thousands separators: `81,204`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 page`, `2,000 pages`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** How far a campaign is, as the parts of one sentence. */
interface PagesSentence {
  /** What counts, `351 of 373 pages`. */
  readonly figure: string;
  /** The volumes that the figure is of, ` in 25 of 40 volumes`. */
  readonly base: string;
  /** `5 pages lost`; "" for none. */
  readonly lost: string;
}

/** The pages of the volumes that have started; before those are read how many volumes have. */
export function pagesSentence(job: JobSummary, detail: JobDetail | null): PagesSentence {
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
  // Of one that has succeeded, all.
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

/** A quality, 0..1, with two decimals. */
export function formatQuality(quality: number): string {
  return quality.toFixed(2);
}
