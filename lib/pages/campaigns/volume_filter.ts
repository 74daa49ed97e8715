import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { csvField } from "@/lib/std/text.ts";
import * as en from "@/locales/en/campaigns.ts";
import * as sv from "@/locales/sv/campaigns.ts";
import { textFilter } from "./campaign_filter.ts";
import { containerWords, type FailureWords, failureWords, PROBLEMS, stageWords } from "./campaign_problems.ts";
import { type Chip, isSettled } from "./campaign_state.ts";
import { formatAge, formatSpan } from "@/lib/pages/moments.ts";

/** The filter of a card's volumes. Each volume is in exactly one segment beside `all`, so that they add up. */
export const VOLUME_SEGMENTS = ["all", "failed", "active", "lost", "done", "waiting", "unfinished", "unknown"] as const;
export type VolumeSegment = (typeof VOLUME_SEGMENTS)[number];

/** The number of volumes in a segment. */
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
export function isFilter({ segment, text }: { readonly segment: VolumeSegment; readonly text: string }): boolean {
  return segment !== "all" || text.trim() !== "";
}

/** The loaded volumes, with the failed ones and the newest active one that are not loaded by their page yet. */
export function withNamedRows(volumes: readonly VolumeView[], detail: JobDetail | null): readonly VolumeView[] {
  if (!detail) return volumes;
  const named = [...detail.failures, ...(detail.latest ? [detail.latest] : [])];
  const missing = new Map(named.filter(({ index }) => index >= volumes.length).map((volume) => [volume.index, volume]));
  return missing.size === 0 ? volumes : [...volumes, ...missing.values()];
}

/** Volumes by how much they need attention: failed, stalled, active or not finished, with lost pages; else by number. */
export function inReadingOrder(volumes: readonly VolumeView[]): VolumeView[] {
  return volumes.map((volume) => ({ volume, rank: rankOf(volume) }))
    .sort((a, b) => a.rank - b.rank || a.volume.index - b.volume.index)
    .map(({ volume }) => volume);
}

/** Whether all words are in a volume's name, state and sentence. */
export const volumeHasWords = textFilter<VolumeView>((volume) =>
  `${volume.id} ${volumeChip(volume).text} ${volumeSentence(volume, null).text}`
);

