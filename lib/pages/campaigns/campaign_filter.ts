import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { type Band, bandOf, BANDS, isAtGate, isInTrouble, isWaiting, lacksWarmup } from "./campaign_state.ts";

/** Returns whether every word is in the text of an item. Letters compare without case, composed or not. */
export function textFilter<Item extends object>(textOf: (item: Item) => string) {
  // A list is searched with each letter that is typed, and folding a thousand texts takes longer than a key press may.
  const known = new WeakMap<Item, string>();
  return (item: Item, words: string): boolean => {
    if (lastWords.text !== words) lastWords = { text: words, words: folded(words).split(/\s+/).filter(Boolean) };
    if (lastWords.words.length === 0) return true;
    let text = known.get(item);
    if (text === undefined) known.set(item, text = folded(textOf(item)));
    return lastWords.words.every((word) => text.includes(word));
  };
}

let lastWords: { readonly text: string; readonly words: readonly string[] } = { text: "", words: [] };

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** The segments of the list's filter: every campaign is in exactly one besides `all`. */
export const SEGMENTS = ["all", "trouble", "running", "waiting", "finished"] as const;
type Segment = (typeof SEGMENTS)[number];

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

/** The campaigns of each segment that pass the rest of a filter. They add up to `all`. */
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
    hasWords(job, text);
}

const hasWords = textFilter<JobSummary>(({ namespace, name, campaign, pipeline }) =>
  `${namespace}/${name} ${campaign} ${pipeline}`
);

