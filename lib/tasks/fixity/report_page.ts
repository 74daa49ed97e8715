import { HttpError } from "@/lib/http/errors.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { ReportRow } from "./report.ts";

/** Rows of a page. */
const PAGE_ROWS = 100;
/** Rows that are looked through for a page. */
const MAX_READ = 100_000;
/** Longest line of a report, characters: one of all members, each escaped, is below. */
const MAX_LINE = 65_536;

/** A page of a report's rows. */
export interface RowPage {
  readonly rows: readonly ReportRow[];
  /** The number of the row from which on the next page is read; null at the end. */
  readonly next: number | null;
  /** How many rows were looked through. */
  readonly searched: number;
}

/**
 * Reads a page of rows from a JSON report with one row in each line. It reads no further than the page.
 *
 * @param results those that are shown; null: all
 * @param from the number of the first row, which counts all results
 * @throws HttpError 502 for a report that breaks off or is none
 */
export async function readRowPage(
  report: ReadableStream<Uint8Array<ArrayBuffer>>,
  results: readonly ReportRow["result"][] | null,
  from: number,
): Promise<RowPage> {
  const rows: ReportRow[] = [];
  const marks = results?.map((result) => `"result":"${result}"`) ?? null;
  let number = -1;
  for await (const line of linesOf(report)) {
    // Skips the head of the report.
    if (!line.startsWith('{"key"')) continue;
    number++;
    if (number < from) continue;
    const searched = number - from;
    if (rows.length === PAGE_ROWS || searched === MAX_READ) return { rows, next: number, searched };
    // Quotes within a text are escaped, so this is no part of one.
    if (marks && !marks.some((mark) => line.includes(mark))) continue;
    const row = parsedJson(line.endsWith(",") ? line.slice(0, -1) : line) as ReportRow | undefined;
    if (row && (results === null || results.includes(row.result))) rows.push(row);
  }
  return { rows, next: null, searched: Math.max(0, number + 1 - from) };
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  const text = body.pipeThrough(new TextDecoderStream());
  try {
    for await (const chunk of text) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE) throw new HttpError(502, "the report of a fixity check cannot be read");
      yield* lines;
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(502, "the report of a fixity check broke off", { cause: error });
  }
  yield rest;
}
