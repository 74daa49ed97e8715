import type { ProblemCode } from "@/lib/std/coded.ts";
import { CODED } from "./coded.ts";
import { counted, formatCount, formatDecimal } from "@/lib/pages/locale/figures.ts";

/** The words of the page of fixity checks: headings, controls, columns. */
export const LABELS = {
  fixity: "Fixity checks",
  checkOf: (place: string) => `Fixity check of ${place}`,
  checkOfAll: (bucket: string) => `Fixity check of all of ${bucket}`,
  allOf: (bucket: string) => `All of ${bucket}`,
  newCheck: "New check",
  checksOf: "Checks of the bucket",
  showChecks: "Show its checks",
  start: "Start the check",
  more: "More choices: manifests, bags, earlier checks, a report, and how fast",
  compareWith: "Compare with",
  noBaseline: "none",
  atTheEnd: "Write at the end",
  how: "How it reads",
  compareAgain: "Compare a new check with this one",
  schedules: "Schedules",
  cancel: "Cancel the check",
  again: "Check again",
  older: "Older checks",
  newest: "The newest checks",
  csv: "CSV",
  json: "JSON",
  download: "Report",
  objects: "Objects",
  object: "Object",
  result: "Result",
  comparedWith: "Compared with",
  provedBy: "Found intact by",
  size: "Size",
  filter: "Show objects by result",
  nextRows: "Next objects",
  firstRows: "The first objects",
  digests: "Digests",
  expected: "should be",
  actual: "is",
  inManifest: "Manifest",
  bag: "Bag",
  written: "Written",
  schedule: "Schedule",
  where: "Checked",
  options: "Options",
  time: "When",
  next: "Next",
  last: "Last check",
  of: "of",
  never: "none yet",
  damaged: "damaged",
  all: "all",
};

/** The names of the fields of the form, in the order of the form. */
export const FIELDS = {
  bucket: "Bucket",
  prefix: "Only keys that begin with",
  manifest: "Key of a manifest",
  manifest_bucket: "Its bucket, if it is another",
  manifest_root: "Its paths begin at",
  bag: "A bag (BagIt): all its manifests",
  baseline: "Earlier check",
  etags: "Do not compare ETags",
  report_to: "Report: keys begin with",
  rate: "At most, in MB a second",
  all_versions: "Older versions too",
  full: "A row for intact objects too",
};

/** How a check goes or has ended, in a chip. */
export const STATES = {
  processing: "running",
  intact: "no damage",
  damaged: "damage",
  invalidBag: "bag not valid",
  nothing: "no objects",
  canceled: "cancelled",
  failed: "failed",
};

/** What became of an object. */
export const RESULTS = {
  changed: "changed",
  missing: "missing",
  unreadable: "unreadable",
  unproven: "nothing to compare with",
  not_in_manifest: "not in the manifest",
  deleted: "deleted meanwhile",
  intact: "intact",
};

/** What the bytes of an object were compared with. */
export const PROOFS = {
  checksum: "stored checksum",
  checksum_of_parts: "stored checksum of the parts",
  etag: "ETag",
  etag_of_parts: "ETag of the parts",
  manifest: "manifest",
  baseline: "earlier check",
};

