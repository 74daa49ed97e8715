import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isAtGate, isWhole } from "./campaign_state.ts";
import { CARD } from "./card_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";

/** How far a campaign is, as the parts of one sentence. */
interface PagesSentence {
  /** What counts, `351 of 373 pages`. */
  readonly figure: string;
  /** The volumes that the figure is of, ` in 25 of 40 volumes`. */
  readonly base: string;
  /** `5 pages could not be read`; "" for none. */
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
