import type { LogLine } from "./lines.ts";

/** What the reader wants to see of a log. Each line is in exactly one of them but `all`, so that their counts add up. */
export type LevelFilter = "all" | LineLevel;

/** The level that a line counts for. A line that is no record counts for the record that it continues. */
type LineLevel = "debug" | "info" | "warning" | "error";

export const LEVEL_FILTERS: readonly LevelFilter[] = ["all", "debug", "info", "warning", "error"];

export function levelOf({ kind, level }: LogLine): LineLevel {
  if (kind === "error" || kind === "warning") return kind;
  return level === "DEBUG" ? "debug" : "info";
}

/** Whether a filter lets a line through. */
export function isShown(line: LogLine, filter: LevelFilter): boolean {
  return filter === "all" || levelOf(line) === filter;
}