/** The sentences of the page of fixity checks. */
export const SENTENCES = {
  whatItIs:
    "A check reads stored objects whole and compares their bytes with the checksum that was stored with them, with their ETag, or with a manifest.",
  rootNote: "Empty: its own folder. A slash: the start of the bucket.",
  ofObjects: (count: number) => counted(count, "object", "objects"),
  none: "There are no checks yet.",
  noneOf: (bucket: string) => `This account has no checks of ${bucket}.`,
  typeBucket: "This account may not list buckets. Type the name of one to see its checks.",
  noSuchName: "No bucket can have this name.",
  systemLevel: "An account of the system level has no buckets, so it has nothing to check.",
  someBuckets: (count: number) =>
    `Only the first ${formatCount(count)} buckets are read. Type the name of another one to see its checks.`,
  notRead: (count: number) =>
    `The checks of ${counted(count, "bucket", "buckets")} could not be read. Load the page again shortly.`,
  /** `base` are the objects that it dealt with. */
  intact: (intact: number, base: number) => `${formatCount(intact)} of ${counted(base, "object", "objects")} intact`,
  nothing: "No object was there to check",
  read: (files: number, bytes: string) => `${counted(files, "object", "objects")} read so far, ${bytes}`,
  readOf: (files: number, expected: number, bytes: string) =>
    `${formatCount(files)} of about ${counted(expected, "object", "objects")} read, ${bytes}`,
  rate: (bytes: string) => `${bytes}/s`,
  noneRead: "No object was read",
  soon: "less than a minute left",
  left: (span: string) => `about ${span} left`,
  runningFor: (span: string) => `running for ${span}`,
  took: (span: string) => `took ${span}`,
  damage: (damaged: number, base: number) =>
    `${formatCount(damaged)} of ${counted(base, "object", "objects")} ${
      damaged === 1 ? "is" : "are"
    } damaged. Restore ` +
    `${damaged === 1 ? "it" : "them"} from an older version or another copy, then check again.`,
  unprovenObjects: (count: number) =>
    `${counted(count, "object was", "objects were")} read, but there is nothing to compare ${
      count === 1 ? "it" : "them"
    } with.`,
  otherEtags: "The ETags of this store are not MD5s, so a different ETag proves nothing.",
  failed: (error: string) => `The check failed: ${error}. Start it again.`,
  failedUnknown: "The check failed. Start it again.",
  canceled: "The check was cancelled. The figures cover what was read until then.",
  rowsLeftOut: (count: number) =>
    `${counted(count, "further object is", "further objects are")} counted but not listed: a report has a limit.`,
  rowsGone:
    "The list of objects is stored for 30 days and no longer exists. The counts remain. Check again for a new list.",
  noRows: "All objects are intact, so none is listed.",
  rowsAtEnd: "The objects are listed once the check has ended.",
  noneOfResult: "No listed object has this result.",
  searched: (rows: number) => `${counted(rows, "row", "rows")} searched without a match.`,
  gone: "There is no such check of this account in this bucket. Totals of the last 20 checks are stored for 400 days.",
  otherVersion: "The check was started by another version of the server and can no longer be read. Start it again.",
  bagValid: "The bag is valid.",
  bagInvalid: "The bag is not valid:",
  manifestLines: (count: number) => `${counted(count, "line", "lines")} in all`,
  manifestEntries: (count: number) => `names ${counted(count, "object", "objects")}`,
  invalidLines: (count: number) => `${counted(count, "line", "lines")} of it cannot be read`,
  writeError: (error: string) => `Not everything was written: ${error}`,
  versionOf: (version: string) => `version ${version}`,
  atMost: (rate: string) => `at most ${rate}`,
  proved: (count: number, proof: string) => `${proof} (${counted(count, "object", "objects")})`,
  scheduleAt: (cron: string, zone: string) => `${cron} (${zone})`,
  scheduleError: (error: string) => `The last check could not be started: ${error}`,
  lastCheck: (files: number, damaged: number) =>
    `${counted(files, "object", "objects")} read, ${formatCount(damaged)} damaged`,
  othersNotRead: "The schedules of other accounts could not be read. Load the page again shortly.",
  notCurrent: "No connection to the server, so the figures are not current. They are read again automatically.",
  hasEnded: (place: string) => `The check of ${place} has ended.`,
  damageIn: (count: number) => `${counted(count, "check", "checks")} with damage`,
  runningChecks: (count: number) => `${counted(count, "check", "checks")} running`,
  endedChecks: (count: number) => `${counted(count, "check", "checks")} ended`,
};

/** Why a check was not started, and what to do. */
export const START_PROBLEMS = {
  noBucket: "Type the name of the bucket.",
  rate: (least: number) =>
    `The rate is a number of at least ${
      formatDecimal(least, 1)
    } MB a second. Leave it empty for as fast as the server allows.`,
  missing: "There is no bucket of this name.",
  forbidden:
    "This account may not list this bucket, so nothing can be checked. The owner of the bucket can allow that.",
  tooMany: "Too many tasks are running. Start the check when one of them has ended.",
  said: (field: string, message: string) => `Invalid value for “${field}”: ${message}`,
  other: (message: string) => `The check was not started. The server says: ${message}`,
};

/** Sentences of fixity checks as well. */
export const ALL_CODED: Readonly<Record<ProblemCode, string>> = {
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
export const INVALID_FIELDS = {
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
