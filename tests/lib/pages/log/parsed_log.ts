import { parseRunLogInSteps, type RunLog } from "@/lib/pages/log/run_log.ts";
import { resultOf } from "@/tests/result_of.ts";

/** Parses a log at once. */
export function parseRunLog(text: string, maxCharacters?: number): RunLog {
  return resultOf(parseRunLogInSteps(text, maxCharacters));
}
