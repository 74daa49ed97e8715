import { printable, terminalLinesInSteps, unwrapInSteps } from "./log_text.ts";
import {
  type LevelFilter,
  levelOf,
  type LineKind,
  type LogLine,
  LogLineReader,
  type RequestStatuses,
  StatusCounts,
} from "./log_lines.ts";

/** Characters of a log that are parsed unless the reader wants all of it: its end. */
export const MAX_LOG_CHARACTERS = 2_000_000;
/** Lines that are read between two steps. */
const LINES_A_STEP = 200;
/** Characters that a step may read beyond its last line: lines have no limit. */
const CHARACTERS_A_STEP = 100_000;
/** Lines at the end of a log in which its outcome is looked for. */
const OUTCOME_LINES = 500;

/** The stages of a worker. `config` and `warmup` appear only by their failure. */
const STAGES = ["config", "warmup", "setup", "resume", "load", "stream", "verify", "publish"] as const;
type RunStage = typeof STAGES[number];

/** `retrying`: the attempt failed and another one follows. */
export type RunOutcome = "finished" | "failed" | "retrying";

/** Consecutive lines of one kind. */
interface LogFold {
  readonly kind: LineKind;
  readonly lines: readonly LogLine[];
}

export interface LogStage {
  readonly name: RunStage;
  readonly folds: readonly LogFold[];
  /** Time between its first line and the next stage's; null when the lines carry no time. */
  readonly seconds: number | null;
  /** Lines of level WARNING. */
  readonly warnings: number;
  /** Lines of level ERROR or CRITICAL, and tracebacks that continue no record. */
  readonly errors: number;
  readonly requests: RequestStatuses;
}

export interface RunLog {
  readonly stages: readonly LogStage[];
  /** null: not known yet. */
  readonly outcome: RunOutcome | null;
  /** Lines of the whole log. */
  readonly lineCount: number;
  /** The number of the first line of `stages`. */
  readonly firstNumber: number;
  /** Number of lines in `stages` that pass each filter. */
  readonly counts: Readonly<Record<LevelFilter, number>>;
  /** Time of the log's first record, on the log's clock, ms; null where no line has a time. */
  readonly startedAt: number | null;
  /** Time of the last record, likewise. */
  readonly endedAt: number | null;
  /** Pages that the volume has, by the log; null where it does not say. */
  readonly pageCount: number | null;
  /** The line by which the worker replaced the middle of the log; null: none. */
  readonly cutNumber: number | null;
  /** Characters before the shown part. */
  readonly hiddenCharacters: number;
}

/**
 * Parses a volume's run log into the stages of the run. The log names no stages: they follow from landmarks in its
 * messages, and a line without one belongs to the stage before it. It never throws.
 *
 * @param text of the file
 * @param maxCharacters at its end that are parsed, from a whole line on
 */
export function* parseRunLogInSteps(
  text: string,
  maxCharacters: number = MAX_LOG_CHARACTERS,
): Generator<undefined, RunLog, void> {
  const whole = yield* terminalLinesInSteps(yield* unwrapInSteps(text));
  const start = visibleStart(whole, maxCharacters);
  yield;
  const hiddenLines = yield* countLineEnds(whole, start);
  const lines: LogLine[] = [];
  const counts = { all: 0, debug: 0, info: 0, warning: 0, error: 0 };
  let pageCount: number | null = null;
  let cutNumber: number | null = null;
  let characters = 0;
  const reader = new LogLineReader();
  for (const text of splitLines(whole, start)) {
    const line = reader.read(printable(text), hiddenLines + lines.length + 1);
    lines.push(line);
    // All that is counted is counted here: a pass over all lines at the end would be one long task.
    counts.all++;
    counts[levelOf(line)]++;
    pageCount = pageCountOf(line) ?? pageCount;
    if (line.kind === "cut") cutNumber ??= line.number;
    characters += text.length;
    if (lines.length % LINES_A_STEP === 0 || characters > CHARACTERS_A_STEP) {
      characters = 0;
      yield;
    }
  }
  const stages = yield* groupByStage(lines, stageBefore(whole, start));
  return {
    stages,
    outcome: outcomeOf(lines.slice(-OUTCOME_LINES)),
    lineCount: hiddenLines + lines.length,
    firstNumber: hiddenLines + 1,
    counts,
    startedAt: start > 0 ? firstTime(whole) : lines.find(hasTime)?.at ?? null,
    endedAt: lines.findLast(hasTime)?.at ?? null,
    pageCount,
    cutNumber,
    hiddenCharacters: start,
  };
}

const hasTime = ({ at }: LogLine) => at !== null;

/** The time of the first record, which is among the first lines. */
function firstTime(text: string): number | null {
  const lines = splitLines(text.slice(0, CHARACTERS_A_STEP), 0);
  for (const line of lines) {
    const { at } = new LogLineReader().read(printable(line), 1);
    if (at !== null) return at;
  }
  return null;
}

const PAGE_COUNT = /\] (?=\d+ pages in manifest|COMPLETE )\D*(\d{1,7}) pages/;

function pageCountOf({ kind, message }: LogLine): number | null {
  const count = kind === "http" ? null : PAGE_COUNT.exec(message);
  return count && Number(count[1]);
}

