import { z } from "zod";
import { csvField } from "@/lib/std/csv_field.ts";
import { codeMembers } from "@/lib/tasks/coded_members.ts";
import { PROOFS } from "./expected.ts";

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
