import { ALL_SENTENCES } from "@/lib/presentation/coded_check_sentences.ts";
import { codedAt, codedText, codedTexts, translated } from "@/lib/presentation/coded_sentences.ts";
import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";

/** What became of an object, as reports say it: damage first, in the order in which pages show it. */
export const FIXITY_RESULTS = [
  "changed",
  "missing",
  "unreadable",
  "unproven",
  "not_in_manifest",
  "deleted",
  "intact",
] as const;
export type FixityResult = (typeof FIXITY_RESULTS)[number];

const DAMAGE: readonly FixityResult[] = ["changed", "missing", "unreadable"];

/** How the gateway says that a check goes, or has ended. */
const STATUSES = ["processing", "done", "canceled", "failed"] as const;

/** Objects that a check was to find, and where it was told so. */
export interface CheckManifest {
  readonly bucket: string;
  readonly keys: readonly string[];
  /** The prefix of keys that its paths begin with. */
  readonly root: string;
  /** Objects that it names; null while that is not known. */
  readonly entries: number | null;
  readonly invalidLines: number;
}

/** A bag (BagIt, RFC 8493) as a check found it. */
export interface CheckedBag {
  /** Null until the check has ended. */
  readonly isValid: boolean | null;
  readonly problems: readonly string[];
}

/** A fixity check, how far it is and how it ended. Plain data, which crosses into the browser. */
export interface FixityCheck {
  readonly task: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly status: (typeof STATUSES)[number];
  /** Objects read, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Bytes of objects that are being read. */
  readonly underWay: number;
  /** Objects by result. */
  readonly totals: Readonly<Record<FixityResult, number>>;
  /** Intact objects by what their bytes were compared with, as the gateway names it. */
  readonly provedBy: readonly (readonly [proof: string, objects: number])[];
  /** Bytes per second so far. */
  readonly rate: number;
  /** Bytes per second; null: as the gateway allows. */
  readonly rateLimit: number | null;
  /** Rows of the report, and further ones that were only counted. */
  readonly rows: number;
  readonly rowsLeftOut: number;
  readonly allVersions: boolean;
  /** Whether intact objects have rows too. */
  readonly isFull: boolean;
  readonly manifest: CheckManifest | null;
  readonly bag: CheckedBag | null;
  /** The id of an earlier check that this one was compared with. */
  readonly baseline: string | null;
  /** ETags are not compared. */
  readonly ignoresEtags: boolean;
  /** ETags of the store turned out to be no MD5s, so that those that differ prove nothing. */
  readonly hasOtherEtags: boolean;
  /** Objects that the check has written. */
  readonly written: readonly string[];
  /** Why something could not be written; "" where nothing was wrong. */
  readonly writeError: string;
  /** The name of the schedule that started it. */
  readonly schedule: string | null;
  /** ISO 8601; null where it is not known, or has not come. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Why it failed; "" where it did not. */
  readonly error: string;
}

/** Reads the status of a fixity check; null for what is none. */
export function readFixityCheck(status: unknown, bucket: string): FixityCheck | null {
  const task = stringAt(status, "task_id");
  const how = STATUSES.find((one) => one === stringAt(status, "status"));
  if (task === null || how === undefined) return null;
  const limit = integerAt(status, "rate_limit");
  return {
    task,
    bucket,
    prefix: stringAt(status, "prefix") ?? "",
    status: how,
    files: integerAt(status, "files"),
    bytes: amountAt(status, "bytes"),
    underWay: amountAt(status, "bytes_under_way"),
    totals: Object.fromEntries(FIXITY_RESULTS.map((result) => [result, integerAt(status, result)])) as Record<
      FixityResult,
      number
    >,
    provedBy: proofsOf(member(status, "proved_by")),
    rate: amountAt(status, "rate"),
    rateLimit: limit > 0 ? limit : null,
    rows: integerAt(status, "rows"),
    rowsLeftOut: integerAt(status, "rows_left_out"),
    allVersions: member(status, "all_versions") === true,
    isFull: member(status, "full") === true,
    manifest: manifestOf(member(status, "manifest"), bucket),
    bag: bagOf(member(status, "bag")),
    baseline: stringAt(status, "baseline"),
    ignoresEtags: stringAt(status, "etags") === "ignored",
    hasOtherEtags: stringAt(status, "etags") === "other",
    written: entries(member(status, "written")).flatMap((one) => stringAt(one, "key") ?? []),
    writeError: writeErrorOf(status),
    schedule: stringAt(status, "schedule"),
    startedAt: stringAt(status, "started_at"),
    endedAt: stringAt(status, "ended_at"),
    error: codedText(status, "error", ALL_SENTENCES),
  };
}

/** Reads the list of fixity checks of a bucket, the newest first. */
export function readFixityChecks(answer: unknown, bucket: string): FixityCheck[] {
  return entries(member(answer, "tasks")).flatMap((status) => readFixityCheck(status, bucket) ?? []);
}

/** Objects that are not as they should be. */
export function damageOf({ totals }: Pick<FixityCheck, "totals">): number {
  return DAMAGE.reduce((sum, result) => sum + totals[result], 0);
}

