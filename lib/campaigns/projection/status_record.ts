import { compareText } from "@/lib/std/text.ts";
import { entries, isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import { type CampaignRecord, keyOf, readCampaignRecord } from "./cluster_objects.ts";
import { type Conventions, labelNames, STATUS_SUFFIX } from "./conventions.ts";
import type { SummaryContext } from "./summary.ts";
import type { JobSummary, Phase, Reason } from "./types.ts";
import { resultsBaseOf } from "./urls.ts";
import { Fraction, instantOf, parseBucketJson } from "./values.ts";
import type { VolumeStates } from "./volume_states.ts";
import type { VolumeList } from "./volumes.ts";

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
export type StatusRecord = Readonly<NonNullable<ReturnType<typeof readStatusRecord>>>;

/** Reads a status record; null when its name is not that of one. An invalid member is ignored. Never throws. */
export function readStatusRecord(value: unknown, conventions: Conventions) {
  const record = readCampaignRecord(value, conventions);
  if (!record?.job.endsWith(STATUS_SUFFIX)) return null;
  const job = record.job.slice(0, -STATUS_SUFFIX.length);
  const data = member(value, "data");
  const jobUid = stringAt(data, "jobUid") ?? "";
  const failuresUid = stringAt(data, "failedVolumesJobUid") ?? "";
  const isOfAnotherJob = failuresUid !== "" && failuresUid !== jobUid;
  /** Reason by volume id, "" for a failure without one; empty when they are those of another Job. */
  const failures: ReadonlyMap<string, string> = readFailures(isOfAnotherJob ? null : stringAt(data, "failedVolumes"));
  return {
    namespace: record.namespace,
    /** The Job's name. */
    job,
    campaign: stringAt(value, "metadata", "labels", labelNames(conventions).campaign) || job,
    pipeline: record.pipeline,
    /** null when the record has no known phase: such a record is not shown. */
    phase: readPhase(stringAt(data, "phase")),
    volumesTotal: readCount(stringAt(data, "volumesTotal")),
    volumesDone: readCount(stringAt(data, "volumesDone")),
    volumesFailed: readCount(stringAt(data, "volumesFailed")),
    startedAt: stringAt(data, "startedAt") || null,
    /** RFC 3339; null as well when the record's text is not a time. */
    finishedAt: readEnding(stringAt(data, "finishedAt")),
    /** The address of the results when it was written, which may differ from today's. */
    resultsBase: stringAt(data, "resultsBase") ?? "",
    /** The Job it is about, "" in a record older than this key. */
    jobUid,
    /** The version of its ConfigMap, which every write changes. */
    version: stringAt(value, "metadata", "resourceVersion") ?? "",
    failures,
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
    if (typeof id === "string") failures.set(id, sentenceOf(member(entry, "reason")));
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

/** A campaign whose Job is gone: its ConfigMap and its status record. */
export interface ReapedCampaign {
  readonly record: CampaignRecord;
  readonly status: StatusRecord;
}

/** A campaign of these two ConfigMaps; null when one is missing or the status has no known phase. */
export function reapedCampaign(record: CampaignRecord | null, status: StatusRecord | null): ReapedCampaign | null {
  return record && status?.phase ? { record, status } : null;
}

/**
 * Pairs records with their status and chooses the `limit` campaigns that ended last. A campaign with a live Job,
 * without a status or with a status of no known phase makes no row and is not counted.
 *
 * @returns those that ended last, latest first, and how many there are in all (the header `X-Reaped-Total`)
 */
export function chooseReaped(
  records: Iterable<CampaignRecord>,
  statuses: Iterable<StatusRecord>,
  hasLiveJob: (namespace: string, job: string) => boolean,
  limit: number,
) {
  const byJob = new Map<string, StatusRecord>();
  for (const status of statuses) byJob.set(keyOf(status.namespace, status.job), status);
  const candidates: { readonly campaign: ReapedCampaign; readonly endedAt: number }[] = [];
  for (const record of records) {
    const campaign = reapedCampaign(record, byJob.get(keyOf(record.namespace, record.job)) ?? null);
    if (!campaign || hasLiveJob(record.namespace, record.job)) continue;
    candidates.push({ campaign, endedAt: instantOf(campaign.status.finishedAt ?? record.createdAt) ?? -Infinity });
  }
  candidates.sort((a, b) => {
    if (a.endedAt !== b.endedAt) return a.endedAt > b.endedAt ? -1 : 1;
    return compareText(b.campaign.record.createdAt, a.campaign.record.createdAt);
  });
  return { chosen: candidates.slice(0, limit).map(({ campaign }) => campaign), total: candidates.length };
}

/** The summary of a reaped campaign (spec, Reaped campaigns). Links follow today's results URL, not the record's. */
export function reapedSummary({ record, status }: ReapedCampaign, context: SummaryContext): JobSummary {
  return {
    namespace: record.namespace,
    name: record.job,
    campaign: record.campaign,
    pipeline: record.pipeline,
    phase: reapedPhase(status),
    counts: { total: status.volumesTotal, active: 0, done: status.volumesDone, failed: status.volumesFailed },
    suspended: false,
    createdAt: record.createdAt || null,
    startedAt: status.startedAt,
    finishedAt: status.finishedAt,
    resultsBase: resultsBaseOf(context.resultsUrl, record.namespace, record.pipeline),
    warmup: context.warmup,
    jobGone: true,
    qualityPrediction: context.qualityPrediction,
    waiting: null,
    ending: null,
  };
}

/**
 * The states of a reaped campaign's volumes: a volume named by the record has failed, the others have the campaign's
 * ending. Their state is unknown when the record counts more failures than it names, or fewer endings than volumes.
 */
export function reapedStates(volumes: VolumeList, status: StatusRecord): VolumeStates {
  const isNamed = Array.from({ length: volumes.count }, (_, index) => status.failures.has(volumes.id(index)));
  const named = new Set(isNamed.flatMap((is, index) => is ? [volumes.id(index)] : []));
  const ending = ENDINGS[reapedPhase(status)];
  const isUnsaid = ending === "done" && named.size < status.volumesFailed ||
    status.volumesDone + status.volumesFailed < status.volumesTotal;
  return {
    states: isNamed.map((is) => is ? "failed" : isUnsaid ? "unknown" : ending),
    isFinal: false,
    reason: (index) => sentence(status.failures.get(volumes.id(index))),
    containerWaiting: () => null,
    attemptAt: () => null,
    stoppedAt: () => null,
  };
}

const ENDINGS = { Succeeded: "done", PartiallyFailed: "done", Failed: "failed", Unknown: "unknown" } as const;

function reapedPhase({ phase }: StatusRecord): keyof typeof ENDINGS {
  return phase === "Succeeded" || phase === "Failed" || phase === "PartiallyFailed" ? phase : "Unknown";
}

function sentence(text: string | undefined): Reason | null {
  return text?.trim() ? { stage: null, permanent: null, error: text } : null;
}
