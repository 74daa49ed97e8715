import { formatDuration } from "@/lib/presentation/durations.ts";
import { type FetchProblem, fetchProblemSentence, FILE_NAMES } from "@/lib/presentation/fetch_problems.ts";
import { formatQuality } from "@/lib/presentation/locale/figures.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/log.ts";
import * as sv from "@/locales/sv/log.ts";
import type { RunPage } from "./run_manifest.ts";

export const RUN_WORDS = inLanguage({ en: en.RUN_WORDS, sv: sv.RUN_WORDS });
export const QUALITY_STEP_WORDS = inLanguage({ en: en.QUALITY_STEP_WORDS, sv: sv.QUALITY_STEP_WORDS });
export const PAGE_ORDER_WORDS = inLanguage({ en: en.PAGE_ORDER_WORDS, sv: sv.PAGE_ORDER_WORDS });

/** Why a run's manifest cannot be shown. */
export function manifestProblem(problem: FetchProblem): string {
  return fetchProblemSentence(problem, {
    name: FILE_NAMES.runSummary,
    isOurs: true,
    own: { "too large": RUN_WORDS.unreadable },
  });
}

/** A page in one line: `Page 0007: 12.3 s, quality 0.61`. */
export function pageWords({ name, status, seconds, quality, error }: RunPage): string {
  const facts = [
    ...(status === "failed" ? [RUN_WORDS.lost] : status === "skipped" ? [RUN_WORDS.readEarlier] : []),
    ...(seconds !== null && status !== "skipped" ? [formatDuration(seconds)] : []),
    ...(quality !== null ? [RUN_WORDS.quality(formatQuality(quality))] : []),
    ...(error !== null ? [error] : []),
  ];
  return RUN_WORDS.page(name, facts.join(", "));
}
