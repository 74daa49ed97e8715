import { ALL_SENTENCES } from "@/lib/presentation/coded_check_sentences.ts";
import { codedTexts } from "@/lib/presentation/coded_sentences.ts";
import type { ReportRow } from "@/lib/tasks/fixity/report_rows.ts";
import type { FixityStatus } from "@/lib/tasks/fixity/responses.ts";

/** Results of objects: damage first, in the order in which pages show them. */
export const FIXITY_RESULTS = [
  "changed",
  "missing",
  "unreadable",
  "unproven",
  "not_in_manifest",
  "deleted",
  "intact",
] as const satisfies readonly ReportRow["result"][];
export type FixityResult = (typeof FIXITY_RESULTS)[number];

const DAMAGE: readonly FixityResult[] = ["changed", "missing", "unreadable"];

/** A fixity check, how far it is and how it ended. Plain data, which crosses into the browser. */
export interface FixityCheck extends FixityStatus {
  readonly bucket: string;
}

/** The check in a response of the gateway. */
export function fixityCheckOf(status: unknown, bucket: string): FixityCheck {
  return { ...status as FixityStatus, bucket };
}

/** The checks of a bucket in a response of the gateway, the newest first. */
export function fixityChecksOf(list: unknown, bucket: string): FixityCheck[] {
  return (list as { tasks: FixityStatus[] }).tasks.map((status) => fixityCheckOf(status, bucket));
}

/** All objects that a check dealt with. */
export function checkedObjects(check: FixityCheck): number {
  return FIXITY_RESULTS.reduce((sum, result) => sum + check[result], 0);
}

/** Whether a later check can be compared with one: it has ended and has rows of all objects. */
export function isBaseline({ status, full, all_versions, rows_left_out }: FixityCheck): boolean {
  return status === "done" && full && !all_versions && rows_left_out === 0;
}

/** How much a check that has not ended is about to read. */
export interface Expected {
  readonly objects: number;
  /** Null where the bytes are not known. */
  readonly bytes: number | null;
}

/**
 * How much a check is about to read: what its manifest names, what the last whole check of the same place has read, or
 * what the store counts in the bucket; null where none of them is known, or less than has been read.
 *
 * @param others checks of the same bucket, the newest first
 * @param usage of the bucket, all versions counted
 */
export function expectedOf(
  check: FixityCheck,
  others: readonly FixityCheck[],
  usage: Expected | undefined,
): Expected | null {
  // Several manifests name the same objects.
  const named = check.manifest?.keys.length === 1 ? check.manifest.entries : null;
  const before = others.find(({ task_id, status, prefix, all_versions, manifest }) =>
    task_id !== check.task_id && status === "done" && prefix === check.prefix &&
    all_versions === check.all_versions && (manifest === null) === (check.manifest === null)
  );
  const known = before && checkedObjects(before) > 0 ? { objects: checkedObjects(before), bytes: before.bytes } : null;
  const found = named != null
    ? { objects: named, bytes: known?.objects === named ? known.bytes : null }
    : known ?? (check.prefix === "" ? usage ?? null : null);
  return found !== null && found.objects > 0 && found.objects >= checkedObjects(check) ? found : null;
}

/** Which rows of a report are shown. `damaged`: those of damage, whatever its kind. */
export type RowFilter = FixityResult | "damaged" | "all";

/** A filter of rows with the number of objects that it shows. */
export interface FilterChoice {
  readonly filter: RowFilter;
  readonly objects: number;
}

/** The filters of a check that show something; each row is in exactly one of them, but for that of all. */
export function rowFilters(check: FixityCheck): FilterChoice[] {
  const single = (["unproven", "not_in_manifest", "deleted", "intact"] as const)
    .filter((result) => result !== "intact" || check.full)
    .map((filter) => ({ filter, objects: check[filter] }));
  const choices = [{ filter: "damaged" as const, objects: check.damaged }, ...single]
    .filter(({ objects }) => objects > 0);
  const all = choices.reduce((sum, { objects }) => sum + objects, 0);
  return choices.length > 1 ? [...choices, { filter: "all", objects: all }] : choices;
}

/** The kinds of damage that a check found, which can be shown by themselves where there are several. */
export function damageKinds(check: FixityCheck): FilterChoice[] {
  return DAMAGE.map((filter) => ({ filter, objects: check[filter] })).filter(({ objects }) => objects > 0);
}

/** The filter that an address names, else the first of a check; null where the check has no rows. */
export function rowFilterOf(named: string | null, check: FixityCheck): RowFilter | null {
  const choices = [...rowFilters(check), ...damageKinds(check)];
  return choices.find(({ filter }) => filter === named)?.filter ?? choices.at(0)?.filter ?? null;
}

/** The results whose rows a filter shows; null: those of all. */
export function resultsOf(filter: RowFilter): readonly FixityResult[] | null {
  if (filter === "all") return null;
  return filter === "damaged" ? DAMAGE : [filter];
}

/** What could not be written; "" where nothing was wrong. Translated where all of its sentences have codes. */
export function writeErrorOf({ write_error = "", write_error_codes = [] }: FixityCheck): string {
  if (write_error_codes.length === 0 || write_error_codes.includes(null)) return write_error;
  const sentences = codedTexts(write_error_codes.map(() => write_error), write_error_codes, ALL_SENTENCES);
  return [...new Set(sentences)].join("; ");
}
