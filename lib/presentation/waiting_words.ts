import type { JobSummary, WaitingCode } from "@/lib/campaigns/projection/types.ts";
import { isSettled } from "./campaign_state.ts";
import type { FailureWords } from "./problem_sentences.ts";

/** Why a campaign does no work, with the cluster's own words; null for one that works or has ended. */
export function waitingWords(job: JobSummary): FailureWords | null {
  if (isSettled(job)) return null;
  const { waiting, warmup, phase } = job;
  if (waiting) {
    const raw = [waiting.reason, waiting.message ?? ""].filter(Boolean).join(": ");
    return { text: SENTENCES[waiting.code] ?? `Waits: ${waiting.reason}`, raw };
  }
  if (phase !== "Queued") return null;
  return { text: warmup.phase === "succeeded" ? SENTENCES.queue : SENTENCES.warmup, raw: null };
}

const SENTENCES: Readonly<Record<WaitingCode, string>> = {
  suspended: "Suspended by hand: resume its Job to go on",
  queue: "Waits for its turn in the queue",
  quota: "Waits until its queue has quota left",
  warmup: "Waits for its warm-up",
  unschedulable: "No machine has room for its pods",
  "no-pods": "The cluster has started no pod for it",
};
