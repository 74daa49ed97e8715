import { z } from "zod";
import type { TaskType } from "@/lib/tasks/task_handler.ts";
import { PROOFS } from "./claims.ts";
import { type ReportRow, RESULTS } from "./report_row.ts";
import { NO_ROWS, storedRows } from "./report_rows.ts";

const amount = z.int().min(0);

/** What a task is asked for. */
const fixityRequest = z.object({
  prefix: z.string(),
  /** Bytes per second; null: as the process allows. */
  rate: z.int().min(1).nullable(),
  allVersions: z.boolean(),
  /** Whether objects that are intact have rows too. */
  full: z.boolean(),
});
type FixityRequest = z.output<typeof fixityRequest>;

export const fixityTotals = z.object({
  ...Object.fromEntries(RESULTS.map((result) => [result, amount])) as Record<(typeof RESULTS)[number], typeof amount>,
});
type FixityTotals = z.output<typeof fixityTotals>;

const byProof = z.object(
  Object.fromEntries(PROOFS.map((proof) => [proof, amount])) as Record<(typeof PROOFS)[number], typeof amount>,
);

/** Where a listing goes on: behind a key, or behind a version of it. */
const position = z.object({ key: z.string(), versionId: z.string().nullable() });
export type Position = z.output<typeof position>;

const fixityProgress = z.object({
  request: fixityRequest,
  /** The last object that was dealt with; null before the first. */
  after: position.nullable(),
  /** Objects that were read, and their bytes. */
  files: amount,
  bytes: z.number().min(0),
  totals: fixityTotals,
  /** Objects that are intact, by what proves it. */
  provedBy: byProof,
  rows: storedRows,
  /** Bytes of objects that are being read. */
  underWay: z.number().min(0),
  /** How long it has worked so far, ms. */
  workedMs: z.number().min(0),
  /** ms since 1970: when it was asked for, and when the last object was dealt with. */
  startedAt: z.int(),
  checkedAt: z.int().nullable(),
});
export type FixityProgress = z.output<typeof fixityProgress>;

/** The tasks that read stored objects and compare their bytes. */
export const FIXITY: TaskType<FixityProgress> = {
  kind: "fixity",
  progress: fixityProgress,
  isSealed: true,
  writesBlobs: true,
};

const zeros = <T extends string>(names: readonly T[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<T, number>;

/** The progress of a task that begins at a moment, ms since 1970. */
export function newFixity(request: FixityRequest, startedAt: number): FixityProgress {
  return {
    request,
    after: null,
    files: 0,
    bytes: 0,
    totals: zeros(RESULTS),
    provedBy: zeros(PROOFS),
    rows: NO_ROWS,
    underWay: 0,
    workedMs: 0,
    startedAt,
    checkedAt: null,
  };
}

/** Objects whose bytes differ or cannot be read. */
export function damageOf({ changed, unreadable }: FixityTotals): number {
  return changed + unreadable;
}

/** The progress behind one more object, without its row. */
export function counted(
  progress: FixityProgress,
  { result, size, proved_by }: ReportRow,
  workedMs: number,
): FixityProgress {
  const { totals, provedBy } = progress;
  const wasRead = result === "intact" || result === "changed" || result === "unproven";
  return {
    ...progress,
    files: progress.files + Number(wasRead),
    bytes: progress.bytes + (wasRead ? size ?? 0 : 0),
    totals: { ...totals, [result]: totals[result] + 1 },
    provedBy: result === "intact" && proved_by ? { ...provedBy, [proved_by]: provedBy[proved_by] + 1 } : provedBy,
    workedMs,
  };
}