const STALLED_RANK = 1;
const RANKS = { failed: 0, active: 2, unfinished: 2, lost: 3, done: 4, unknown: 4, waiting: 5, all: 5 } as const;
function rankOf(volume: VolumeView): number {
  return volume.stalledSince === null ? RANKS[segmentOf(volume)] : STALLED_RANK;
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

const VOLUME_CHIPS = inLanguage({ en: en.VOLUME_CHIPS, sv: sv.VOLUME_CHIPS });

/**
 * A volume's current activity and its age, the reason of its failure, its last lost page, or that access is denied; "" if
 * there is nothing to say.
 *
 * @param now ms since 1970; null: without ages, for a text that is read later
 */
export function volumeSentence(volume: VolumeView, now: number | null): FailureWords {
  const { state, reason, progress } = volume;
  if (volume.forbidden) return { text: PROBLEMS.forbidden, raw: null };
  if (state === "failed") return failureWords(reason, true);
  if (state === "active") return activity(volume, now);
  if (volume.final) return reason ? failureWords(reason, true) : { text: PROBLEMS.notFinished, raw: null };
  const age = ageAt(volume, now);
  const ended = state === "done" && age !== null ? PROBLEMS.ended(formatAge(age)) : "";
  if (state === "done" && progress?.lastError) {
    const { page, error } = progress.lastError;
    const lost = PROBLEMS.pageLost(page, error.replace(/\s+/g, " ").trim());
    return { text: ended ? `${lost} · ${ended.toLowerCase()}` : lost, raw: null };
  }
  return { text: state === "unknown" ? PROBLEMS.endUnknown : ended, raw: null };
}

/**
 * The manifest that a volume's name opens: the published one as soon as there is one, before that its source's; null
 * where neither exists or the account may not read the volume (spec, Browser behaviour).
 */
export function volumeManifest({ forbidden, state, progress, iiifUrl, sourceUrl }: VolumeView): string | null {
  if (forbidden) return null;
  return state === "done" || progress?.viewerPublished ? iiifUrl : sourceUrl;
}

/** A volume's state as a word in its colour. */
export function volumeChip(volume: VolumeView): Chip {
  switch (volume.state) {
    case "active":
      return volume.stalledSince === null
        ? { text: VOLUME_CHIPS.active, tone: "run", live: true }
        : { text: VOLUME_CHIPS.stalled, tone: "warn", title: VOLUME_CHIPS.stalledTitle };
    case "done": {
      const lost = volume.progress?.failed ?? 0;
      return lost > 0
        ? { text: VOLUME_CHIPS.doneWithLost(lost), tone: "warn" }
        : { text: VOLUME_CHIPS.done, tone: "done" };
    }
    case "failed":
      return { text: VOLUME_CHIPS.failed, tone: "bad" };
    case "pending":
      return { text: volume.final ? VOLUME_CHIPS.unfinished : VOLUME_CHIPS.waiting, tone: "idle" };
    case "unknown":
      return { text: VOLUME_CHIPS.unknown, tone: "idle" };
  }
}

function activity(volume: VolumeView, now: number | null): FailureWords {
  const { reason, progress, stalledSince, containerWaiting } = volume;
  const isFinal = volume.final === true;
  if (reason) return failureWords(reason, isFinal);
  if (containerWaiting) return containerWords(containerWaiting, isFinal);
  const age = ageAt(volume, now);
  const words = stageWords(progress?.stage ?? null);
  if (stalledSince !== null && (age !== null || now === null)) {
    return { text: PROBLEMS.stalled(age === null ? null : formatSpan(age), words || null), raw: null };
  }
  const capital = words.charAt(0).toUpperCase() + words.slice(1);
  return { text: [capital, age === null ? "" : formatAge(age)].filter(Boolean).join(" · "), raw: null };
}

/** Seconds since the last progress. Never below the age that was read: the `now` of a page moves once a minute. */
function ageAt({ progress }: VolumeView, now: number | null): number | null {
  const age = progress?.ageSeconds ?? null;
  if (age === null || now === null) return null;
  const text = progress?.updatedAt ?? "";
  // A time without a zone is UTC; an engine takes it for local time.
  const updated = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(updated) ? age : Math.max(age, (now - updated) / 1000);
}

const CSV_COLUMNS = inLanguage({ en: en.CSV_COLUMNS, sv: sv.CSV_COLUMNS });

const COLUMNS:
  readonly (readonly [name: keyof typeof CSV_COLUMNS, of: (volume: VolumeView) => string | number | null])[] = [
    ["volume", ({ id }) => id],
    ["index", ({ index }) => index],
    ["state", (volume) => volumeChip(volume).text],
    ["pagesDone", ({ progress }) => progress?.done ?? null],
    ["pages", ({ progress }) => progress?.total ?? null],
    ["pagesLost", ({ progress }) => progress?.failed ?? null],
    ["quality", ({ progress }) => progress?.quality?.mean ?? null],
    // Without an age, which would be wrong when the file is opened: `updatedAt` has the time.
    ["known", (volume) => volumeSentence(volume, null).text],
    ["reported", ({ reason, containerWaiting }) => reason?.error ?? containerWaiting?.reason ?? null],
    ["updatedAt", ({ progress }) => progress?.updatedAt ?? null],
    ["sourceManifest", ({ sourceUrl }) => sourceUrl],
    ["manifest", ({ iiifUrl }) => iiifUrl],
    ["runLog", ({ logUrl }) => logUrl],
  ];

/**
 * Volumes as CSV (RFC 4180) with a byte order mark, by which spreadsheets know that it is UTF-8.
 */
export function volumesCsv(volumes: readonly VolumeView[]): string {
  const rows = volumes.map((volume) => COLUMNS.map(([, of]) => csvField(of(volume))));
  return "\ufeff" +
    [COLUMNS.map(([name]) => csvField(CSV_COLUMNS[name])), ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** A file name for the volumes of a campaign. */
export function csvName(campaign: string, what: string): string {
  return `${campaign}-${what}.csv`.replace(/[^\p{L}\p{N}._-]+/gu, "-");
}
