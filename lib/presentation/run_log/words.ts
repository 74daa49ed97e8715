import type { Chip } from "@/lib/presentation/campaign_state.ts";
import { formatDuration } from "@/lib/presentation/durations.ts";
import { type FetchProblem, fetchProblemSentence } from "@/lib/presentation/fetch_problems.ts";
import { counted } from "@/lib/presentation/figures.ts";
import type { LineKind } from "./lines.ts";
import type { LogStage, RunOutcome, RunStage } from "./run_log.ts";

/** The heading of a stage. */
export const STAGE_TITLES: Readonly<Record<RunStage, string>> = {
  config: "Settings",
  warmup: "Waiting for the warm-up",
  setup: "Reading the manifest",
  resume: "Checking earlier results",
  load: "Loading the model",
  stream: "Processing pages",
  verify: "Checking results",
  publish: "Publishing results",
};

/** What a fold of lines holds, where it is closed. */
export function foldWords(kind: LineKind, count: number): string {
  return kind === "http" ? counted(count, "request") : counted(count, "line");
}

/** Duration and counts of a stage in one line. */
export function stageFigures({ seconds, warnings, errors, folds }: LogStage): string {
  return [
    ...(seconds === null ? [] : [formatDuration(seconds)]),
    counted(folds.reduce((sum, { lines }) => sum + lines.length, 0), "line"),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(errors > 0 ? [counted(errors, "error")] : []),
  ].join(" · ");
}

/** How a run stands. `following`: the log is read again and again. */
export function outcomeChip(outcome: RunOutcome | null, following: boolean): Chip {
  if (outcome === "finished") return { text: "finished", tone: "done" };
  if (outcome === "failed") return { text: "failed", tone: "bad" };
  if (outcome === "retrying") return { text: "attempt failed, another one follows", tone: "warn" };
  return following ? { text: "live", tone: "run", live: true } : { text: "no ending in the log", tone: "idle" };
}

/** Why a log cannot be shown. */
export function logProblem(problem: FetchProblem): string {
  return fetchProblemSentence(problem, {
    name: "The log",
    isOurs: true,
    own: { 404: "There is no log yet. A worker uploads its first lines about 15 seconds after it has started." },
  });
}
