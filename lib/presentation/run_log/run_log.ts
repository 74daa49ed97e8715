import { classifyLine, type LineKind, type LogLine, readLogLine } from "./lines.ts";

/** Characters of a log that are parsed unless the reader wants all of it: its end. */
export const MAX_LOG_CHARACTERS = 2_000_000;
/** Lines at the end of a log in which its outcome is looked for. */
const OUTCOME_LINES = 500;

/** Where a worker is. `config` and `warmup` appear only by their failure. */
export type RunStage =
  | "config"
  | "warmup"
  | "setup"
  | "resume"
  | "load"
  | "stream"
  | "verify"
  | "publish";

/** `retrying`: the attempt failed and another one follows. */
export type RunOutcome = "finished" | "failed" | "retrying";

/** Consecutive lines of one kind. */
export interface LogFold {
  readonly kind: LineKind;
  readonly lines: readonly LogLine[];
}

export interface LogStage {
  readonly name: RunStage;
  readonly folds: readonly LogFold[];
  /** From its first line to the next stage's; null when the lines carry no time. */
  readonly seconds: number | null;
  /** Lines of level WARNING. */
  readonly warnings: number;
  /** Lines of level ERROR or CRITICAL. */
  readonly errors: number;
}

export interface RunLog {
  readonly stages: readonly LogStage[];
  /** null while the log does not say. */
  readonly outcome: RunOutcome | null;
  /** Lines of the whole log. */
  readonly lineCount: number;
  /** Characters at its beginning that were left out. */
  readonly hiddenCharacters: number;
}

/**
 * Parses a volume's run log into the stages of the run. The log names no stages: they follow from landmarks in its
 * messages, and a line without one belongs to the stage before it. Never throws.
 */
export function parseRunLog(
  text: string,
  maxCharacters: number = MAX_LOG_CHARACTERS,
): RunLog {
  const whole = unwrapped(text);
  const start = visibleStart(whole, maxCharacters);
  const hiddenLines = countLineEnds(whole, start);
  const lines = splitLines(whole.slice(start)).map((line, position) => readLogLine(line, hiddenLines + position + 1));
  return {
    stages: groupByStage(lines),
    outcome: outcomeOf(lines.slice(-OUTCOME_LINES)),
    lineCount: hiddenLines + lines.length,
    hiddenCharacters: start,
  };
}

/** How a run ended, by the last line that says so. */
function outcomeOf(lines: readonly LogLine[]): RunOutcome | null {
  for (const { message } of lines.toReversed()) {
    if (/\] COMPLETE \d+ pages/.test(message)) return "finished";
    if (
      /permanent failure in \w+:|transient failure in \w+ on the last attempt:/
        .test(message)
    ) return "failed";
    if (/transient failure in \w+:/.test(message)) return "retrying";
  }
  return null;
}

interface OpenStage {
  readonly name: RunStage;
  readonly folds: { kind: LineKind; lines: LogLine[] }[];
}

/** Workers may begin a message with the volume that it is about. */
const VOLUME_TAG = /^\[[^\]]*\] /;

const STAGES: ReadonlySet<string> = new Set<RunStage>([
  "config",
  "warmup",
  "setup",
  "resume",
  "load",
  "stream",
  "verify",
  "publish",
]);

function groupByStage(lines: readonly LogLine[]): LogStage[] {
  const stages: OpenStage[] = [];
  let expected: RunStage = "setup";
  let previous: LineKind | null = null;
  for (const line of lines) {
    const kind = classifyLine(line, previous);
    const stage = stageOf(line, kind, expected);
    if (stages.at(-1)?.name !== stage) stages.push({ name: stage, folds: [] });
    const folds = stages[stages.length - 1].folds;
    if (folds.at(-1)?.kind === kind) folds[folds.length - 1].lines.push(line);
    else folds.push({ kind, lines: [line] });
    expected = stageAfter(line, stage);
    previous = kind;
  }
  return stages.map((stage, position) => closed(stage, stages[position + 1]));
}

