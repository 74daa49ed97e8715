import { ALL_SENTENCES } from "@/lib/pages/coded_check_sentences.ts";
import { codedText, codedTexts } from "@/lib/pages/coded_sentences.ts";
import type { Chip } from "@/lib/pages/campaigns/campaign_state.ts";
import { formatSpan } from "@/lib/pages/moments.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import type { ReportRow } from "@/lib/tasks/fixity/report.ts";
import type { FixityStatus } from "@/lib/tasks/fixity/responses.ts";
import * as en from "@/locales/en/storage_fixity.ts";
import * as sv from "@/locales/sv/storage_fixity.ts";
import { formatBytes } from "./file_sizes.ts";
import { plainName } from "./key_names.ts";

export const FIXITY_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const FIXITY_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
export const RESULT_WORDS = inLanguage({ en: en.RESULTS, sv: sv.RESULTS });
export const FIELD_LABELS = inLanguage({ en: en.FIELDS, sv: sv.FIELDS });
export const START_PROBLEMS = inLanguage({ en: en.START_PROBLEMS, sv: sv.START_PROBLEMS });
const STATES = inLanguage({ en: en.STATES, sv: sv.STATES });
export const PROOF_WORDS = inLanguage({ en: en.PROOFS, sv: sv.PROOFS });

/** Below this, what is left is less than a minute when rounded, seconds. */
const SOON_SECONDS = 30;

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

/** The place that a check reads, as people write it: `letters/1794/`, or all of a bucket. */
export function checkedPlace({ bucket, prefix }: Pick<FixityCheck, "bucket" | "prefix">): string {
  return prefix === "" ? FIXITY_LABELS.allOf(bucket) : plainName(`${bucket}/${prefix}`);
}

/** The state of a check as a word in its colour. Red is damage alone. */
export function checkChip(check: FixityCheck): Chip {
  switch (check.status) {
    case "processing":
      return { text: STATES.processing, tone: "run", live: true };
    case "canceled":
      return { text: STATES.canceled, tone: check.damaged > 0 ? "bad" : "idle" };
    case "failed":
      return { text: STATES.failed, tone: check.damaged > 0 ? "bad" : "warn" };
    case "done":
      if (check.damaged > 0) return { text: STATES.damaged, tone: "bad" };
      if (check.bag?.valid === false) return { text: STATES.invalidBag, tone: "warn" };
      return checkedObjects(check) === 0
        ? { text: STATES.nothing, tone: "idle" }
        : { text: STATES.intact, tone: "done" };
  }
}

/** The word of a filter of rows. */
export function filterWords(filter: RowFilter): string {
  return filter === "all" || filter === "damaged" ? FIXITY_LABELS[filter] : RESULT_WORDS[filter];
}

/** How far a check is, or what it found: texts that stand beside each other. */
export function checkFigures(check: FixityCheck, expected: Expected | null): string[] {
  const { status, files, rate } = check;
  const bytes = check.bytes + (status === "processing" ? check.bytes_under_way : 0);
  const base = checkedObjects(check);
  const others = FIXITY_RESULTS.filter((result) => result !== "intact" && check[result] > 0)
    .map((result) => `${formatCount(check[result])} ${RESULT_WORDS[result]}`);
  if (status === "processing") {
    const read = expected
      ? FIXITY_SENTENCES.readOf(files, expected.objects, formatBytes(bytes))
      : FIXITY_SENTENCES.read(files, formatBytes(bytes));
    return [read, ...rate > 0 ? [FIXITY_SENTENCES.rate(formatBytes(rate))] : [], ...others];
  }
  if (base === 0) return [status === "done" ? FIXITY_SENTENCES.nothing : FIXITY_SENTENCES.noneRead];
  return [FIXITY_SENTENCES.intact(check.intact, base), formatBytes(bytes), ...others];
}

/**
 * When a check is over, and for how long it has gone on: `about 12 min left, running for 3 min`; of one that has ended how
 * long it took. "" where neither is known.
 *
 * @param now ms since 1970
 */
export function checkSpan(check: FixityCheck, expected: Expected | null, now: number): string {
  const { status, started_at, ended_at, bytes, bytes_under_way, rate } = check;
  const start = Date.parse(started_at);
  if (status !== "processing") {
    const span = formatSpan((Date.parse(ended_at ?? "") - start) / 1000);
    return span === "" ? "" : FIXITY_SENTENCES.took(span);
  }
  const left = expected?.bytes != null && rate > 0
    ? Math.max(0, expected.bytes - bytes - bytes_under_way) / rate
    : null;
  const running = formatSpan(Math.max(0, now - start) / 1000);
  return [
    ...left === null ? [] : [left < SOON_SECONDS ? FIXITY_SENTENCES.soon : FIXITY_SENTENCES.left(formatSpan(left))],
    ...running === "" ? [] : [FIXITY_SENTENCES.runningFor(running)],
  ].join(", ");
}

/** A part of a check's meter, in the unit of its total. */
interface MeterPart {
  readonly count: number;
  readonly tone: "done" | "run" | "bad" | "idle";
}

/** A check as a meter: of one that runs the bytes that were read, else the objects by result. Null: nothing to measure. */
export function checkMeter(
  check: FixityCheck,
  expected: Expected | null,
): { readonly total: number; readonly parts: readonly MeterPart[] } | null {
  const { status, intact, damaged, bytes, bytes_under_way } = check;
  if (status !== "processing") {
    const total = checkedObjects(check);
    return total === 0 ? null : {
      total,
      parts: [{ tone: "done", count: intact }, { tone: "bad", count: damaged }, {
        tone: "idle",
        count: total - intact - damaged,
      }],
    };
  }
  if (!expected) return null;
  const dealt = checkedObjects(check) - damaged;
  if (!expected.bytes) {
    return { total: expected.objects, parts: [{ tone: "done", count: dealt }, { tone: "bad", count: damaged }] };
  }
  const total = Math.max(expected.bytes, bytes + bytes_under_way);
  // A damaged object among many is seen all the same.
  return {
    total,
    parts: [{ tone: "done", count: bytes }, { tone: "run", count: bytes_under_way }, ...badPart(damaged)],
  };
}

function badPart(damaged: number): MeterPart[] {
  return damaged > 0 ? [{ tone: "bad", count: 1 }] : [];
}

/** Why a check broke off, as a sentence; "" for another one. */
export function failureSentence(check: FixityCheck): string {
  if (check.status !== "failed") return "";
  const said = codedText(check, "error", ALL_SENTENCES).replace(/\.\s*$/, "");
  return said === "" ? FIXITY_SENTENCES.failedUnknown : FIXITY_SENTENCES.failed(said);
}

/** Why a check could not write its report; "" for one that wrote all that it was asked for. */
export function unwrittenSentence(check: FixityCheck): string {
  const { write_error = "", write_error_codes = [] } = check;
  if (write_error === "") return "";
  const hasCodes = write_error_codes.length > 0 && !write_error_codes.includes(null);
  const sentences = hasCodes
    ? codedTexts(write_error_codes.map(() => write_error), write_error_codes, ALL_SENTENCES)
    : [write_error];
  return FIXITY_SENTENCES.writeError([...new Set(sentences)].join("; "));
}

/** The sentence about damage, with what is to be done; "" where there is none. */
export function damageSentence(check: FixityCheck): string {
  return check.damaged === 0 ? "" : FIXITY_SENTENCES.damage(check.damaged, checkedObjects(check));
}
