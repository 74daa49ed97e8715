import { type CampaignRecord, keyOf } from "./cluster_objects.ts";
import { instantOf } from "./instants.ts";
import type { StatusRecord } from "./status_record.ts";
import type { SummaryContext } from "./summary.ts";
import { compareText } from "@/lib/std/text.ts";
import type { JobSummary, Phase, Reason, VolumeState } from "./types.ts";
import { resultsBaseOf } from "./urls.ts";
import type { VolumeStates } from "./volume_states.ts";
import type { VolumeList } from "./volumes.ts";

/** A campaign whose Job is gone: its ConfigMap and its status record. */
export interface ReapedCampaign {
  readonly record: CampaignRecord;
  readonly status: StatusRecord;
}

/** A campaign of these two ConfigMaps; null when one is missing or the status has no known phase. */
export function reapedCampaign(record: CampaignRecord | null, status: StatusRecord | null): ReapedCampaign | null {
  return record && status?.phase ? { record, status } : null;
}

/** The reaped campaigns of a list. */
interface ReapedWindow {
  /** The ones that ended last, latest first. */
  readonly chosen: readonly ReapedCampaign[];
  /** All of them: the header `X-Reaped-Total`. */
  readonly total: number;
}

/**
 * Pairs records with their status and chooses the `limit` campaigns that ended last. A campaign with a live Job,
 * without a status or with a status of no known phase makes no row and is not counted.
 */
export function chooseReaped(
  records: Iterable<CampaignRecord>,
  statuses: Iterable<StatusRecord>,
  hasLiveJob: (namespace: string, job: string) => boolean,
  limit: number,
): ReapedWindow {
  const byJob = new Map<string, StatusRecord>();
  for (const status of statuses) byJob.set(keyOf(status.namespace, status.job), status);
  const candidates: Candidate[] = [];
  for (const record of records) {
    const campaign = reapedCampaign(record, byJob.get(keyOf(record.namespace, record.job)) ?? null);
    if (campaign && !hasLiveJob(record.namespace, record.job)) {
      candidates.push({ ...campaign, endedAt: endingInstant(campaign) });
    }
  }
  candidates.sort(latestFirst);
  return { chosen: candidates.slice(0, limit), total: candidates.length };
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

interface Candidate extends ReapedCampaign {
  readonly endedAt: number;
}

const ENDINGS: Readonly<Record<Phase, VolumeState>> = {
  Succeeded: "done",
  PartiallyFailed: "done",
  Failed: "failed",
  Unknown: "unknown",
  Running: "unknown",
  Queued: "unknown",
  Paused: "unknown",
};

function reapedPhase({ phase }: StatusRecord): Phase {
  return phase === "Succeeded" || phase === "Failed" ||
      phase === "PartiallyFailed"
    ? phase
    : "Unknown";
}

function endingInstant({ record, status }: ReapedCampaign): number {
  return instantOf(status.finishedAt ?? record.createdAt) ?? -Infinity;
}

function latestFirst(a: Candidate, b: Candidate): number {
  if (a.endedAt !== b.endedAt) return a.endedAt > b.endedAt ? -1 : 1;
  return compareText(b.record.createdAt, a.record.createdAt);
}

function sentence(text: string | undefined): Reason | null {
  return text?.trim() ? { stage: null, permanent: null, error: text } : null;
}