/** The stage a line belongs to, when the line before it left off in `expected`. */
function stageOf(line: LogLine, kind: LineKind, expected: RunStage): RunStage {
  const { message } = line;
  const said = message.replace(VOLUME_TAG, "");
  const failed = /(?:permanent|transient) failure in (\w+)/.exec(said)?.[1];
  if (failed && isStage(failed)) return failed;
  if (isManifestLine(message)) return "setup";
  if (isResumeLine(message)) return "resume";
  if (/\] COMPLETE \d+ pages/.test(message) || /^publish/i.test(said)) {
    return "publish";
  }
  if (/^verify/i.test(said)) return "verify";
  return expected === "load" && kind === "model" &&
      /inference|predict/i.test(message)
    ? "stream"
    : expected;
}

function stageAfter({ message }: LogLine, stage: RunStage): RunStage {
  if (isManifestLine(message)) return "resume";
  return isResumeLine(message) ? "load" : stage;
}

function isManifestLine(message: string): boolean {
  return /\] \d+ pages in manifest/.test(message);
}

function isResumeLine(message: string): boolean {
  return /(?:^|\s)resume: \d+ done, \d+ to process/.test(message);
}

function isStage(name: string): name is RunStage {
  return STAGES.has(name);
}

function closed(
  { name, folds }: OpenStage,
  next: OpenStage | undefined,
): LogStage {
  const lines = folds.flatMap((fold) => fold.lines);
  const times = lines.flatMap((line) => line.at ?? []);
  const end = next?.folds.flatMap((fold) => fold.lines).find((line) => line.at !== null)
    ?.at ?? times.at(-1);
  return {
    name,
    folds,
    seconds: times.length > 0 && end !== undefined ? Math.max(0, (end - times[0]) / 1000) : null,
    warnings: lines.filter((line) => line.level === "WARNING").length,
    errors: lines.filter((line) => line.level === "ERROR" || line.level === "CRITICAL").length,
  };
}

/** Old workers stored the printed form of a byte string, `b'…\n…'`, on one line. */
function unwrapped(text: string): string {
  const printed = text.trimEnd();
  const quote = printed[1];
  const isBytes = printed.length > 2 && printed[0] === "b" &&
    (quote === "'" || quote === '"');
  if (!isBytes || !printed.endsWith(quote) || printed.includes("\n")) {
    return text;
  }
  return new TextDecoder().decode(unescaped(new TextEncoder().encode(printed.slice(2, -1))));
}

const BACKSLASH = 0x5c;
const ESCAPES: ReadonlyMap<number, number> = new Map(
  [["n", "\n"], ["t", "\t"], ["r", "\r"], ["\\", "\\"], ["'", "'"], ['"', '"']]
    .map(([escape, meant]) => [escape.charCodeAt(0), meant.charCodeAt(0)]),
);

/** Undoes the escapes of a printed byte string, in place; an escape of another kind stays as it is. */
function unescaped(bytes: Uint8Array): Uint8Array {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const meant = bytes[at] === BACKSLASH ? ESCAPES.get(bytes[at + 1]) : undefined;
    const hex = bytes[at] === BACKSLASH && bytes[at + 1] === 0x78 ? hexByte(bytes[at + 2], bytes[at + 3]) : null;
    bytes[length++] = hex ?? meant ?? bytes[at];
    if (hex !== null) at += 3;
    else if (meant !== undefined) at += 1;
  }
  return bytes.subarray(0, length);
}

function hexByte(high: number | undefined, low: number | undefined): number | null {
  const digits = String.fromCharCode(high ?? 0, low ?? 0);
  return /^[0-9a-fA-F]{2}$/.test(digits) ? parseInt(digits, 16) : null;
}

/** The start of the first whole line within the last `limit` characters. */
function visibleStart(text: string, limit: number): number {
  if (text.length <= limit) return 0;
  const cut = text.length - limit;
  const lineEnd = text.indexOf("\n", cut - 1);
  return lineEnd < 0 || lineEnd === text.length - 1 ? cut : lineEnd + 1;
}

function countLineEnds(text: string, end: number): number {
  let count = 0;
  for (
    let at = text.indexOf("\n");
    at >= 0 && at < end;
    at = text.indexOf("\n", at + 1)
  ) count++;
  return count;
}

function splitLines(text: string): string[] {
  const lines = text.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
