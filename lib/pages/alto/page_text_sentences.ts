import type { AltoPage } from "./alto_page.ts";
import type { AltoProblem } from "./read_alto.ts";
import { formatQuality } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { isKeyOf } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/page_text.ts";
import * as sv from "@/locales/sv/page_text.ts";
import { type FetchProblem, fetchProblemSentence, FILE_NAMES } from "@/lib/pages/fetch_problems.ts";

export const PAGE_TEXT_SENTENCES = inLanguage({ en: en.PAGE_TEXT_SENTENCES, sv: sv.PAGE_TEXT_SENTENCES });
export const PAGE_TEXT_LABELS = inLanguage({ en: en.PAGE_TEXT_LABELS, sv: sv.PAGE_TEXT_LABELS });
export const CONFIDENCE_WORDS = inLanguage({ en: en.CONFIDENCE_WORDS, sv: sv.CONFIDENCE_WORDS });
const PAGE_PROBLEMS = inLanguage({ en: en.PAGE_PROBLEMS, sv: sv.PAGE_PROBLEMS });

/** A line's confidence in words; a percentage is rounded down, so that it agrees with the step. */
export function confidenceWords(confidence: number | null): string {
  return confidence === null ? PAGE_TEXT_LABELS.noConfidence : PAGE_TEXT_LABELS.confidence(percent(confidence));
}

/** Line count, mean confidence and predicted quality in one line. */
export function pageFigures({ blocks, confidence }: AltoPage): string {
  const lines = blocks.flatMap(({ lines }) => lines);
  const known = lines.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
  const average = known.reduce((sum, one) => sum + one, 0) / known.length;
  return [
    PAGE_TEXT_LABELS.lines(lines.length),
    ...(known.length === 0 ? [] : [PAGE_TEXT_LABELS.averageConfidence(percent(average))]),
    ...(confidence === null ? [] : [PAGE_TEXT_LABELS.predictedQuality(formatQuality(confidence))]),
  ].join(" · ");
}

/** Why a page cannot be shown: the status of the response, or what the file is. */
export type PageProblem = FetchProblem | AltoProblem;

/** The same as a sentence. */
export function pageProblem(problem: PageProblem): string {
  return isKeyOf(PAGE_PROBLEMS, problem) ? PAGE_PROBLEMS[problem] : fetchProblemSentence(problem, {
    name: FILE_NAMES.page,
    isOurs: true,
    own: { 404: PAGE_TEXT_SENTENCES.noFile },
  });
}

/** 0.8999 is not yet 90 %. The product may lie just below the number that is meant: 0.29 * 100 is 28.999999999999996. */
function percent(confidence: number): number {
  return Math.floor(confidence * 100 + 1e-9);
}
