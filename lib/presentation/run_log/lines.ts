type LogLevel = "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";

/**
 * What a line is about, to fold neighbours of one kind. `cut`: the worker says there that it left out the middle of a long
 * log.
 */
export type LineKind = "http" | "model" | "warning" | "error" | "info" | "cut";

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
  readonly kind: LineKind;
}

/**
 * Reads one line of a run log, such as `2025-01-31 08:15:00,250 INFO text`.
 *
 * @param text as {@linkcode printable} returns it
 * @param previous the kind of the line before it: a traceback goes on below its first line
 */
export function readLogLine(text: string, number: number, previous: LineKind | null): LogLine {
  const record = RECORD.exec(text);
  if (!record) {
    const kind = kindOf(null, text, previous);
    return { number, time: null, at: null, level: null, message: text, kind };
  }
  const [, date, clock, milliseconds, word, message = ""] = record;
  const time = `${clock}.${milliseconds}`;
  const level = LEVELS.find((level) => level === word) ?? null;
  return {
    number,
    time,
    at: instantOf(date, clock, milliseconds),
    level,
    message,
    kind: kindOf(level, message, previous),
  };
}

/** A line as it is shown, in one text. */
export function lineText({ time, level, message }: LogLine): string {
  return time === null ? message : `${time} ${level} ${message}`;
}

const LEVELS: readonly LogLevel[] = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"];
const RECORD = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}),(\d{3}) (DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: ([^]*))?$/;
const CONTINUES_ERROR = /^(?:\s|File "|$|[\w.]+(?:Error|Exception|Exit|Interrupt)\b)/;
const CONTINUES_WARNING = /^\s/;
/** The words of the line that stands for the middle of a long log are not fixed. */
const CUT = /\btruncated\b|\b(?:bytes|characters|lines) (?:\w+ )?(?:dropped|omitted|removed|left out|skipped)\b/i;
/** Longer lines are no such line: a worker writes it itself. */
const MAX_CUT_CHARACTERS = 200;

/** The day of the last line, ms: it is nearly always that of the next one. */
let lastDay = { date: "", start: NaN };

/** ms on the log's clock; null where there is no such day or time. */
function instantOf(date: string, clock: string, milliseconds: string): number | null {
  if (lastDay.date !== date) lastDay = { date, start: Date.parse(`${date}T00:00:00Z`) };
  const [hours, minutes, seconds] = [clock.slice(0, 2), clock.slice(3, 5), clock.slice(6)].map(Number);
  if (Number.isNaN(lastDay.start) || hours > 23 || minutes > 59 || seconds > 59) return null;
  return lastDay.start + ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number(milliseconds);
}

function kindOf(level: LogLevel | null, message: string, previous: LineKind | null): LineKind {
  if (level === "ERROR" || level === "CRITICAL" || message.startsWith("Traceback")) return "error";
  if (level === null && previous === "error" && CONTINUES_ERROR.test(message)) return "error";
  if (level === "WARNING") return "warning";
  if (level === null && previous === "warning" && CONTINUES_WARNING.test(message)) return "warning";
  if (level === null) return message.length <= MAX_CUT_CHARACTERS && CUT.test(message) ? "cut" : "info";
  if (level === "INFO" && message.startsWith("HTTP Request:")) return "http";
  return /\b(?:model|inference|initiali[sz])/i.test(message) ? "model" : "info";
}
