import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isInTrouble, isSettled, isWaiting } from "./campaign_state.ts";

/** The segments of the list's filter; a campaign may be in several. */
export const SEGMENTS = ["all", "running", "trouble", "finished", "waiting"] as const;
export type Segment = (typeof SEGMENTS)[number];

export const SEGMENT_WORDS: Readonly<Record<Segment, string>> = {
  all: "All",
  running: "Running",
  trouble: "In trouble",
  finished: "Finished",
  waiting: "Waiting",
};

/** Whether a campaign is shown under a segment and a text that may be anywhere in its name or pipeline. */
export function matches(job: JobSummary, segment: Segment, text: string): boolean {
  return isIn(job, segment) && hasText(job, text);
}

/** Whether a campaign belongs to a segment. */
export function isIn(job: JobSummary, segment: Segment): boolean {
  switch (segment) {
    case "all":
      return true;
    case "running":
      return job.phase === "Running";
    case "trouble":
      return isInTrouble(job);
    case "finished":
      return isSettled(job);
    case "waiting":
      return isWaiting(job);
  }
}

/** Letters compare without case, composed or not; every word of the text must be found. */
function hasText(job: JobSummary, text: string): boolean {
  const words = folded(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const where = folded(`${job.namespace}/${job.name} ${job.campaign} ${job.pipeline}`);
  return words.every((word) => where.includes(word));
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
