import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/campaigns.ts";
import * as sv from "@/locales/sv/campaigns.ts";

const CAMPAIGN_CHIPS = inLanguage({ en: en.CAMPAIGN_CHIPS, sv: sv.CAMPAIGN_CHIPS });

/** Groups of campaigns in the list, from the top. */
export const BANDS = ["running", "trouble", "finished", "waiting"] as const;
export type Band = (typeof BANDS)[number];

/** The meaning of a colour, which never appears without a word. */
export type Tone = "run" | "done" | "warn" | "bad" | "idle";

/** A word in its colour. */
export interface Chip {
  readonly text: string;
  readonly tone: Tone;
  /** Said on hover. */
  readonly title?: string;
  /** Something moves at this moment. */
  readonly live?: boolean;
  /** A longer text that may replace it once the campaign's detail is read: its space is reserved. */
  readonly room?: string;
}

/** Where a campaign belongs in the list (spec, Browser behaviour: initial order). */
export function bandOf(job: JobSummary): Band {
  if (job.phase === "Running" && !isWarmupTrouble(job)) return "running";
  if (isInTrouble(job)) return "trouble";
  return isWaiting(job) ? "waiting" : "finished";
}

/**
 * Whether a person must act: the campaign is over and volumes or all of it failed, or its warm-up failed or is not there.
 * A failed volume of a campaign that goes on can wait until its end.
 */
export function isInTrouble(job: JobSummary): boolean {
  const failed = job.phase === "Failed" || job.phase === "PartiallyFailed" || job.counts.failed > 0;
  return isWarmupTrouble(job) || (failed && isSettled(job));
}

/** Whether nothing of a campaign runs or has run because its warm-up failed or is not there. */
export function isHeldByWarmup(job: JobSummary): boolean {
  const { active, done, failed } = job.counts;
  return isWarmupTrouble(job) && !isSettled(job) && active + done + failed === 0;
}

/** Whether a campaign does no work because its warm-up is missing, although volumes of some pods count as active. */
export function lacksWarmup(job: JobSummary): boolean {
  return isHeldByWarmup(job) || (job.warmup.phase === "failed" && job.counts.done === 0);
}

/** Whether the pods of a campaign wait for its warm-up, so that the volumes they have taken are not worked on. */
export function isAtGate({ waiting, counts }: JobSummary): boolean {
  return waiting?.code === "warmup" && counts.done + counts.failed === 0;
}

/** Suspended and not ended. */
export function isWaiting({ phase }: JobSummary): boolean {
  return phase === "Queued" || phase === "Paused";
}

/** Ended, or gone: nothing about it moves. */
export function isSettled({ phase, jobGone }: JobSummary): boolean {
  return jobGone || ENDINGS.has(phase);
}

/** Whether the page sums of a detail cover every volume that has run. */
export function isWhole({ pagesCoverage }: JobDetail): boolean {
  return pagesCoverage.counted >= pagesCoverage.of;
}

/** The colour of a card's stripe: red for trouble alone, else that of its phase's chip. */
export function accentOf(job: JobSummary, detail: JobDetail | null): Tone {
  return isInTrouble(job) ? "bad" : phaseChip(job, detail).tone;
}

/** A card's chips: warm-up, job removed, phase. */
export function chipsOf(job: JobSummary, detail: JobDetail | null): Chip[] {
  const removed: Chip[] = job.jobGone
    ? [{ text: CAMPAIGN_CHIPS.jobRemoved, tone: "idle", title: CAMPAIGN_CHIPS.jobRemovedTitle }]
    : [];
  return [...warmupChip(job), ...removed, phaseChip(job, detail)];
}

const ENDINGS: ReadonlySet<string> = new Set(["Succeeded", "Failed", "PartiallyFailed", "Unknown"]);

const WARMUP_TONES = { pending: "idle", running: "run", failed: "bad" } as const;

/**
 * A failed warm-up is trouble in every phase, because the next campaign of the pipeline does not start either. A missing
 * one is trouble until the campaign has succeeded without it (spec, Browser behaviour).
 */
function isWarmupTrouble({ warmup, phase }: JobSummary): boolean {
  return warmup.phase === "failed" || (warmup.phase === "missing" && phase !== "Succeeded");
}

function lostPages(detail: JobDetail | null): boolean {
  return (detail?.pagesFailed ?? 0) > 0;
}

function warmupChip({ warmup, phase }: JobSummary): Chip[] {
  if (warmup.phase === "succeeded") return [];
  if (warmup.phase === "missing") {
    return [{ text: CAMPAIGN_CHIPS.noWarmup, tone: phase === "Succeeded" ? "idle" : "bad" }];
  }
  return [{ text: CAMPAIGN_CHIPS.warmup[warmup.phase], tone: WARMUP_TONES[warmup.phase], title: warmup.reason?.error }];
}

function phaseChip(job: JobSummary, detail: JobDetail | null): Chip {
  const { phase, waiting, warmup } = job;
  const text = CAMPAIGN_CHIPS.phases[phase];
  if (phase === "Running") return { text, tone: "run", live: warmup.phase === "succeeded" };
  if (phase === "Succeeded") {
    const room = CAMPAIGN_CHIPS.partiallySucceeded;
    return lostPages(detail) ? { text: room, tone: "warn", room } : { text, tone: "done", room };
  }
  const isFailed = phase === "Failed" || phase === "PartiallyFailed";
  return { text, tone: isFailed ? "bad" : "idle", title: isWaiting(job) ? waiting?.reason : undefined };
}
