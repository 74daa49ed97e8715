/** Codes of our own sentences in responses, reports and tasks. Pages translate them; foreign texts have none. */
const TASK_CODES = [
  "results_unavailable",
  "store_unreachable",
  "store_timeout",
  "store_broken",
  // Tasks.
  "task_login_refused",
  "task_forbidden",
  "task_key_replaced",
  "task_input_changed",
  "task_progress_changed",
  "task_other_version",
  "task_over_24_hours",
  "task_over_30_days",
  "task_internal_error",
  "task_canceled",
  "archive_empty",
  "archive_objects_too_many",
  "archive_keys_too_long",
  "archive_plan_gone",
  "listing_stuck",
  "listing_not_resumable",
  "transfer_same_place",
  "transfer_inside_itself",
  "transfer_onto_itself",
  "transfer_key_too_long",
  "transfer_uncertain",
] as const;
export type TaskCode = (typeof TASK_CODES)[number];

/** Those of fixity checks as well, which the server's pages alone translate. */
export const PROBLEM_CODES = [
  ...TASK_CODES,
  // Forms of another site, or behind a proxy that leaves a header out.
  "origin_scheme",
  "origin_host",
  // Objects of a fixity check.
  "object_forbidden",
  "object_overwritten",
  "object_parts_unknown",
  "object_etags_unknown",
  "object_etags_not_md5",
  "object_versions_too_many",
  "object_listed_not_found",
  "object_in_manifest",
  "object_in_baseline",
  "object_replaced",
  "object_wrong_length",
  "object_broken_off",
  // Bags and manifests.
  "bag_declaration_invalid",
  "bag_algorithm_unknown",
  "bag_manifests_too_many",
  "bag_without_manifest",
  "bag_oxum_invalid",
  "bag_oxum_differs",
  "bag_manifest_invalid_lines",
  "bag_manifest_fewer_files",
  "manifest_overwritten",
  "manifest_deleted",
  // Reports that were not written.
  "not_written_name",
  "not_written_exists",
  // Requests for a check; the sentence stands behind the name of its field.
  "field_without_other",
  "manifest_with_bag",
  "manifest_algorithm_unknown",
  "manifest_not_found",
  "bag_prefix",
  "bag_not_found",
  "versions_not_compared",
  "baseline_not_found",
  "baseline_running",
  "baseline_incomplete",
  "baseline_gone",
  "report_rows_gone",
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

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
