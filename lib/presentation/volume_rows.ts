import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { isSettled } from "./campaign_state.ts";
import { volumeChip, volumeSentence } from "./volume_words.ts";

/** The filter of a card's volumes. Each volume is in exactly one segment beside `all`, so that they add up. */
export const VOLUME_SEGMENTS = ["all", "failed", "active", "lost", "done", "waiting", "unfinished", "unknown"] as const;
export type VolumeSegment = (typeof VOLUME_SEGMENTS)[number];

/** How many volumes a segment holds. */
export interface SegmentCount {
  readonly segment: VolumeSegment;
  readonly count: number;
  /** Whether the count is whole, or grows or shrinks when the other volumes are read. */
  readonly mark: "" | "≥ " | "≤ ";
}

/** The segment of a volume beside `all`. */
export function segmentOf({ state, progress, final }: VolumeView): VolumeSegment {
  switch (state) {
    case "done":
      return (progress?.failed ?? 0) > 0 ? "lost" : "done";
    case "pending":
      return final ? "unfinished" : "waiting";
    default:
      return state;
  }
}

/**
 * Counts of all segments in their order; `unknown` and `unfinished` only where a volume is in them, and then `waiting` only
 * where one waits. From the rows once all are loaded, before that from the campaign's own counts: which done volumes lost
 * pages is then known of the loaded rows alone.
 */
export function segmentCounts(
  job: JobSummary,
  rows: readonly VolumeView[],
  { isAllLoaded }: { readonly isAllLoaded: boolean },
): SegmentCount[] {
  const counts = isAllLoaded ? countRows(rows) : countJob(job, rows);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const isExact = isAllLoaded || counts.get("done") === 0;
  const marks = new Map<VolumeSegment, SegmentCount["mark"]>(isExact ? [] : [["lost", "≥ "], ["done", "≤ "]]);
  const of = (segment: VolumeSegment) => segment === "all" ? all : counts.get(segment) ?? 0;
  const isLeftOut = (segment: VolumeSegment) =>
    segment === "unknown" || segment === "unfinished" || segment === "waiting" && of("unfinished") > 0;
  return VOLUME_SEGMENTS.filter((segment) => of(segment) > 0 || !isLeftOut(segment))
    .map((segment) => ({ segment, count: of(segment), mark: marks.get(segment) ?? "" }));
}

/** Whether rows that were read at several moments have the states that the campaign counts now. */
export function rowsAgree({ counts }: JobSummary, rows: readonly VolumeView[]): boolean {
  const read = countRows(rows);
  const of = (segment: VolumeSegment) => read.get(segment) ?? 0;
  return of("failed") === counts.failed && of("active") === counts.active && of("done") + of("lost") === counts.done;
}

/** Whether a segment and a text leave volumes out. */
export function isFilter(segment: VolumeSegment, text: string): boolean {
  return segment !== "all" || text.trim() !== "";
}

/** The loaded volumes, with the failed ones and the newest active one that are not loaded by their page yet. */
export function withNamedRows(volumes: readonly VolumeView[], detail: JobDetail | null): readonly VolumeView[] {
  if (!detail) return volumes;
  const isMissing = ({ index }: VolumeView) => index >= volumes.length;
  const named = new Map(
    [...detail.failures, ...(detail.latest ? [detail.latest] : [])].filter(isMissing).map((volume) => [
      volume.index,
      volume,
    ]),
  );
  return named.size === 0 ? volumes : [...volumes, ...named.values()];
}

/** Volumes in the order in which they need eyes: failed, stalled, active or not finished, with lost pages, and the others by number. */
export function inReadingOrder(volumes: readonly VolumeView[]): VolumeView[] {
  return volumes.map((volume) => ({ volume, rank: rankOf(volume) }))
    .sort((a, b) => a.rank - b.rank || a.volume.index - b.volume.index)
    .map(({ volume }) => volume);
}

/** Whether every word of a text is in a volume's name, state or sentence. Letters compare without case, composed or not. */
export function matchesVolume(volume: VolumeView, text: string): boolean {
  const words = folded(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const where = searchText(volume);
  return words.every((word) => where.includes(word));
}

const RANKS: Readonly<Partial<Record<VolumeSegment, number>>> = {
  failed: 0,
  active: 2,
  unfinished: 2,
  lost: 3,
  done: 4,
  unknown: 4,
};
const REST = 5;

function rankOf(volume: VolumeView): number {
  return volume.stalledSince === null ? RANKS[segmentOf(volume)] ?? REST : 1;
}

function countRows(rows: readonly VolumeView[]): Map<VolumeSegment, number> {
  const counts = new Map<VolumeSegment, number>();
  for (const row of rows) counts.set(segmentOf(row), (counts.get(segmentOf(row)) ?? 0) + 1);
  return counts;
}

function countJob(job: JobSummary, rows: readonly VolumeView[]): Map<VolumeSegment, number> {
  const { counts, jobGone } = job;
  const read = countRows(rows);
  // A record that counts more failures than it names does not say of any other volume how it ended.
  const done = jobGone && (read.get("unknown") ?? 0) > 0 ? 0 : counts.done;
  const lost = Math.min(read.get("lost") ?? 0, done);
  const rest = Math.max(0, counts.total - done - counts.failed - counts.active);
  return new Map<VolumeSegment, number>([
    ["failed", counts.failed],
    ["active", counts.active],
    ["lost", lost],
    ["done", done - lost],
    [jobGone ? "unknown" : job.ending || isSettled(job) ? "unfinished" : "waiting", rest],
  ]);
}

/** A row is searched with each letter that is typed, and its sentence takes a while to build. */
const searchTexts = new WeakMap<VolumeView, string>();

function searchText(volume: VolumeView): string {
  let text = searchTexts.get(volume);
  if (text === undefined) {
    text = folded(`${volume.id} ${volumeChip(volume).text} ${volumeSentence(volume, null).text}`);
    searchTexts.set(volume, text);
  }
  return text;
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
