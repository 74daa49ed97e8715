import { type ReportRow, RESULTS } from "./report_row.ts";

/** What the checks of a process have found since its start. */
export class FixityFigures {
  /** Objects by what became of them. An object that is read again after an interruption counts again. */
  readonly objects: Record<ReportRow["result"], number> = Object.fromEntries(
    RESULTS.map((result) => [result, 0]),
  ) as Record<ReportRow["result"], number>;
  /** Bytes that were read. */
  bytes = 0;
}
