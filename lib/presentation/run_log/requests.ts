import type { LogLine } from "./lines.ts";

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
