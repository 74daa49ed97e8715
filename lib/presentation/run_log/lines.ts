type LogLevel = "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";

/** What a line is about, to fold neighbours of one kind. */
export type LineKind = "http" | "model" | "warning" | "error" | "info";

export interface LogLine {
  /** From 1, in the whole log. */
  readonly number: number;
  /** `HH:MM:SS.mmm`; null for a line that is no log record. */
  readonly time: string | null;
  /** Milliseconds on the log's own clock (its zone is unknown), for differences only. */
  readonly at: number | null;
  readonly level: LogLevel | null;
  /** The record's message, or the whole line. */
  readonly message: string;
}

/** Reads one line of a run log, such as `2025-01-31 08:15:00,250 INFO text`. */
export function readLogLine(text: string, number: number): LogLine {
  const record = RECORD.exec(text);
  if (!record) {
    return { number, time: null, at: null, level: null, message: text };
  }
  const [, date, clock, milliseconds, level, message = ""] = record;
  const time = `${clock}.${milliseconds}`;
  const at = Date.parse(`${date}T${time}Z`);
  return {
    number,
    time,
    at: Number.isNaN(at) ? null : at,
    level: levelOf(level),
    message,
  };
}

/** The kind of a line, given that of the line before it: a traceback goes on below its first line. */
export function classifyLine(
  { level, message }: LogLine,
  previous: LineKind | null,
): LineKind {
  if (
    level === "ERROR" || level === "CRITICAL" || message.startsWith("Traceback")
  ) return "error";
  if (level === null && previous === "error" && CONTINUES_ERROR.test(message)) {
    return "error";
  }
  if (level === "WARNING") return "warning";
  if (level === "INFO" && message.startsWith("HTTP Request:")) return "http";
  return level !== null && /\b(?:model|inference|initiali[sz])/i.test(message) ? "model" : "info";
}

const LEVELS: readonly LogLevel[] = [
  "DEBUG",
  "INFO",
  "WARNING",
  "ERROR",
  "CRITICAL",
];
const RECORD = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}),(\d{3}) (DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: ([^]*))?$/;
const CONTINUES_ERROR = /^(?:\s|File "|$|[\w.]+(?:Error|Exception|Exit|Interrupt)\b)/;

function levelOf(text: string): LogLevel | null {
  return LEVELS.find((level) => level === text) ?? null;
}
