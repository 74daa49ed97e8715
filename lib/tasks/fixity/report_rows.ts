import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { csvField } from "@/lib/std/csv_field.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { codeMembers } from "@/lib/tasks/coded_members.ts";
import { PROOFS } from "./expected.ts";
import { type ReadBlobs, readLines, type StoredLines, withLine, type WriteBlobs } from "./stored_lines.ts";

/**
 * What became of an object. `missing`: a manifest or an earlier check names it, and the store does not have it; `unproven`: read
 * whole, with nothing to compare it with; `not_in_manifest`: read whole, and the manifest does not name it; `deleted`: gone
 * since it was listed, which is no damage.
 */
export const RESULTS = [
  "intact",
  "changed",
  "missing",
  "unreadable",
  "unproven",
  "not_in_manifest",
  "deleted",
] as const;

/** One object in a report. */
export const reportRow = z.object({
  key: z.string(),
  version_id: z.string().optional().meta({ description: "With `all_versions`" }),
  result: z.enum(RESULTS),
  proved_by: z.enum(PROOFS).optional().meta({ description: "What its bytes were compared with" }),
  size: z.int().optional().meta({ description: "bytes" }),
  etag: z.string().optional(),
  algorithm: z.string().optional(),
  expected: z.string().optional().meta({ description: "Hexadecimal" }),
  actual: z.string().optional().meta({ description: "Hexadecimal" }),
  sha256: z.string().optional().meta({ description: "Of the bytes that were read, hexadecimal" }),
  detail: z.string().optional(),
  ...codeMembers,
}).meta({ id: "FixityRow" });
export type ReportRow = z.output<typeof reportRow>;

/** The columns of a report as CSV. */
const COLUMNS = [
  "key",
  "version_id",
  "result",
  "proved_by",
  "size",
  "etag",
  "algorithm",
  "expected",
  "actual",
  "sha256",
  "detail",
] as const satisfies readonly (keyof ReportRow)[];

export const CSV_HEAD = `${COLUMNS.join(",")}\r\n`;

/** A row of a report as a line of CSV. The JSON has keys as they are. */
export function csvLine(row: ReportRow): string {
  return `${COLUMNS.map((name) => csvField(row[name])).join(",")}\r\n`;
}

/** Most rows of a report: of what is not intact, and of all objects. */
export const MAX_ROWS = 100_000;
export const MAX_FULL_ROWS = 500_000;
/** Most bytes of the packed rows of a report. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What intact objects may take of a report: damage behind many of them is to be named as well. */
const MAX_INTACT_ROWS = MAX_FULL_ROWS - MAX_ROWS;
const MAX_INTACT_BYTES = MAX_BYTES * 3 / 4;
/** What the names of their blobs begin with. */
const ROWS = "rows";

const ROWS_GONE = "The rows of this report are gone: they are kept for 30 days, its totals for 400";

/** Adds a row to those that a task stores. @param maxRows beyond which rows are counted only */
export async function withRow(
  rows: StoredLines,
  row: ReportRow,
  maxRows: number,
  write: WriteBlobs,
): Promise<StoredLines> {
  const limits = row.result === "intact"
    ? { maxLines: Math.min(maxRows, MAX_INTACT_ROWS), maxBytes: MAX_INTACT_BYTES }
    : { maxLines: maxRows, maxBytes: MAX_BYTES };
  return await withLine(rows, `${JSON.stringify(row)}\n`, { name: ROWS, ...limits }, write);
}

/**
 * The rows of a report in their order, chunk by chunk.
 *
 * @param name what the names of their blobs begin with
 * @throws HttpError 410 where they are gone or were changed
 */
export async function* readRows(rows: StoredLines, read: ReadBlobs, name = ROWS): AsyncGenerator<ReportRow[]> {
  for await (const lines of readLines(rows, name, read)) {
    if (lines === null) throw new HttpError(410, ROWS_GONE, { coded: { code: "report_rows_gone" } });
    yield lines.split("\n").filter((line) => line !== "").map((line) => reportRow.parse(parsedJson(line)));
  }
}
