import type { ProblemCode } from "@/lib/std/coded.ts";
import { CODED } from "./coded.ts";

/** Sentences of fixity checks as well. */
export const ALL: Readonly<Record<ProblemCode, string>> = {
  ...CODED,
  origin_scheme:
    "The login was refused: the browser and the server disagree whether this site uses http or https. If this is its usual address, its proxy has to send the header X-Forwarded-Proto, and TRUSTED_HOPS has to count the proxy.",
  origin_host:
    "The login was refused: the server knows this site by another name than the browser. If this is its usual address, its proxy has to pass the header Host on.",
  object_forbidden: "The account may not read it",
  object_overwritten: "It was overwritten each time it was read",
  object_parts_unknown: "The store does not report its parts",
  object_etags_unknown: "No other object shows whether the ETags of this store are MD5s",
  object_etags_not_md5: "The ETags of this store are not MD5s",
  object_versions_too_many: "The store does not find it, and lists too many versions to search for it",
  object_listed_not_found: "The store lists it but does not find it",
  object_in_manifest: "The manifest names it",
  object_in_baseline: "It existed at the earlier check",
  object_replaced: "Its content is as stored: it was overwritten since, or the comparison is about other content",
  object_wrong_length: "The store sends another number of bytes than it announces",
  object_broken_off: "Reading it fails each time",
  bag_declaration_invalid: "bagit.txt does not state version and encoding as BagIt requires",
  bag_algorithm_unknown: "{name} is not compared: its algorithm is unknown here",
  bag_manifests_too_many: "{name} is not compared: there are too many manifests",
  bag_without_manifest: "The bag has no payload manifest that can be compared",
  bag_oxum_invalid: "bag-info.txt does not state its Payload-Oxum as BagIt requires",
  bag_oxum_differs:
    "Payload-Oxum states {files} files of {bytes} bytes: there are {found_files} of {found_bytes} bytes",
  bag_manifest_invalid_lines: "{name} has {lines} lines that name no file of the bag",
  bag_manifest_fewer_files: "{name} names {files} files, another payload manifest {most}",
  manifest_overwritten: "The manifest “{key}” was overwritten during the check: start the check again",
  manifest_deleted: "The manifest “{key}” was deleted during the check",
  not_written_name: "No manifest was made: tools would read the name of the object “{key}” as another file’s name",
  not_written_exists: "{keys} exists with other content",
  field_without_other: "it has no meaning without the field “{other}”",
  manifest_with_bag: "a bag has its own manifests: choose one of the two",
  manifest_algorithm_unknown: "its name states an algorithm other than md5, sha1, sha256 and sha512",
  manifest_not_found: "there is no object “{key}” in the bucket “{bucket}”",
  bag_prefix: "for a bag it is empty or ends with a slash",
  bag_not_found: "there is no object “{key}”, so it is not a bag",
  versions_not_compared: "manifests and earlier checks do not cover older versions: leave them out",
  baseline_not_found: "this account has no such check in this bucket",
  baseline_running: "that check has not ended yet",
  baseline_incomplete:
    "that check does not have a row for every object: it needs rows for intact objects and no older versions",
  baseline_gone: "the rows of that check no longer exist",
  report_rows_gone: "The rows of this report no longer exist: they are stored for 30 days, its totals for 400",
};

/** Why a field of a request is invalid, by the type of an entry of a 422 response. */
export const INVALID = {
  missing: "a value is missing",
  enum: "the value must be {expected}",
  string_pattern_mismatch: "the value does not have the required form",
  string_type: "the value must be a text",
  int_type: "the value must be an integer",
  string_too_short: "the text needs at least {min_length} characters",
  string_too_long: "the text may have at most {max_length} characters",
  greater_than_equal: "the value must be at least {ge}",
  less_than_equal: "the value must be at most {le}",
};
