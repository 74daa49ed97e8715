import { formatDuration } from "@/lib/presentation/durations.ts";
import { type FetchProblem, fetchProblemSentence } from "@/lib/presentation/fetch_problems.ts";
import { formatQuality } from "@/lib/presentation/locale/figures.ts";
import type { RunPage } from "./run_manifest.ts";
import type { PageOrder, QualityStep } from "./run_summary.ts";

export const UNREADABLE_MANIFEST = "The run's summary cannot be shown: its manifest is not what a run writes.";

/** Why a run's manifest cannot be shown. */
export function manifestProblem(problem: FetchProblem): string {
  return fetchProblemSentence(problem, {
    name: "The run's summary",
    isOurs: true,
    own: { "too large": UNREADABLE_MANIFEST },
  });
}

/** What a colour of the page grid means. */
export const QUALITY_STEP_WORDS: Readonly<Record<QualityStep, string>> = {
  high: "quality 0.90 and above",
  medium: "0.70 to 0.89",
  low: "below 0.70",
  unscored: "no quality predicted",
  lost: "lost",
};

export const PAGE_ORDER_WORDS: Readonly<Record<PageOrder, string>> = {
  page: "Page",
  seconds: "Seconds",
  quality: "Quality",
};

/** A page in one line: `Page 0007: 12.3 s, quality 0.61`. */
export function pageWords({ name, status, seconds, quality, error }: RunPage): string {
  const facts = [
    ...(status === "failed" ? ["lost"] : status === "skipped" ? ["read by an earlier run"] : []),
    ...(seconds !== null && status !== "skipped" ? [formatDuration(seconds)] : []),
    ...(quality !== null ? [`quality ${formatQuality(quality)}`] : []),
    ...(error !== null ? [error] : []),
  ];
  return `Page ${name}${facts.length > 0 ? `: ${facts.join(", ")}` : ""}`;
}
