import type { BatchJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, labelNames, RECORD_PREFIX, STATUS_SUFFIX } from "@/lib/campaigns/projection/conventions.ts";
import {
  FAILURE_KEYS,
  readFailures,
  type RecordSummary,
  type StatusRecord,
  SUMMARY_KEYS,
} from "@/lib/campaigns/projection/status_record.ts";
import { finishedAtOf, phaseOf } from "@/lib/campaigns/projection/summary.ts";
import { resultsBaseOf } from "@/lib/campaigns/projection/urls.ts";
import { instantOf } from "@/lib/campaigns/projection/values.ts";
import { clip, entries, isObject, member, stringAt } from "@/lib/std/untrusted.ts";

/** A status record as the cluster stores it, with the owners of its keys. */
export type StoredRecord = NonNullable<ReturnType<typeof readStoredRecord>>;

/** One server-side apply to a status record. */
export interface RecordWrite {
  readonly manager: string;
  /** Takes over keys that other managers own. */
  readonly force: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
  /** The uid of the object, so that a removed one is not created again; null: a new object. */
  readonly uid: string | null;
  /** The version on which the write depends; null: any. */
  readonly version: string | null;
}

/** The name of the status record of a Job. */
export function statusRecordName(job: string): string {
  return RECORD_PREFIX + job + STATUS_SUFFIX;
}

/** Reads the ConfigMap of a status record; null for none. Never throws. */
export function readStoredRecord(value: unknown) {
  const uid = stringAt(value, "metadata", "uid");
  if (!uid) return null;
  const fields = entries(member(value, "metadata", "managedFields"));
  return {
    uid,
    version: stringAt(value, "metadata", "resourceVersion") ?? "",
    labels: texts(member(value, "metadata", "labels")),
    data: texts(member(value, "data")),
    /** The keys of `data` that a field manager applied. */
    ownedBy: (manager: string): ReadonlySet<string> => new Set(fields.flatMap((entry) => appliedKeys(entry, manager))),
  };
}

/**
 * The write that updates a record's summary from a live Job; null when it is up to date. The ending of this Job is left
 * unchanged where the submission tool has recorded it. The record of an earlier Job of the same name is replaced; where
 * that tool wrote it, only at the version that was read.
 */
export function planSummary(
  stored: StoredRecord | null,
  job: BatchJob,
  fresh: RecordSummary,
  conventions: Conventions,
): RecordWrite | null {
  const labels = recordLabels(job, conventions);
  const write = { manager: conventions.summaryManager, force: false, labels, uid: null, version: null };
  if (!stored) return { ...write, data: Object.fromEntries(mergeSummary(new Map(), fresh)) };
  const { uid } = stored;
  const applied = stored.ownedBy(conventions.applyManager);
  const recorded = stored.data.get("jobUid");
  if (recorded && recorded !== job.uid) {
    const force = applied.size > 0;
    return { ...write, uid, force, version: force ? stored.version : null, data: wholeSummary(fresh) };
  }
  const merged = new Map([...otherOwnedKeys(stored, conventions), ...mergeSummary(stored.data, fresh)]);
  if (!applied.has("phase")) {
    const isKnown = isPart(Object.entries(labels), stored.labels) && isPart(merged, stored.data);
    return isKnown ? null : { ...write, uid, data: Object.fromEntries(merged) };
  }
  const left = [...merged].filter(([key]) => !applied.has(key));
  return isPart(left, stored.data) ? null : { ...write, uid, labels: {}, data: Object.fromEntries(left) };
}

/**
 * The write that adds a live Job's failures to its record; null when it contains them. `uid` is that of the record, which
 * the write of the summary may have created.
 */
export function planFailures(
  stored: StoredRecord | null,
  uid: string,
  job: BatchJob,
  fresh: Failures,
  conventions: Conventions,
): RecordWrite | null {
  const known = stored && isOfJob(stored, job)
    ? readFailures(stored.data.get("failedVolumes") ?? null)
    : new Map<string, string>();
  const data = { failedVolumes: failuresText(mergeFailures(known, fresh)), failedVolumesJobUid: job.uid };
  const owned = stored?.ownedBy(conventions.failuresManager);
  const isOurs = stored && FAILURE_KEYS.every((key) => owned?.has(key));
  if (isOurs && isPart(Object.entries(data), stored.data)) return null;
  return { manager: conventions.failuresManager, force: true, labels: {}, data, uid, version: null };
}

function texts(value: unknown): ReadonlyMap<string, string> {
  const members = isObject(value) ? Object.entries(value) : [];
  return new Map(members.flatMap(([key, text]) => typeof text === "string" ? [[key, text]] : []));
}

function appliedKeys(entry: unknown, manager: string): string[] {
  if (stringAt(entry, "operation") !== "Apply" || stringAt(entry, "manager") !== manager) return [];
  const fields = member(entry, "fieldsV1", "f:data");
  return isObject(fields) ? Object.keys(fields).filter((key) => key.startsWith("f:")).map((key) => key.slice(2)) : [];
}

function recordLabels({ campaign, pipeline }: BatchJob, conventions: Conventions): Record<string, string> {
  const names = labelNames(conventions);
  return {
    [names.managedBy]: conventions.managedBy,
    [names.campaign]: campaign,
    ...(pipeline && { [names.pipeline]: pipeline }),
    [names.kind]: "status",
  };
}

/**
 * The other keys that our summary manager owns: an apply without them would remove them. Failures that an older version
 * wrote with the summary stay until they have a manager of their own.
 */
function otherOwnedKeys(stored: StoredRecord, { summaryManager, failuresManager }: Conventions): [string, string][] {
  const owned = stored.ownedBy(summaryManager);
  const moved = stored.ownedBy(failuresManager);
  return [...stored.data].filter(([key]) => owned.has(key) && !moved.has(key) && !SUMMARY.has(key));
}

const SUMMARY: ReadonlySet<string> = new Set(SUMMARY_KEYS);

/** Failures without a uid of their own belong to the Job of the record. */
function isOfJob({ data }: StoredRecord, { uid }: BatchJob): boolean {
  const about = data.get("failedVolumesJobUid") || data.get("jobUid");
  return !about || about === uid;
}

function isPart(some: Iterable<readonly [string, string]>, all: ReadonlyMap<string, string>): boolean {
  for (const [key, value] of some) if (all.get(key) !== value) return false;
  return true;
}

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
function wholeSummary(fresh: RecordSummary): Record<string, string> {
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
