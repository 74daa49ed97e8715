import { type CampaignFilter, NO_FILTER, SEGMENTS } from "./campaign_filter.ts";
import { type Sort, SORTS } from "./campaign_order.ts";

/** What the address of the list says of it: which campaigns, in which order. */
export interface ListAddress {
  readonly filter: CampaignFilter;
  readonly sort: Sort;
  /** The most campaigns without a Job that the list holds. */
  readonly reaped: number;
}

/** Campaigns without a Job that a list holds at first, and that "show older" adds (spec, Browser behaviour). */
export const REAPED_PAGE = 20;
/** The most that it may hold (spec, Limits). */
const MAX_REAPED = 10_000;

/** Characters of a filter: an address is written by anybody. */
const MAX_TEXT = 200;

/** Reads the query of `/`: `q`, `state`, `pipeline`, `namespace`, `sort` and `reaped`. What it cannot read is left at its default. */
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

/** How many campaigns without a Job are left out of a list that holds `held` of `total`, and can be shown. */
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
