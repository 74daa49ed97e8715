import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { HEIGHTS_KEY, type StoredHeights } from "@/lib/presentation/browser_memory.ts";
import { campaignKey } from "@/lib/presentation/campaign_order.ts";

type Named = Pick<JobSummary, "namespace" | "name">;

/** Open cards whose heights are stored: an older one opens without reserved space. */
const MAX_HEIGHTS = 50;

/** Whether the reader left a card open; never where the browser stores nothing. */
export function isRememberedOpen(campaign: Named): boolean {
  try {
    return localStorage.getItem(storageKey(campaign)) === "open";
  } catch {
    return false;
  }
}

export function rememberOpen(campaign: Named, open: boolean): void {
  try {
    localStorage.setItem(storageKey(campaign), open ? "open" : "closed");
  } catch {
    // The card is open for as long as the page is.
  }
}

/** Stores the heights of the open cards, px by their keys, for the next time the page is opened at this width. */
export function rememberHeights(open: ReadonlyMap<string, number>): void {
  const stored: StoredHeights = {
    width: innerWidth,
    heights: Object.fromEntries([...open].slice(0, MAX_HEIGHTS)),
  };
  try {
    if (open.size > 0) localStorage.setItem(HEIGHTS_KEY, JSON.stringify(stored));
    else localStorage.removeItem(HEIGHTS_KEY);
  } catch {
    // The cards open without reserved space.
  }
}

/** The key and the values that earlier front ends of this site have stored in the reader's browser. */
function storageKey(campaign: Named): string {
  return `htrflow.card.${campaignKey(campaign)}`;
}
