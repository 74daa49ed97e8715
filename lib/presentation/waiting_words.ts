import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/problems.ts";
import * as sv from "@/locales/sv/problems.ts";
import { isSettled } from "./campaign_state.ts";
import type { FailureWords } from "./problem_sentences.ts";

const WAITING_WORDS = inLanguage({ en: en.WAITING_WORDS, sv: sv.WAITING_WORDS });

/** Why a campaign does no work, with the cluster's own words; null for one that works or has ended. */
export function waitingWords(job: JobSummary): FailureWords | null {
  if (isSettled(job)) return null;
  const { waiting, warmup, phase, counts: { total, active, done, failed } } = job;
  const raw = waiting && [waiting.reason, waiting.message ?? ""].filter(Boolean).join(": ");
  if (phase === "Paused") {
    const text = WAITING_WORDS.paused(Math.max(0, total - active - done - failed));
    return { text: waiting?.code === "quota" ? `${text} ${WAITING_WORDS.quota}.` : text, raw };
  }
  if (waiting) {
    return {
      text: Object.hasOwn(WAITING_WORDS, waiting.code)
        ? WAITING_WORDS[waiting.code]
        : WAITING_WORDS.other(waiting.reason),
      raw,
    };
  }
  if (phase !== "Queued") return null;
  return { text: warmup.phase === "succeeded" ? WAITING_WORDS.queue : WAITING_WORDS.warmup, raw: null };
}
