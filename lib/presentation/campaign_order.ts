import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { type Band, bandOf, BANDS, isInTrouble } from "./campaign_state.ts";

/** One name for a campaign in lists, storage and markup. */
export function campaignKey({ namespace, name }: Pick<JobSummary, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

/** The orders of a list. `state` is the first one; `end` begins with the campaign that is estimated to end first. */
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
