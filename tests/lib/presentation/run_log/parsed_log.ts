import { parseRunLogInSteps, type RunLog } from "@/lib/presentation/run_log/run_log.ts";

/** Parses a log at once. */
export function parseRunLog(text: string, maxCharacters?: number): RunLog {
  const steps = parseRunLogInSteps(text, maxCharacters);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
