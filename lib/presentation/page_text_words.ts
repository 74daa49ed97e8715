import type { AltoPage } from "@/lib/presentation/alto/alto_page.ts";
import type { ConfidenceStep } from "@/lib/presentation/alto/confidence.ts";
import type { AltoProblem } from "@/lib/presentation/alto/read_alto.ts";
import { type FetchProblem, fetchProblemSentence } from "./fetch_problems.ts";
import { counted, formatQuality } from "@/lib/presentation/locale/figures.ts";

/** The legend of the tints, in its order. */
export const CONFIDENCE_LEGEND: readonly { readonly step: ConfidenceStep; readonly label: string }[] = [
  { step: "high", label: "90 % sure or more" },
  { step: "medium", label: "70 to 89 %" },
  { step: "low", label: "below 70 %" },
  { step: "unknown", label: "no confidence given" },
];

/** A line's confidence in words; a percentage is rounded down, so that it agrees with the step. */
export function confidenceWords(confidence: number | null): string {
  return confidence === null ? "no confidence given" : `${percent(confidence)} % sure`;
}

/** What is known of a page in one line. */
export function pageFigures({ blocks, confidence }: AltoPage): string {
  const lines = blocks.flatMap(({ lines }) => lines);
  const known = lines.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
  return [
    counted(lines.length, "line", "lines"),
    ...(known.length === 0
      ? []
      : [`on average ${percent(known.reduce((sum, one) => sum + one) / known.length)} % sure`]),
    ...(confidence === null ? [] : [`predicted quality ${formatQuality(confidence)}`]),
  ].join(" · ");
}

/** Why a page cannot be shown: the status of the response, or what the file is. */
export type PageProblem = FetchProblem | AltoProblem;

/** The same as a sentence. */
export function pageProblem(problem: PageProblem): string {
  switch (problem) {
    case "unknown encoding":
      return "The file is in an encoding that the browser cannot read. Save it and open it in another program.";
    case "not XML":
      return "The file is damaged: it is not well-formed XML. Its text is shown below as it is.";
    case "not ALTO":
      return "The file is XML but not ALTO, so no lines of text are known. It is shown below as it is.";
    default:
      return fetchProblemSentence(problem, {
        name: "The page",
        isOurs: true,
        own: { 404: "There is no file at this address. The page was not processed yet or was lost." },
      });
  }
}

/** 0.8999 is not yet 90 %. The product may lie just below the number that is meant: 0.29 * 100 is 28.999999999999996. */
function percent(confidence: number): number {
  return Math.floor(confidence * 100 + 1e-9);
}
