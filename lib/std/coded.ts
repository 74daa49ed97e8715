/**
 * Codes of our own sentences in responses, reports and tasks, with the English sentence and values in braces; null: it says
 * more than the values. Pages translate them; foreign texts have none.
 */
const TASK_SENTENCES = {
  results_unavailable: null,
  store_unreachable: null,
  store_timeout: null,
  store_broken: null,
  // Tasks.
  task_login_refused: null,
  task_forbidden: null,
  task_key_replaced:
    "The key of the gateway was replaced or the stored task was changed since it was started: start it again",
  task_input_changed: "The stored list of what to work on was changed or is gone: start the task again",
  task_progress_changed:
    "The stored progress of the task was changed, or is of another version of the gateway: start it again",
  task_other_version: "The task was started by another version of the gateway: start it again",
  task_over_24_hours: "The task was stopped after 24 hours: start it again for what is left",
  task_over_30_days: "The task was stopped after 30 days: check the rest by smaller prefixes, or at a higher rate",
  task_internal_error: "Internal error of the gateway: its log says more",
  task_canceled: "The task was cancelled",
  archive_empty: "No objects found under the given prefix",
  archive_objects_too_many: "Too many objects ({count}). Maximum is {most}.",
  archive_keys_too_long: "The keys of the objects are too long for one archive: choose fewer",
  archive_plan_gone: "A part of the plan of the archive is gone: start it again",
  listing_stuck: "bucket '{bucket}': the store's listing does not advance",
  listing_not_resumable: "bucket '{bucket}': the store does not list keys from a given one on",
  transfer_same_place: "to: they are there already",
  transfer_inside_itself: "to: a prefix cannot go below itself",
  transfer_onto_itself: null,
  transfer_key_too_long: "to: a key would be longer than 1024 bytes",
  transfer_uncertain: null,
} as const;
export type TaskCode = keyof typeof TASK_SENTENCES;

/** All codes: those of fixity checks are translated by the server's pages only. */
const SENTENCES = {
  ...TASK_SENTENCES,
  // Forms of another site, or behind a proxy that leaves a header out.
  origin_scheme: null,
  origin_host: null,
  // Objects of a fixity check.
  object_forbidden: "The login may not read it",
  object_overwritten: "It was overwritten each time it was read",
  object_parts_unknown: "The store does not say its parts",
  object_etags_unknown: "No other object shows whether the ETags of this store are MD5s",
  object_etags_not_md5: "The ETags of this store are no MD5s",
  object_versions_too_many: "The store does not find it, and lists too many versions to look for it",
  object_listed_not_found: "The store lists it and does not find it",
  object_in_manifest: "The manifest names it",
  object_in_baseline: "It was there at the earlier check",
  object_replaced:
    "Its bytes are as they were stored: it was overwritten since, or what it is compared with is of other bytes",
  object_wrong_length: "The store sends another number of bytes than it says",
  object_broken_off: "Its bytes break off each time it is read",
  // Bags and manifests.
  bag_declaration_invalid: "bagit.txt does not say its version and character encoding as BagIt does",
  bag_algorithm_unknown: "{name} is not compared: its algorithm is not known here",
  bag_manifests_too_many: "{name} is not compared: there are too many manifests",
  bag_without_manifest: "The bag has no payload manifest that can be compared",
  bag_oxum_invalid: "bag-info.txt does not say its Payload-Oxum as BagIt does",
  bag_oxum_differs: "Payload-Oxum says {files} files of {bytes} bytes: there are {found_files} of {found_bytes} bytes",
  bag_manifest_invalid_lines: "{name} has {lines} lines that name no file of the bag",
  bag_manifest_fewer_files: "{name} names {files} files, another payload manifest {most}",
  manifest_overwritten: "The manifest '{key}' was overwritten while the check ran: start it again",
  manifest_deleted: "The manifest '{key}' was deleted while the check ran",
  // Reports that were not written.
  not_written_name: "No manifest was made: tools would read the name of the object '{key}' as that of another file",
  not_written_exists: "The object {keys} is there already with other bytes",
  // Requests for a check; the sentence stands behind the name of its field.
  field_without_other: "{field}: has no meaning without {other}",
  manifest_with_bag: "manifest: a bag has manifests of its own: leave out one of both",
  manifest_algorithm_unknown: "manifest: its name says an algorithm other than md5, sha1, sha256 and sha512",
  manifest_not_found: "manifest: there is no object '{key}' in bucket '{bucket}'",
  bag_prefix: "prefix: that of a bag is empty or ends with a slash",
  bag_not_found: "bag: there is no object '{key}', so the prefix is no bag",
  versions_not_compared: "all_versions: manifests and earlier checks say nothing about older versions: leave it out",
  baseline_not_found: "baseline: there is no such check of this login in this bucket",
  baseline_running: "baseline: that check has not ended yet",
  baseline_incomplete: "baseline: that check has no rows of all objects: it needs full, without all_versions",
  baseline_gone: "baseline: the rows of that check are gone",
  report_rows_gone: "The rows of this report are gone: they are kept for 30 days, its totals for 400",
} as const;
export type ProblemCode = keyof typeof SENTENCES;
export const PROBLEM_CODES = Object.keys(SENTENCES) as ProblemCode[];
/** A code that has one English sentence. */
export type SentenceCode = {
  [Code in ProblemCode]: (typeof SENTENCES)[Code] extends string ? Code : never;
}[ProblemCode];

/** Values within a sentence, by name. */
export type ProblemParams = Readonly<Record<string, string | number>>;

/** The code of a sentence, beside it in responses. */
export interface Coded {
  readonly code: ProblemCode;
  readonly params?: ProblemParams;
}

/** A sentence with its code; null: it has none. */
export interface CodedText {
  readonly text: string;
  readonly coded: Coded | null;
}

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
/** The values in the sentence of a code; no argument where it has none. */
export type ValuesOf<Code extends SentenceCode> = [NamesIn<typeof SENTENCES[Code]>] extends [never] ? []
  : [params: Readonly<Record<NamesIn<typeof SENTENCES[Code]>, string | number>>];

/** The English sentence of a code, with its values. */
export function codedSentence<Code extends SentenceCode>(code: Code, ...[params]: ValuesOf<Code>): CodedText {
  if (!params) return { text: SENTENCES[code], coded: { code } };
  const values: ProblemParams = params;
  return { text: SENTENCES[code].replace(/\{(\w+)\}/g, (_, name) => String(values[name])), coded: { code, params } };
}
