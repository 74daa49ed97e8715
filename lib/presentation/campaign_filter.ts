import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isInTrouble, isWaiting } from "./campaign_state.ts";

/** The segments of the list's filter: every campaign is in exactly one besides `all`. */
export const SEGMENTS = ["all", "trouble", "running", "waiting", "finished"] as const;
export type Segment = (typeof SEGMENTS)[number];

/** Which campaigns of a list are shown. */
export interface CampaignFilter {
  readonly segment: Segment;
  /** Words that may be anywhere in a campaign's name or pipeline. */
  readonly text: string;
  /** "": any. */
  readonly pipeline: string;
  /** "": any. */
  readonly namespace: string;
}

export const NO_FILTER: CampaignFilter = { segment: "all", text: "", pipeline: "", namespace: "" };

/** Whether a campaign is shown under a filter. */
export function matches(job: JobSummary, filter: CampaignFilter): boolean {
  return (filter.segment === "all" || segmentOf(job) === filter.segment) && matchesBesidesSegment(job, filter);
}

/** The campaigns of each segment that the rest of a filter lets through. They add up to `all`. */
export function countSegments(
  jobs: readonly JobSummary[],
  filter: CampaignFilter,
): Readonly<Record<Segment, number>> {
  const counts: Record<Segment, number> = { all: 0, trouble: 0, running: 0, waiting: 0, finished: 0 };
  for (const job of jobs) {
    if (!matchesBesidesSegment(job, filter)) continue;
    counts.all++;
    counts[segmentOf(job)]++;
  }
  return counts;
}

/** The one segment of a campaign. Trouble comes first, so that its count is that of the page's title. */
function segmentOf(job: JobSummary): Exclude<Segment, "all"> {
  if (isInTrouble(job)) return "trouble";
  if (job.phase === "Running") return "running";
  return isWaiting(job) ? "waiting" : "finished";
}

function matchesBesidesSegment(job: JobSummary, { text, pipeline, namespace }: CampaignFilter): boolean {
  return (pipeline === "" || job.pipeline === pipeline) && (namespace === "" || job.namespace === namespace) &&
    hasText(job, text);
}

/** Letters compare without case, composed or not; every word of the text must be found. */
function hasText(job: JobSummary, text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0) return true;
  let searched = searchedTexts.get(job);
  if (searched === undefined) {
    searched = folded(`${job.namespace}/${job.name} ${job.campaign} ${job.pipeline}`);
    searchedTexts.set(job, searched);
  }
  return words.every((word) => searched.includes(word));
}

/** Folding a thousand names takes longer than a key press may. */
const searchedTexts = new WeakMap<JobSummary, string>();
let lastText = { text: "", words: [] as readonly string[] };

function wordsOf(text: string): readonly string[] {
  if (lastText.text !== text) lastText = { text, words: folded(text).split(/\s+/).filter(Boolean) };
  return lastText.words;
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
