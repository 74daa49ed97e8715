/** How sure the recognition is, in steps; the surest first. */
export const CONFIDENCE_STEPS = ["high", "medium", "low", "unknown"] as const;
export type ConfidenceStep = (typeof CONFIDENCE_STEPS)[number];

const HIGH = 0.9;
const MEDIUM = 0.7;

/** @param confidence 0 to 1; null where the file gives none */
export function confidenceStep(confidence: number | null): ConfidenceStep {
  if (confidence === null) return "unknown";
  return confidence >= HIGH ? "high" : confidence >= MEDIUM ? "medium" : "low";
}
