import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isSettled, isWhole } from "./campaign_state.ts";

/** Seconds between two reads of the list (spec, Limits). */
export const LIST_SECONDS = 60;
/** Seconds between two reads of an open card. */
export const OPEN_CARD_SECONDS = 60;
/** Seconds between two reads of a folded card that is on screen (spec, Limits). */
const FOLDED_CARD_SECONDS = 120;
/** Card reads under way at once (spec, Limits). */
export const MAX_CARD_READS = 4;
/** Seconds that a wait after failed reads grows to. */
const MAX_WAIT_SECONDS = 300;

/** How the reader sees a card. */
interface CardSight {
  readonly open: boolean;
  readonly onScreen: boolean;
}

/**
 * Seconds between the reads of a card's detail, null for none. A campaign that is over is read until its sums cover every
 * volume, a folded one only while it runs and is on screen (spec, Limits).
 */
export function readEvery(job: JobSummary, detail: JobDetail | null, { open, onScreen }: CardSight): number | null {
  if (!open && !onScreen) return null;
  const isKnown = detail !== null && isWhole(detail) && detail.phase === job.phase;
  if (isSettled(job)) {
    if (isKnown) return null;
  } else if (!open && job.phase !== "Running") {
    // Nothing moves: one read tells what a paused campaign has done, and a queued one has done nothing.
    if (isKnown || job.phase === "Queued") return null;
  }
  return open ? OPEN_CARD_SECONDS : FOLDED_CARD_SECONDS;
}

/** Seconds until the next read after so many failures in a row. */
export function waitSeconds(everySeconds: number, failures: number): number {
  return Math.min(everySeconds * 2 ** Math.min(failures, 16), Math.max(everySeconds, MAX_WAIT_SECONDS));
}
