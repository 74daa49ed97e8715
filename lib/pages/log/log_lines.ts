const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
type LogLevel = typeof LEVELS[number];

/**
 * Subject of a line: consecutive lines of one kind form a fold. `cut`: the line says that the worker omitted the middle of a
 * long log.
 */
export type LineKind = "http" | "model" | "warning" | "error" | "info" | "cut";

export interface LogLine {
  /** Its number in the whole log; the first is 1. */
  readonly number: number;
  /** `HH:MM:SS.mmm`; null for a line that is no log record. */
  readonly time: string | null;
  /** Milliseconds on the log's own clock (its zone is unknown), for differences only. */
  readonly at: number | null;
  readonly level: LogLevel | null;
  /** The record's message, or the whole line. */
  readonly message: string;
  readonly kind: LineKind;
  /** A record of level ERROR or CRITICAL, or the first line of a traceback that continues no record. */
  readonly opensError: boolean;
}

/** Reads the lines of a run log one after the other: a line that is no record may continue the record before it. */
export class LogLineReader {
  /** Kind of the record or traceback that the next lines may continue; null: there is none. */
  #owner: "error" | "warning" | null = null;
  #traceback: "none" | "in frames" | "over" = "none";
  /** The line before continues, or is, the record. */
  #isAdjacent = false;

  /**
   * Reads the next line, such as `2025-01-31 08:15:00,250 INFO text`.
   *
   * @param text as {@linkcode printable} returns it
   */
  read(text: string, number: number): LogLine {
    const record = RECORD.exec(text);
    return record ? this.#record(record, number) : this.#other(text, number);
  }

  #record([, date, clock, milliseconds, word, message = ""]: RegExpExecArray, number: number): LogLine {
    const level = LEVELS.find((level) => level === word) ?? null;
    const kind = kindOfRecord(level, message);
    this.#owner = kind === "error" || kind === "warning" ? kind : null;
    this.#traceback = TRACEBACK.test(message) ? "in frames" : "none";
    this.#isAdjacent = true;
    return {
      number,
      time: `${clock}.${milliseconds}`,
      at: instantOf(date, clock, milliseconds),
      level,
      message,
      kind,
      opensError: level === "ERROR" || level === "CRITICAL",
    };
  }

  #other(text: string, number: number): LogLine {
    const line = { number, time: null, at: null, level: null, message: text };
    // A traceback after a complete one is a separate error unless the two are chained. A thread's traceback always is.
    const isUnchained = this.#owner === null || this.#traceback === "over" && !/^\s*\|/.test(text);
    const isFirst = THREAD.test(text) || TRACEBACK.test(text) && isUnchained;
    if (isFirst) this.#owner = "error";
    if (this.#owner === null || !isFirst && !this.#continues(text)) {
      this.#isAdjacent = false;
      const kind = CUT.test(text) ? "cut" : "info";
      if (kind === "cut") this.#owner = null;
      return { ...line, kind, opensError: false };
    }
    this.#traceback = this.#tracebackAfter(text);
    this.#isAdjacent = true;
    return { ...line, kind: this.#owner, opensError: isFirst };
  }

  #continues(text: string): boolean {
    // A message of several lines may stand between the record and its traceback, and before a chained one.
    return this.#traceback === "in frames" || TRACEBACK.test(text) || CHAIN.test(text) ||
      this.#isAdjacent && BELOW_RECORD.test(text);
  }

  #tracebackAfter(text: string): "none" | "in frames" | "over" {
    if (TRACEBACK.test(text)) return "in frames";
    if (CHAIN.test(text) || THREAD.test(text)) return "none";
    if (GROUP_END.test(text)) return "over";
    // The first line that is no frame names the exception, whatever its class is called.
    return this.#traceback === "in frames" && !FRAME.test(text) ? "over" : this.#traceback;
  }
}

/** The position of a record within a text that is one line; null: it has none. */
export function findRecord(text: string): number | null {
  const at = text.search(RECORD_START);
  return at < 0 ? null : at;
}

/** A line as it is shown, in one text. */
export function lineText({ time, level, message }: LogLine): string {
  return time === null ? message : `${time} ${level} ${message}`;
}