/** All objects that a check dealt with. */
export function dealtWith({ totals }: Pick<FixityCheck, "totals">): number {
  return FIXITY_RESULTS.reduce((sum, result) => sum + totals[result], 0);
}

/** Whether a later check can be compared with one: it has ended and has rows of all objects. */
export function isBaseline({ status, isFull, allVersions, rowsLeftOut }: FixityCheck): boolean {
  return status === "done" && isFull && !allVersions && rowsLeftOut === 0;
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
  const before = others.find(({ task, status, prefix, allVersions, manifest }) =>
    task !== check.task && status === "done" && prefix === check.prefix && allVersions === check.allVersions &&
    (manifest === null) === (check.manifest === null)
  );
  const known = before && dealtWith(before) > 0 ? { objects: dealtWith(before), bytes: before.bytes } : null;
  const found = named !== null
    ? { objects: named, bytes: known?.objects === named ? known.bytes : null }
    : known ?? (check.prefix === "" ? usage ?? null : null);
  return found !== null && found.objects > 0 && found.objects >= dealtWith(check) ? found : null;
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
  const { totals, isFull } = check;
  const single = (["unproven", "not_in_manifest", "deleted", "intact"] as const)
    .filter((result) => result !== "intact" || isFull)
    .map((filter) => ({ filter, objects: totals[filter] }));
  const choices = [{ filter: "damaged" as const, objects: damageOf(check) }, ...single]
    .filter(({ objects }) => objects > 0);
  const all = choices.reduce((sum, { objects }) => sum + objects, 0);
  return choices.length > 1 ? [...choices, { filter: "all", objects: all }] : choices;
}

/** The kinds of damage that a check found, which can be shown by themselves where there are several. */
export function damageKinds(check: FixityCheck): FilterChoice[] {
  return DAMAGE.map((filter) => ({ filter, objects: check.totals[filter] })).filter(({ objects }) => objects > 0);
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

/** A row of a report. */
export interface FixityRow {
  readonly key: string;
  readonly version: string | null;
  readonly result: FixityResult;
  /** What its bytes were compared with, as the gateway names it; null where nothing was. */
  readonly provedBy: string | null;
  /** Bytes; null where it was not read. */
  readonly size: number | null;
  readonly algorithm: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly sha256: string | null;
  /** More about the result. */
  readonly detail: string | null;
}

/** Reads a row of a report; null for what is none. */
export function readFixityRow(row: unknown): FixityRow | null {
  const key = stringAt(row, "key");
  const result = FIXITY_RESULTS.find((one) => one === stringAt(row, "result"));
  if (key === null || result === undefined) return null;
  const size = member(row, "size");
  return {
    key,
    result,
    version: stringAt(row, "version_id"),
    provedBy: stringAt(row, "proved_by"),
    size: typeof size === "number" && Number.isSafeInteger(size) ? size : null,
    algorithm: stringAt(row, "algorithm"),
    expected: stringAt(row, "expected"),
    actual: stringAt(row, "actual"),
    sha256: stringAt(row, "sha256"),
    detail: codedText(row, "detail", ALL_SENTENCES) || null,
  };
}

function amountAt(value: unknown, name: string): number {
  const found = member(value, name);
  return typeof found === "number" && Number.isFinite(found) && found > 0 ? found : 0;
}

function proofsOf(proofs: unknown): (readonly [string, number])[] {
  if (typeof proofs !== "object" || proofs === null) return [];
  return Object.keys(proofs).map((proof) => [proof, integerAt(proofs, proof)] as const).filter(([, count]) =>
    count > 0
  );
}

function manifestOf(manifest: unknown, bucket: string): CheckManifest | null {
  const keys = entries(member(manifest, "keys")).filter((key) => typeof key === "string");
  if (keys.length === 0) return null;
  const named = member(manifest, "entries");
  return {
    bucket: stringAt(manifest, "bucket") ?? bucket,
    keys,
    root: stringAt(manifest, "root") ?? "",
    entries: typeof named === "number" && Number.isSafeInteger(named) ? named : null,
    invalidLines: integerAt(manifest, "invalid_lines"),
  };
}

/** Where all sentences have codes, they are translated; else the gateway's words are shown. */
function writeErrorOf(status: unknown): string {
  const text = stringAt(status, "write_error") ?? "";
  const codes = entries(member(status, "write_error_codes")).map(codedAt);
  if (codes.length === 0 || codes.includes(null)) return text;
  return [...new Set(codes.map((coded) => translated({ text, coded }, ALL_SENTENCES)))].join("; ");
}

function bagOf(bag: unknown): CheckedBag | null {
  if (typeof bag !== "object" || bag === null) return null;
  const isValid = member(bag, "valid");
  return {
    isValid: typeof isValid === "boolean" ? isValid : null,
    problems: codedTexts(
      entries(member(bag, "problems")).map((problem) => typeof problem === "string" ? problem : ""),
      member(bag, "problem_codes"),
      ALL_SENTENCES,
    ).filter((problem) => problem !== ""),
  };
}
