import type { LogLine } from "./lines.ts";

/** What came of some requests that follow one another. */
export interface RequestsResult {
  readonly count: number;
  /** Requests by the status of their response, the most frequent first; null: the line names none. */
  readonly statuses: readonly { readonly status: number | null; readonly count: number }[];
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
  const counts = new Map<number | null, number>();
  const gaps: number[] = [];
  for (const [place, line] of lines.entries()) {
    const status = requestStatus(line);
    counts.set(status, (counts.get(status) ?? 0) + 1);
    const before = lines[place - 1]?.at ?? null;
    if (line.at !== null && before !== null && line.at >= before) gaps.push((line.at - before) / 1000);
  }
  return {
    count: lines.length,
    statuses: [...counts].map(([status, count]) => ({ status, count })).sort((a, b) => b.count - a.count),
    medianSeconds: medianOf(gaps),
  };
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