const START = String.raw`(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}),(\d{3}) (${LEVELS.join("|")})`;
const RECORD = new RegExp(`^${START}(?: ([^]*))?$`);
const RECORD_START = new RegExp(`${START}(?: |$)`);
/** Also that of an exception group, of a part of one, and of one that rich or a process pool prints. */
const TRACEBACK =
  /^(?:[\s|+]*(?:Exception Group )?Traceback \(most recent call last\)|╭─.*Traceback \(most|[\w.]*RemoteTraceback:)/;
const CHAIN =
  /^[\s|]*(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):/;
const THREAD = /^Exception (?:in thread|ignored in)\b/;
const FRAME = /^(?:[\s|+│╭╰]|"""|File "|$)/;
const GROUP_END = /^[\s|]*\+-{10,}$/;
/** A traceback without frames has the name of the exception alone. */
const BELOW_RECORD =
  /^(?:[\s|+│╰]|"""|File "|$|[\w.]+(?:Error|Exception|Exit|Interrupt|Group)\b|(?:\w+\.)+[A-Z]\w*(?::|$))/;
/** The line by which a worker replaces the middle of a long log. */
const CUT = /^(?:\.{3} )?\[(?:\.{3} )?log truncated: [^[\]]{1,150}\](?: \.{3})?$/;

/** The day of the last line, ms: it is nearly always that of the next one. */
let lastDay = { date: "", start: NaN };

/** ms on the log's clock; null where there is no such day or time. */
function instantOf(date: string, clock: string, milliseconds: string): number | null {
  if (lastDay.date !== date) lastDay = { date, start: Date.parse(`${date}T00:00:00Z`) };
  const [hours, minutes, seconds] = [clock.slice(0, 2), clock.slice(3, 5), clock.slice(6)].map(Number);
  if (Number.isNaN(lastDay.start) || hours > 23 || minutes > 59 || seconds > 59) return null;
  return lastDay.start + ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number(milliseconds);
}

function kindOfRecord(level: LogLevel | null, message: string): LineKind {
  if (level === "ERROR" || level === "CRITICAL" || message.startsWith("Traceback")) return "error";
  if (level === "WARNING") return "warning";
  if (level === "INFO" && message.startsWith("HTTP Request:")) return "http";
  return /\b(?:model|inference|initiali[sz])/i.test(message) ? "model" : "info";
}

/** The filters of a log. Each line passes exactly one of them besides `all`, so that their counts add up. */
export const LEVEL_FILTERS = ["all", "debug", "info", "warning", "error"] as const;
export type LevelFilter = typeof LEVEL_FILTERS[number];

/** The level that a line counts for. A line that is no record counts for the record that it continues. */
export function levelOf({ kind, level }: LogLine): Exclude<LevelFilter, "all"> {
  if (kind === "error" || kind === "warning") return kind;
  return level === "DEBUG" ? "debug" : "info";
}

/** Whether a filter lets a line through. */
export function isShown(line: LogLine, filter: LevelFilter): boolean {
  return filter === "all" || levelOf(line) === filter;
}

/** The outcome of some requests. */
export interface RequestStatuses {
  readonly count: number;
  /** Requests by the status of their response, the most frequent first; null: the line names none. */
  readonly statuses: readonly { readonly status: number | null; readonly count: number }[];
}

/** The outcome of some requests that follow one another. */
export interface RequestsResult extends RequestStatuses {
  /** Time from one to the next, seconds; null where it is not known. */
  readonly medianSeconds: number | null;
}

/** Whether a request had no good response. */
export function isStopped(line: LogLine): boolean {
  return (requestStatus(line) ?? 0) >= 400;
}

/** Whether a request has had a good response, by its line. */
export function isAnswered(line: LogLine): boolean {
  const status = requestStatus(line);
  return status !== null && status < 400;
}

/** Sums up the lines of requests. */
export function summarizeRequests(lines: readonly LogLine[]): RequestsResult {
  const counts = new StatusCounts();
  const gaps: number[] = [];
  for (const [place, line] of lines.entries()) {
    counts.add(line);
    const before = lines[place - 1]?.at ?? null;
    if (line.at !== null && before !== null && line.at >= before) gaps.push((line.at - before) / 1000);
  }
  return { ...counts.result(), medianSeconds: medianOf(gaps) };
}

/** Counts requests by the status of their response, line by line. */
export class StatusCounts {
  readonly #counts = new Map<number | null, number>();

  add(line: LogLine): void {
    const status = requestStatus(line);
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }

  result(): RequestStatuses {
    const statuses = [...this.#counts].map(([status, count]) => ({ status, count }));
    return {
      count: statuses.reduce((sum, { count }) => sum + count, 0),
      statuses: statuses.sort((a, b) => b.count - a.count),
    };
  }
}

/** The status that the line of a request ends with, such as `"HTTP/1.1 200 OK"`; null: it names none. */
function requestStatus({ message }: LogLine): number | null {
  const status = /"HTTP\/[\d.]+ (\d{3})\b[^"]*"\s*$/.exec(message)?.[1];
  return status === undefined ? null : Number(status);
}

function medianOf(values: number[]): number | null {
  if (values.length === 0) return null;
  values.sort((a, b) => a - b);
  const middle = values.length / 2;
  return (values[Math.ceil(middle) - 1] + values[Math.floor(middle)]) / 2;
}
