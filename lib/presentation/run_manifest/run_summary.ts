import type { RunManifest, RunPage } from "./run_manifest.ts";

/** Pages that are listed as the slowest. */
const SLOWEST = 5;

/** What a run took and reached, over its pages. Durations are of the pages that it processed, in seconds. */
export interface RunSummary {
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly totalSeconds: number;
  readonly median: number | null;
  readonly p95: number | null;
  readonly max: number | null;
  readonly meanQuality: number | null;
  readonly minQuality: number | null;
  readonly slowest: readonly RunPage[];
}

/** Sums up a run; skipped pages took no time and do not count among the durations. */
export function summarizeRun({ pages, wallSeconds }: RunManifest): RunSummary {
  const timed = pages.filter(({ status, seconds }) => status !== "skipped" && seconds !== null)
    .sort((a, b) => Number(b.seconds) - Number(a.seconds));
  const durations = timed.map(({ seconds }) => Number(seconds)).reverse();
  const scores = pages.flatMap(({ quality }) => quality ?? []);
  const count = (status: RunPage["status"]) => pages.filter((page) => page.status === status).length;
  return {
    ok: count("ok"),
    failed: count("failed"),
    skipped: count("skipped"),
    totalSeconds: wallSeconds ?? durations.reduce((sum, seconds) => sum + seconds, 0),
    median: quantile(durations, 0.5),
    p95: quantile(durations, 0.95),
    max: durations.at(-1) ?? null,
    meanQuality: scores.length > 0 ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null,
    minQuality: scores.length > 0 ? scores.reduce((least, score) => Math.min(least, score), 1) : null,
    slowest: timed.slice(0, SLOWEST),
  };
}

/** A quantile of ascending values, linear between two of them; null without values. */
function quantile(ascending: readonly number[], part: number): number | null {
  if (ascending.length === 0) return null;
  const position = (ascending.length - 1) * part;
  const below = Math.floor(position);
  const next = ascending[Math.min(below + 1, ascending.length - 1)];
  return ascending[below] + (next - ascending[below]) * (position - below);
}

/** How a page's quality is shown. `lost`: the page has no text; `unscored`: its quality was not predicted. */
type QualityStep = "high" | "medium" | "low" | "unscored" | "lost";

export const QUALITY_STEPS: readonly QualityStep[] = ["high", "medium", "low", "unscored", "lost"];

export function qualityStep({ status, quality }: RunPage): QualityStep {
  if (status === "failed") return "lost";
  if (quality === null) return "unscored";
  return quality >= 0.9 ? "high" : quality >= 0.7 ? "medium" : "low";
}

export type PageOrder = "page" | "seconds" | "quality";

/** Orders pages: as in the volume, the slowest first, or the lowest quality first with lost pages before all. */
export function orderPages(pages: readonly RunPage[], order: PageOrder): readonly RunPage[] {
  if (order === "page") return pages;
  const key = order === "seconds"
    ? ({ seconds }: RunPage) => -(seconds ?? -1)
    : ({ status, quality }: RunPage) => status === "failed" ? -1 : quality ?? 2;
  return [...pages].sort((a, b) => key(a) - key(b));
}
