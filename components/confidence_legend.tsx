import type { ConfidenceStep } from "@/lib/presentation/alto/confidence.ts";
import { counted } from "@/lib/presentation/locale/figures.ts";
import { PAGE_TEXT_LABELS } from "@/lib/presentation/page_text_sentences.ts";
import { CONFIDENCE_LEGEND } from "@/lib/presentation/page_text_words.ts";

interface ConfidenceLegendProps {
  /** The step of each line, to count them; steps without a line are left out. Absent: all steps, uncounted. */
  readonly steps?: readonly ConfidenceStep[];
}

/** What the tints of a page's lines mean. */
export function ConfidenceLegend({ steps }: ConfidenceLegendProps) {
  const count = (step: ConfidenceStep) => steps?.filter((one) => one === step).length;
  return (
    <ul class="confidence-legend" aria-label={PAGE_TEXT_LABELS.confidenceLegend}>
      {CONFIDENCE_LEGEND.map(({ step, label }) => ({ step, label, lines: count(step) }))
        .filter(({ lines }) => lines !== 0)
        .map(({ step, label, lines }) => (
          <li key={step}>
            <span class={step}>{label}</span> {lines !== undefined && counted(lines, "line", "lines")}
          </li>
        ))}
    </ul>
  );
}
