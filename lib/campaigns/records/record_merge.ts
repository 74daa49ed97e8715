import type { BatchJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { instantOf } from "@/lib/campaigns/projection/instants.ts";
import { finishedAtOf, phaseOf } from "@/lib/campaigns/projection/phase.ts";
import { type RecordSummary, type StatusRecord, SUMMARY_KEYS } from "@/lib/campaigns/projection/status_record.ts";
import { resultsBaseOf } from "@/lib/campaigns/projection/urls.ts";
import { clip } from "@/lib/std/untrusted.ts";

/** Failures in a record. */
export const MAX_NAMED_FAILURES = 50;
/** Longest id and longest reason in a record, characters. */
const MAX_FAILURE_TEXT = 300;
/** Bytes of the whole value `failedVolumes`. */
export const MAX_FAILURES_BYTES = 200 * 1024;

/** Reason by volume id, "" where none is known; the first ones are written when there are too many. */
export type Failures = ReadonlyMap<string, string>;

/** The summary of a live campaign for its record. `resultsUrl` null: it depends on the request, so none is recorded. */
export function summaryOf(job: BatchJob, resultsUrl: string | null): RecordSummary {
  return {
    phase: phaseOf(job),
    volumesTotal: String(job.completions ?? 0),
    volumesDone: String(job.completed.size),
    volumesFailed: String(job.failed.size),
    startedAt: job.startedAt ?? "",
    finishedAt: finishedAtOf(job) ?? "",
    resultsBase: resultsUrl === null ? "" : resultsBaseOf(resultsUrl, job.namespace, job.pipeline),
    jobUid: job.uid,
  };
}

/**
 * Merges a summary into a stored one: the newer values win, but no value is replaced by an empty text, and the ending
 * only moves to a later instant. Keys without a value on either side are left out, and so is an empty results base.
 */
export function mergeSummary(stored: ReadonlyMap<string, string>, fresh: RecordSummary): Map<string, string> {
  const merged = new Map<string, string>();
  for (const key of SUMMARY_KEYS) {
    const old = stored.get(key);
    const value = key === "finishedAt" ? laterEnding(old, fresh[key]) : fresh[key] || old || fresh[key];
    if (value !== undefined && isWritten(key, value)) merged.set(key, value);
  }
  return merged;
}

/** The data that replaces the record of another Job: the whole summary of this one. */
export function wholeSummary(fresh: RecordSummary): Record<string, string> {
  return Object.fromEntries(Object.entries(fresh).filter(([key, value]) => isWritten(key, value)));
}

/** An empty results base is left out. Other keys may be empty, such as the ending of a running campaign. */
function isWritten(key: string, value: string): boolean {
  return key !== "resultsBase" || value !== "";
}

/** Whether a record already contains everything that a write of the summary would change. */
export function isRecorded(record: StatusRecord, fresh: RecordSummary): boolean {
  const ending = record.finishedAt ?? "";
  return record.phase === fresh.phase && record.jobUid === fresh.jobUid &&
    String(record.volumesTotal) === fresh.volumesTotal && String(record.volumesDone) === fresh.volumesDone &&
    String(record.volumesFailed) === fresh.volumesFailed &&
    (fresh.startedAt === "" || record.startedAt === fresh.startedAt) &&
    (laterEnding(ending, fresh.finishedAt) ?? "") === ending &&
    (fresh.resultsBase === "" || record.resultsBase === fresh.resultsBase);
}

/**
 * The failures of both: first the fresh ones, then those that only the record contains. A fresh reason replaces a stored
 * one, a blank one does not.
 */
export function mergeFailures(stored: Failures, fresh: Failures): Map<string, string> {
  const merged = new Map<string, string>();
  for (const [id, reason] of [...fresh, ...stored]) {
    const [key, text] = [clip(id, MAX_FAILURE_TEXT), clip(reason, MAX_FAILURE_TEXT)];
    if (!merged.get(key)?.trim()) merged.set(key, text);
  }
  return merged;
}

/** The value of `failedVolumes`: the first failures, up to the limits. */
export function failuresText(failures: Failures): string {
  let entries = "";
  let named = 0;
  let bytes = "[]".length;
  for (const [id, reason] of failures) {
    const entry = (named === 0 ? "" : ",") + JSON.stringify({ id, reason });
    bytes += new TextEncoder().encode(entry).length;
    if (named === MAX_NAMED_FAILURES || bytes > MAX_FAILURES_BYTES) break;
    entries += entry;
    named++;
  }
  return `[${entries}]`;
}

function laterEnding(stored: string | undefined, fresh: string): string | undefined {
  if (!stored) return fresh || stored;
  const before = instantOf(stored);
  const after = instantOf(fresh);
  if (after === null) return stored;
  return before === null || after >= before ? fresh : stored;
}