/** One name for a campaign in lists, storage and markup. */
export function campaignKey({ namespace, name }: Pick<JobSummary, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

/** The orders of a list. `state` is the default; `end` sorts by the estimated end, earliest first. */
export const SORTS = ["state", "newest", "name", "end"] as const;
export type Sort = (typeof SORTS)[number];

/** How a list is ordered. */
export interface Order {
  readonly sort: Sort;
  /** The estimated end of a campaign, ms since 1970; null where none is known. */
  readonly endOf: (job: JobSummary) => number | null;
}

const BY_STATE: Order = { sort: "state", endOf: () => null };

/**
 * A list in an order. The initial one, `state`: running, in trouble, finished (newest ending first, those without an ending
 * last), not started; within the other bands as they came (spec, Browser behaviour). Equal campaigns of another order stand
 * in the initial one.
 */
export function sorted<Job extends JobSummary>(jobs: readonly Job[], { sort, endOf }: Order = BY_STATE): Job[] {
  const byState = jobs.map((job) => ({ job, rank: RANKS.get(bandOf(job)) ?? 0, end: finishedMs(job) }))
    .sort((a, b) => a.rank - b.rank || descending(a.end, b.end))
    .map(({ job }) => job);
  switch (sort) {
    case "state":
      return byState;
    case "newest":
      return sortedBy(byState, (job) => Date.parse(job.createdAt ?? "") || -Infinity, descending);
    case "name":
      return sortedBy(byState, ({ name, namespace }) => `${name}\0${namespace}`, compareNames);
    case "end":
      return sortedBy(byState, (job) => endOf(job) ?? Infinity, (a, b) => descending(b, a));
  }
}

/**
 * The order after a poll: every campaign stays where the reader saw it, but a new one and one that fell into trouble
 * since take their place at once; one that is gone leaves (spec, Browser behaviour).
 *
 * @param before the list as shown, in its order
 */
export function keptOrder<Job extends JobSummary>(
  before: readonly JobSummary[],
  jobs: readonly Job[],
  order: Order = BY_STATE,
): Job[] {
  const target = sorted(jobs, order);
  const places = new Map(target.map((job, place) => [campaignKey(job), place]));
  const seen = new Map(before.map((job) => [campaignKey(job), job]));
  const stays = (job: Job) => {
    const old = seen.get(campaignKey(job));
    return old !== undefined && (isInTrouble(old) || !isInTrouble(job));
  };
  const kept = before.flatMap((old) => {
    const place = places.get(campaignKey(old));
    return place !== undefined && stays(target[place]) ? [place] : [];
  });
  const merged: Job[] = [];
  let next = 0;
  for (const [place, job] of target.entries()) {
    if (stays(job)) continue;
    while (next < kept.length && kept[next] < place) merged.push(target[kept[next++]]);
    merged.push(job);
  }
  return [...merged, ...kept.slice(next).map((place) => target[place])];
}

/** Whether a list as shown has drifted away from the order it would be sorted into. */
export function hasDrifted(shown: readonly JobSummary[], order: Order = BY_STATE): boolean {
  return sorted(shown, order).some((job, place) => job !== shown[place]);
}

const RANKS = new Map<Band, number>(BANDS.map((band, rank) => [band, rank]));

/** Digits compare as numbers: `part10` comes after `part2`. The server and every browser must agree. */
const NAMES = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compareNames(a: string, b: string): number {
  return NAMES.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

function sortedBy<Job, Key>(
  jobs: readonly Job[],
  keyOf: (job: Job) => Key,
  compare: (a: Key, b: Key) => number,
): Job[] {
  return jobs.map((job) => ({ job, key: keyOf(job) })).sort((a, b) => compare(a.key, b.key)).map(({ job }) => job);
}

/** Infinities are equal to themselves. */
function descending(a: number, b: number): number {
  return a === b ? 0 : b > a ? 1 : -1;
}

function finishedMs(job: JobSummary): number {
  if (bandOf(job) !== "finished") return 0;
  const end = Date.parse(job.finishedAt ?? "");
  return Number.isNaN(end) ? -Infinity : end;
}

/** Totals of a list. The page sends them with its first cards, since the browser does not have the other cards yet. */
export interface CampaignOverview {
  readonly campaigns: number;
  /** Campaigns of each segment that pass the rest of the filter. */
  readonly segments: Readonly<Record<Segment, number>>;
  readonly pipelines: readonly string[];
  readonly namespaces: readonly string[];
  readonly troubled: number;
  readonly running: number;
  /** Campaigns that run and are in trouble. */
  readonly runningTroubled: number;
  /** Volumes of running campaigns that are read at the moment. */
  readonly activeVolumes: number;
  /** Campaigns that run and do no work, for want of their warm-up. */
  readonly runningHeld: number;
  /** Campaigns whose Job is gone. */
  readonly reaped: number;
}

/** The overview of a list, with the counts under a filter. */
export function overviewOf(jobs: readonly JobSummary[], filter: CampaignFilter): CampaignOverview {
  const running = jobs.filter(({ phase }) => phase === "Running");
  return {
    campaigns: jobs.length,
    segments: countSegments(jobs, filter),
    pipelines: distinct(jobs.map(({ pipeline }) => pipeline)),
    namespaces: distinct(jobs.map(({ namespace }) => namespace)),
    troubled: jobs.filter(isInTrouble).length,
    running: running.length,
    runningTroubled: running.filter(isInTrouble).length,
    activeVolumes: running.reduce((sum, job) => sum + (isAtGate(job) ? 0 : job.counts.active), 0),
    runningHeld: running.filter(lacksWarmup).length,
    reaped: jobs.filter(({ jobGone }) => jobGone).length,
  };
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => name !== "").sort();
}

/** The speed of several campaigns together. */
export interface JointPace {
  /** null: not known of any. */
  readonly pagesPerMinute: number | null;
  /** When the last of them is estimated to end, ms since 1970; null: not known of any. */
  readonly endsAt: number | null;
  /** Campaigns whose speed and end are known. If fewer than `of`, there are more pages, and the end is later. */
  readonly counted: number;
  /** Campaigns that can have a speed and an end. */
  readonly of: number;
}

/**
 * The joint speed of running campaigns.
 *
 * @param details null for one that has not been read
 * @param running how many run, also those that are not in `details`
 */
export function jointPace(details: readonly (JobDetail | null)[], running: number): JointPace {
  const speeds = details.map((detail) => detail?.pace?.pagesPerMinute ?? null).filter((speed) => speed !== null);
  const ends = details.map(endMs).filter((end) => end !== null);
  return {
    pagesPerMinute: speeds.length > 0 ? speeds.reduce((sum, speed) => sum + speed, 0) : null,
    endsAt: ends.length > 0 ? Math.max(...ends) : null,
    counted: Math.min(speeds.length, ends.length, running),
    of: running,
  };
}

/** The estimated end of a campaign, ms since 1970; null where none is known. */
export function endMs(detail: JobDetail | null): number | null {
  const end = Date.parse(detail?.pace?.endsAt ?? "");
  return Number.isNaN(end) ? null : end;
}

/** Filter, order and length of the list, as its address has them. */
export interface ListAddress {
  readonly filter: CampaignFilter;
  readonly sort: Sort;
  /** Limit of campaigns without a Job in the list. */
  readonly reaped: number;
}

/** Campaigns without a Job that a list has at first, and that "show older" adds (spec, Browser behaviour). */
export const REAPED_PAGE = 20;
/** Upper limit of `reaped` (spec, Limits). */
const MAX_REAPED = 10_000;

/** Characters of a filter: an address is written by anybody. */
const MAX_TEXT = 200;

/** Reads the query of `/`: `q`, `state`, `pipeline`, `namespace`, `sort` and `reaped`. Invalid values count as absent. */
export function readListAddress(query: URLSearchParams): ListAddress {
  const text = (name: string) => (query.get(name) ?? "").slice(0, MAX_TEXT);
  const state = query.get("state");
  const sort = query.get("sort");
  return {
    filter: {
      segment: SEGMENTS.find((segment) => segment === state) ?? NO_FILTER.segment,
      text: text("q"),
      pipeline: text("pipeline"),
      namespace: text("namespace"),
    },
    sort: SORTS.find((name) => name === sort) ?? "state",
    reaped: readReaped(query.get("reaped") ?? ""),
  };
}

function readReaped(text: string): number {
  return /^\d{1,5}$/.test(text) ? Math.min(Math.max(Number(text), REAPED_PAGE), MAX_REAPED) : REAPED_PAGE;
}

/** The same list with the next older campaigns. */
export function withOlder(address: ListAddress): ListAddress {
  return { ...address, reaped: Math.min(address.reaped + REAPED_PAGE, MAX_REAPED) };
}

/** How many campaigns without a Job can be added to a list that has `held` of `total`. */
export function olderCount(total: number, held: number): number {
  return Math.max(0, Math.min(total, MAX_REAPED) - held);
}

/**
 * The path of a list with its query, which leaves defaults out.
 *
 * @param from campaigns before the first one shown, for readers without scripts
 */
export function listPath({ filter, sort, reaped }: ListAddress, from = 0): string {
  const query = new URLSearchParams();
  if (filter.text.trim() !== "") query.set("q", filter.text.trim());
  if (filter.segment !== "all") query.set("state", filter.segment);
  if (filter.pipeline !== "") query.set("pipeline", filter.pipeline);
  if (filter.namespace !== "") query.set("namespace", filter.namespace);
  if (sort !== "state") query.set("sort", sort);
  if (reaped > REAPED_PAGE) query.set("reaped", String(reaped));
  if (from > 0) query.set("from", String(from));
  return query.size > 0 ? `/?${query}` : "/";
}

/** Reads `from` of the same query: campaigns before the first one shown. */
export function readFrom(query: URLSearchParams): number {
  const from = query.get("from") ?? "";
  return /^\d{1,6}$/.test(from) ? Number(from) : 0;
}

/** Server-rendered cards; the browser adds the others. */
export const FIRST_CARDS = 50;

/** The server-rendered cards of a list, and its totals. */
export interface ListPage {
  /** In the order of the page. */
  readonly jobs: readonly JobSummary[];
  /** Campaigns of the filter before the first of them. */
  readonly from: number;
  /** Campaigns that pass the filter. */
  readonly matching: number;
  readonly overview: CampaignOverview;
}

/** The cards of a list from a place on, under the filter and in the order of an address. */
export function listPage(jobs: readonly JobSummary[], { filter, sort }: ListAddress, from: number): ListPage {
  const matching = jobs.filter((job) => matches(job, filter));
  const shown = sorted(matching, { sort, endOf: () => null });
  const start = from < shown.length ? from : 0;
  return {
    jobs: shown.slice(start, start + FIRST_CARDS),
    from: start,
    matching: shown.length,
    overview: overviewOf(jobs, filter),
  };
}
