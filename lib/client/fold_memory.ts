import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { campaignKey } from "@/lib/presentation/campaign_order.ts";

type Named = Pick<JobSummary, "namespace" | "name">;

/** Whether the reader left a card open; never where the browser keeps nothing. */
export function isRememberedOpen(campaign: Named): boolean {
  try {
    return localStorage.getItem(storageKey(campaign)) === "open";
  } catch {
    return false;
  }
}

export function rememberOpen(campaign: Named, open: boolean): void {
  try {
    if (open) localStorage.setItem(storageKey(campaign), "open");
    else localStorage.removeItem(storageKey(campaign));
  } catch {
    // The card is open for as long as the page is.
  }
}

function storageKey(campaign: Named): string {
  return `stackroom.card.${campaignKey(campaign)}`;
}
