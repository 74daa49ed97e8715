import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { type Band, bandOf, BANDS, isInTrouble } from "./campaign_state.ts";

/** One name for a campaign in lists, storage and markup. */
export function campaignKey({ namespace, name }: Pick<JobSummary, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

/**
 * The initial order of a list: running, in trouble, finished (newest ending first, those without an ending last), not
 * started; within the other bands as they came (spec, Browser behaviour).
 */
export function sorted<Job extends JobSummary>(jobs: readonly Job[]): Job[] {
  const ranks = new Map<Band, number>(BANDS.map((band, rank) => [band, rank]));
  return jobs.map((job) => ({ job, rank: ranks.get(bandOf(job)) ?? 0, end: endOf(job) }))
    .sort((a, b) => a.rank - b.rank || (a.end === b.end ? 0 : b.end > a.end ? 1 : -1))
    .map(({ job }) => job);
}

/**
 * The order after a poll: every campaign stays where the reader saw it, but a new one and one that fell into trouble
 * since take their place at once; one that is gone leaves (spec, Browser behaviour).
 *
 * @param before the list as shown, in its order
 */
export function keptOrder<Job extends JobSummary>(before: readonly JobSummary[], jobs: readonly Job[]): Job[] {
  const target = sorted(jobs);
  const places = new Map(target.map((job, place) => [campaignKey(job), place]));
  const seen = new Map(before.map((job) => [campaignKey(job), job]));
  const stays = (job: Job) => {
    const old = seen.get(campaignKey(job));
    return old !== undefined && (isInTrouble(old) || !isInTrouble(job));
  };
  const kept = before.flatMap((old) => {
    const place = places.get(campaignKey(old));
    return place !== undefined && stays(target[place]) ? [target[place]] : [];
  });
  for (const [place, job] of target.entries()) {
    if (stays(job)) continue;
    const next = kept.findIndex((other) => (places.get(campaignKey(other)) ?? 0) > place);
    kept.splice(next < 0 ? kept.length : next, 0, job);
  }
  return kept;
}

/** Whether a list as shown has drifted away from the order it would be sorted into. */
export function hasDrifted(shown: readonly JobSummary[]): boolean {
  return sorted(shown).some((job, place) => job !== shown[place]);
}

function endOf(job: JobSummary): number {
  if (bandOf(job) !== "finished") return 0;
  const end = Date.parse(job.finishedAt ?? "");
  return Number.isNaN(end) ? -Infinity : end;
}
