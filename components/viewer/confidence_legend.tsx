import { CONFIDENCE_STEPS, type ConfidenceStep } from "@/lib/pages/alto/alto_page.ts";
import { CONFIDENCE_WORDS, PAGE_TEXT_LABELS } from "@/lib/pages/alto/page_text_sentences.ts";

interface ConfidenceLegendProps {
  /** The step of each line, to count them; steps without a line are left out. Absent: all steps, uncounted. */
  readonly steps?: readonly ConfidenceStep[];
}

/** Legend of the tints of lines. */
export function ConfidenceLegend({ steps }: ConfidenceLegendProps) {
  const count = (step: ConfidenceStep) => steps?.filter((one) => one === step).length;
  return (
    <ul class="confidence-legend" aria-label={PAGE_TEXT_LABELS.confidenceLegend}>
      {CONFIDENCE_STEPS.map((step) => ({ step, lines: count(step) }))
        .filter(({ lines }) => lines !== 0)
        .map(({ step, lines }) => (
          <li key={step}>
            <span class={step}>{CONFIDENCE_WORDS[step]}</span> {lines !== undefined && PAGE_TEXT_LABELS.lines(lines)}
          </li>
        ))}
    </ul>
  );
}
