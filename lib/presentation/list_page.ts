import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { matches } from "./campaign_filter.ts";
import { sorted } from "./campaign_order.ts";
import { type CampaignOverview, overviewOf } from "./campaign_overview.ts";
import type { ListAddress } from "./list_address.ts";

/** Cards that a page is sent with; the browser adds the others. */
export const FIRST_CARDS = 50;

/** The cards that a page is sent with, and what it says of the list as a whole. */
export interface ListPage {
  /** In the order of the page. */
  readonly jobs: readonly JobSummary[];
  /** Campaigns of the filter before the first of them. */
  readonly from: number;
  /** Campaigns that the filter lets through. */
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
