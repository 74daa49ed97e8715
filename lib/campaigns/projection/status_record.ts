import { entries, isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import { Fraction, parseBucketJson } from "./bucket_json.ts";
import { readCampaignRecord } from "./cluster_objects.ts";
import { type Conventions, labelNames, STATUS_SUFFIX } from "./conventions.ts";
import { instantOf } from "./instants.ts";
import type { Phase } from "./types.ts";

/** The keys of a status record; the values are text. */
export const SUMMARY_KEYS = [
  "phase",
  "volumesTotal",
  "volumesDone",
  "volumesFailed",
  "startedAt",
  "finishedAt",
  "resultsBase",
  "jobUid",
] as const;
export const FAILURE_KEYS = ["failedVolumes", "failedVolumesJobUid"] as const;

/** The content of a status record without its failures: texts by key. */
export type RecordSummary = Readonly<Record<(typeof SUMMARY_KEYS)[number], string>>;

/** A phase of a record; `Unknown` is shown for a record without an ending. */
type RecordedPhase = Exclude<Phase, "Unknown">;

/** A campaign's status record. */
export interface StatusRecord {
  readonly namespace: string;
  /** The Job's name. */
  readonly job: string;
  readonly campaign: string;
  readonly pipeline: string;
  /** null when the record has no known phase: such a record is not shown. */
  readonly phase: RecordedPhase | null;
  readonly volumesTotal: number;
  readonly volumesDone: number;
  readonly volumesFailed: number;
  readonly startedAt: string | null;
  /** RFC 3339; null as well when the record's text is not a time. */
  readonly finishedAt: string | null;
  /** The address of the results when it was written, which may differ from today's. */
  readonly resultsBase: string;
  /** The Job it is about, "" in a record older than this key. */
  readonly jobUid: string;
  /** The version of its ConfigMap, which every write changes. */
  readonly version: string;
  /** Reason by volume id, "" for a failure without one; empty when they are those of another Job. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Reads a status record; null when its name is not that of one. An invalid member is ignored. Never throws. */
export function readStatusRecord(value: unknown, conventions: Conventions): StatusRecord | null {
  const record = readCampaignRecord(value, conventions);
  if (!record?.job.endsWith(STATUS_SUFFIX)) return null;
  const job = record.job.slice(0, -STATUS_SUFFIX.length);
  const data = member(value, "data");
  const jobUid = stringAt(data, "jobUid") ?? "";
  const failuresUid = stringAt(data, "failedVolumesJobUid") ?? "";
  return {
    namespace: record.namespace,
    job,
    campaign: stringAt(value, "metadata", "labels", labelNames(conventions).campaign) || job,
    pipeline: record.pipeline,
    phase: readPhase(stringAt(data, "phase")),
    volumesTotal: readCount(stringAt(data, "volumesTotal")),
    volumesDone: readCount(stringAt(data, "volumesDone")),
    volumesFailed: readCount(stringAt(data, "volumesFailed")),
    startedAt: stringAt(data, "startedAt") || null,
    finishedAt: readEnding(stringAt(data, "finishedAt")),
    resultsBase: stringAt(data, "resultsBase") ?? "",
    jobUid,
    version: stringAt(value, "metadata", "resourceVersion") ?? "",
    failures: failuresUid && failuresUid !== jobUid ? new Map() : readFailures(stringAt(data, "failedVolumes")),
  };
}

/**
 * Reads `failedVolumes`: reason by volume id. Of an id that occurs twice the last reason counts; other text than a list
 * is empty.
 */
export function readFailures(text: string | null): Map<string, string> {
  const failures = new Map<string, string>();
  for (const entry of entries(parseBucketJson(text ?? ""))) {
    const id = isObject(entry) ? member(entry, "id") : undefined;
    if (typeof id === "string") {
      failures.set(id, sentenceOf(member(entry, "reason")));
    }
  }
  return failures;
}

const PHASES: readonly RecordedPhase[] = ["Succeeded", "Failed", "PartiallyFailed", "Running", "Queued", "Paused"];

function readPhase(text: string | null): RecordedPhase | null {
  return PHASES.find((phase) => phase === text) ?? null;
}

function readEnding(text: string | null): string | null {
  return text !== null && instantOf(text) !== null ? text : null;
}

function readCount(text: string | null): number {
  if (text === null || !/^\s*[+-]?\d{1,15}\s*$/.test(text)) return 0;
  return Number(text) + 0;
}

function sentenceOf(reason: unknown): string {
  if (typeof reason === "string") return reason;
  if (typeof reason === "number") return String(reason);
  return reason instanceof Fraction ? String(reason.value) : "";
}
