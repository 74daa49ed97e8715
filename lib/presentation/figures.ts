import type { JobDetail } from "@/lib/campaigns/projection/types.ts";
import { isWhole } from "./campaign_state.ts";

/** A whole number with thousands separators: `81,204`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 page`, `2,000 pages`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Pages of a campaign in one line: `≥ 81,204 / ≥ 240,118 pages · 3 failed`; `– pages` while nothing is known. */
export function pagesFigure(detail: JobDetail | null): string {
  if (!detail || !knowsPages(detail)) return "– pages";
  const figure = atLeast(detail);
  const failed = detail.pagesFailed > 0 ? ` · ${figure(detail.pagesFailed)} failed` : "";
  return `${figure(detail.pagesDone)} / ${figure(detail.pagesTotal)} pages${failed}`;
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
