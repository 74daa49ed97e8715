import { z } from "zod";
import { codedSentence, type CodedText } from "@/lib/std/coded.ts";
import { codedOrNull } from "@/lib/tasks/task_responses.ts";
import type { TaskType } from "@/lib/tasks/task_keys.ts";
import { PROOFS } from "./expected.ts";
import { manifestRef } from "./manifest_keys.ts";
import { NO_ROWS, type ReportRow, RESULTS, storedRows } from "./report.ts";

const amount = z.int().min(0);

/** The request for a check. */
const fixityRequest = z.object({
  prefix: z.string(),
  /** Bytes per second; null: as the process allows. */
  rate: z.int().min(1).nullable(),
  allVersions: z.boolean(),
  /** Whether objects that are intact have rows too. */
  full: z.boolean(),
  /** Whether ETags are compared. */
  etags: z.enum(["compare", "ignore"]),
  /** Where the report is written: a prefix of keys. */
  reportTo: z.string().nullable(),
  /** The earlier check that is compared: its id. */
  baseline: z.string().nullable(),
  /** Name of the schedule that asks for it. */
  schedule: z.string().nullable(),
});

/** The codes of sentences, in their order; absent in progress of earlier versions. */
const codes = z.array(codedOrNull).optional();

/** A bag that is checked. */
const bag = z.object({
  /** Payload-Oxum of bag-info.txt; null if it has none. */
  oxum: z.object({ bytes: z.number(), files: z.number() }).nullable(),
  /** Problems of the bag itself, as sentences. */
  problems: z.array(z.string()),
  codes,
  /** Its payload so far. */
  bytes: z.number().min(0),
  files: amount,
});

type CheckedBag = z.output<typeof bag>;

/** Manifests that are compared, and what has been found in them. */
const manifestComparison = z.object({
  manifests: z.array(manifestRef),
  /** Below it, objects must be named; null: nowhere. */
  scope: z.string().nullable(),
  /** Figures of the manifests, in their order; null: not read yet. */
  figures: z.array(z.object({ entries: amount, invalid: amount }).nullable()),
  bag: bag.nullable(),
});
export type ManifestComparison = z.output<typeof manifestComparison>;