/** How a run ended, by the last line that says so. */
function outcomeOf(lines: readonly LogLine[]): RunOutcome | null {
  for (const { message } of lines.toReversed()) {
    if (/\] COMPLETE \d+ pages/.test(message)) return "finished";
    if (/permanent failure in \w+:|transient failure in \w+ on the last attempt:/.test(message)) return "failed";
    if (/transient failure in \w+:/.test(message)) return "retrying";
  }
  return null;
}

interface OpenStage {
  readonly name: RunStage;
  readonly folds: { kind: LineKind; lines: LogLine[] }[];
  readonly statuses: StatusCounts;
  warnings: number;
  errors: number;
}

/** Workers may write the volume before a message. */
const VOLUME_TAG = /^\[[^\]]*\] /;

/** The stage in which the shown part of a log starts. */
function stageBefore(text: string, start: number): RunStage {
  if (start === 0) return "setup";
  const resume = text.lastIndexOf(" to process", start);
  const manifest = text.lastIndexOf(" pages in manifest", start);
  // Loading is over after so many lines.
  return manifest < 0 && resume < 0 ? "setup" : resume > manifest ? "stream" : "resume";
}

/** @param first the stage of the first lines, unless they name another */
function* groupByStage(lines: readonly LogLine[], first: RunStage): Generator<undefined, LogStage[], void> {
  const stages: OpenStage[] = [];
  let expected = first;
  for (const line of lines) {
    const { kind } = line;
    const stage = stageOf(line, expected);
    if (stages.at(-1)?.name !== stage) {
      stages.push({ name: stage, folds: [], statuses: new StatusCounts(), warnings: 0, errors: 0 });
    }
    const open = stages[stages.length - 1];
    if (open.folds.at(-1)?.kind === kind) open.folds[open.folds.length - 1].lines.push(line);
    else open.folds.push({ kind, lines: [line] });
    if (kind === "http") open.statuses.add(line);
    if (line.level === "WARNING") open.warnings++;
    if (line.opensError) open.errors++;
    expected = stageAfter(line, stage);
    if (line.number % LINES_A_STEP === 0) yield;
  }
  return stages.map((stage, position) => closed(stage, stages[position + 1]));
}

/** The stage a line belongs to, when the line before it left off in `expected`. */
function stageOf({ message, kind }: LogLine, expected: RunStage): RunStage {
  // Most lines of a log are requests, and none of them is a landmark.
  if (kind === "http") return expected;
  const said = message.replace(VOLUME_TAG, "");
  const named = /(?:permanent|transient) failure in (\w+)/.exec(said)?.[1];
  const failed = STAGES.find((stage) => stage === named);
  if (failed) return failed;
  if (isManifestLine(message)) return "setup";
  if (isResumeLine(message)) return "resume";
  if (/\] COMPLETE \d+ pages/.test(message) || /^publish/i.test(said)) return "publish";
  if (/^verify/i.test(said)) return "verify";
  return expected === "load" && kind === "model" && /inference|predict/i.test(message) ? "stream" : expected;
}

function stageAfter({ message, kind }: LogLine, stage: RunStage): RunStage {
  if (kind === "http") return stage;
  if (isManifestLine(message)) return "resume";
  return isResumeLine(message) ? "load" : stage;
}

function isManifestLine(message: string): boolean {
  return /\] \d+ pages in manifest/.test(message);
}

function isResumeLine(message: string): boolean {
  return /(?:^|\s)resume: \d+ done, \d+ to process/.test(message);
}

function closed({ name, folds, statuses, warnings, errors }: OpenStage, next: OpenStage | undefined): LogStage {
  const start = timeOf(folds, (lines) => lines.find(hasTime));
  const end = (next ? timeOf(next.folds, (lines) => lines.find(hasTime)) : null) ??
    timeOf(folds.toReversed(), (lines) => lines.findLast(hasTime));
  return {
    name,
    folds,
    seconds: start !== null && end !== null ? Math.max(0, (end - start) / 1000) : null,
    warnings,
    errors,
    requests: statuses.result(),
  };
}

function timeOf(folds: readonly LogFold[], find: (lines: readonly LogLine[]) => LogLine | undefined): number | null {
  for (const { lines } of folds) {
    const at = find(lines)?.at;
    if (at != null) return at;
  }
  return null;
}

/** The start of the first whole line within the last `limit` characters. */
function visibleStart(text: string, limit: number): number {
  if (text.length <= limit) return 0;
  const cut = text.length - limit;
  const lineEnd = text.indexOf("\n", cut - 1);
  return lineEnd < 0 || lineEnd === text.length - 1 ? cut : lineEnd + 1;
}

function* countLineEnds(text: string, end: number): Generator<undefined, number, void> {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    count++;
    if (count % (10 * LINES_A_STEP) === 0) yield;
  }
  return count;
}

/** The lines from a place on; an empty one behind the last line end is none. */
function* splitLines(text: string, start: number): Generator<string, void, void> {
  while (start < text.length) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    yield text.slice(start, end > start && text[end - 1] === "\r" ? end - 1 : end);
    start = end + 1;
  }
}