const amountsOf = <T extends string>(names: readonly T[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, amount])) as Record<T, typeof amount>);
const zeros = <T extends string>(names: readonly T[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<T, number>;

export const fixityTotals = amountsOf(RESULTS);
type FixityTotals = z.output<typeof fixityTotals>;
export const byProof = amountsOf(PROOFS);

/** Where a listing goes on: behind a key, or behind a version of it. */
const position = z.object({ key: z.string(), versionId: z.string().nullable() });
export type Position = z.output<typeof position>;

/** Request and progress of a check. The defaults are the initial progress. */
const fixityProgress = z.object({
  request: fixityRequest,
  /** Comparison with manifests; null: none. */
  comparison: manifestComparison.nullable(),
  /** Rows of an earlier check; null: none is compared. */
  baseline: storedRows.nullable(),
  /** Kind of the store's ETags; null: unknown. */
  etags: z.enum(["md5", "other"]).nullable().default(null),
  /** Last counted object; null before the first. */
  after: position.nullable().default(null),
  /** Objects that were read, and their bytes. */
  files: amount.default(0),
  bytes: z.number().min(0).default(0),
  totals: fixityTotals.default(zeros(RESULTS)),
  /** Objects that are intact, by what proves it. */
  provedBy: byProof.default(zeros(PROOFS)),
  rows: storedRows.default(NO_ROWS),
  /** Objects that were written; null: that has not been done yet. */
  written: z.array(z.object({ key: z.string(), size: amount, sha256: z.string() })).nullable().default(null),
  /** Why something was not written. */
  writeError: z.string().nullable().default(null),
  writeCodes: codes,
  /** Bytes of objects that are being read. */
  underWay: z.number().min(0).default(0),
  /** Time worked so far, ms. */
  workedMs: z.number().min(0).default(0),
  /** Times of the request and of the end of the last object, ms since 1970. */
  startedAt: z.int(),
  checkedAt: z.int().nullable().default(null),
});
export type FixityProgress = z.output<typeof fixityProgress>;

/** The tasks that read stored objects and compare their bytes. */
export const FIXITY: TaskType<FixityProgress> = {
  kind: "fixity",
  progress: fixityProgress,
  isSealed: true,
  writesBlobs: true,
};

/** Initial progress of a check. */
export function newFixity(
  start: Pick<FixityProgress, "request" | "comparison" | "baseline" | "startedAt">,
): FixityProgress {
  return fixityProgress.parse(start);
}

/** Whether a check has come to its end with a row for each object, so that its report says the SHA-256 of all. */
export function hasAllRows({ request, rows, checkedAt }: FixityProgress): boolean {
  return request.full && !request.allVersions && rows.leftOut === 0 && checkedAt !== null;
}

/** Objects whose bytes differ, or that are not there or cannot be read. */
export function damageOf({ changed, missing, unreadable }: FixityTotals): number {
  return changed + missing + unreadable;
}

/** Whether all of an object was read. */
function wasRead({ result }: Pick<ReportRow, "result">): boolean {
  return result === "intact" || result === "changed" || result === "unproven" || result === "not_in_manifest";
}

/** The progress behind one more object, without its row. */
export function counted(progress: FixityProgress, row: ReportRow, workedMs: number): FixityProgress {
  const { totals, provedBy, comparison } = progress;
  const { result, proved_by } = row;
  const isRead = wasRead(row);
  return {
    ...progress,
    files: progress.files + Number(isRead),
    bytes: progress.bytes + (isRead ? row.size ?? 0 : 0),
    totals: { ...totals, [result]: totals[result] + 1 },
    provedBy: result === "intact" && proved_by ? { ...provedBy, [proved_by]: provedBy[proved_by] + 1 } : provedBy,
    comparison: comparison && withPayload(comparison, row),
    workedMs,
  };
}

/** Folders are empty objects whose keys end with a slash: no files of a bag. */
function withPayload(comparison: ManifestComparison, row: ReportRow): ManifestComparison {
  const { bag, scope } = comparison;
  const isPayload = scope !== null && row.key.startsWith(scope) && wasRead(row);
  if (!bag || !isPayload || (row.size === 0 && row.key.endsWith("/"))) return comparison;
  return { ...comparison, bag: { ...bag, files: bag.files + 1, bytes: bag.bytes + (row.size ?? 0) } };
}

/** Which manifests are compared, and what was found in them; null for none. */
export function manifestView({ comparison, request }: FixityProgress) {
  if (!comparison) return null;
  const { manifests, figures } = comparison;
  const known = figures.filter((one) => one !== null);
  return {
    bucket: manifests[0]?.bucket ?? null,
    keys: manifests.map(({ key }) => key),
    root: manifests[0]?.root ?? request.prefix,
    entries: known.length < figures.length ? null : known.reduce((sum, { entries }) => sum + entries, 0),
    invalid_lines: known.reduce((sum, { invalid }) => sum + invalid, 0),
  };
}

/**
 * Whether a bag is valid (RFC 8493, section 3), and what is wrong with it besides what rows say.
 *
 * @returns null where no bag is checked; `valid` is null until the end
 */
export function bagView(progress: FixityProgress) {
  const { comparison, checkedAt, totals } = progress;
  if (!comparison?.bag) return null;
  const { bag } = comparison;
  const found = bag.problems.map((text, place): CodedText => ({ text, coded: bag.codes?.[place] ?? null }));
  if (checkedAt !== null) found.push(...contentProblems(comparison, bag, totals.unreadable > 0));
  const isComplete = damageOf(totals) === 0 && totals.not_in_manifest === 0;
  return {
    valid: checkedAt === null ? null : isComplete && found.length === 0,
    problems: found.map(({ text }) => text),
    problem_codes: found.map(({ coded }) => coded),
  };
}

function contentProblems(
  { manifests, figures }: ManifestComparison,
  { oxum, bytes, files }: CheckedBag,
  hasUnread: boolean,
): CodedText[] {
  const problems: CodedText[] = [];
  if (oxum && !hasUnread && (oxum.bytes !== bytes || oxum.files !== files)) {
    problems.push(codedSentence("bag_oxum_differs", { ...oxum, found_files: files, found_bytes: bytes }));
  }
  let most = 0;
  for (const [index, { form }] of manifests.entries()) {
    if (form === "bagit") most = Math.max(most, figures[index]?.entries ?? 0);
  }
  for (const [index, { key, root, form }] of manifests.entries()) {
    const name = key.slice(root.length);
    const { entries, invalid } = figures[index] ?? { entries: 0, invalid: 0 };
    if (invalid > 0) problems.push(codedSentence("bag_manifest_invalid_lines", { name, lines: invalid }));
    if (form === "bagit" && entries < most) {
      problems.push(codedSentence("bag_manifest_fewer_files", { name, files: entries, most }));
    }
  }
  return problems;
}

/** Results of the checks of a process since its start. */
export class FixityFigures {
  /** Objects by what became of them. An object that is read again after an interruption counts again. */
  readonly objects: FixityTotals = zeros(RESULTS);
  /** Bytes that were read. */
  bytes = 0;
}
