import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { HEIGHTS_KEY, type StoredHeights } from "@/lib/pages/stored_names.ts";
import { campaignKey } from "./campaign_filter.ts";
import { VOLUME_SEGMENTS } from "./volume_filter.ts";
import { store, stored } from "@/lib/pages/browser/browser_memory_client.ts";
import type { StoredView } from "./card_store_client.ts";

/** A card that was on screen. */
export interface ListPlace {
  readonly key: string;
  /** How far below the screen's top it began, px. */
  readonly top: number;
  /** Where the link of it leads that had the focus, `""` for another control; null: nothing in it had the focus. */
  readonly focus: string | null;
}

/** State of the list when the reader left it. */
interface ListMemory {
  /** Limit of campaigns without a Job in the list. */
  readonly reaped: number;
  /** The open cards by their keys. */
  readonly views: ReadonlyMap<string, StoredView>;
  readonly place: ListPlace | null;
}

const KEY = "stackroom.list";
/** The pages that a card leads to, and the login, which a list leads to when the session ends. */
const PAGES_OF_A_CARD: readonly string[] = ["/log", "/alto", "/uv.html", "/login"];

/** Stores the state of the list for the reader's return, as long as the tab is open. */
export function storeList({ reaped, views, place }: ListMemory): void {
  store(KEY, JSON.stringify({ reaped, views: [...views], place }), "session");
}

/** The state that was stored last in this tab; null: none, or unreadable. */
export function storedList(): ListMemory | null {
  try {
    const { reaped, views, place } = JSON.parse(stored(KEY, "session") ?? "");
    return { reaped: Number(reaped), views: new Map(views.filter(isView)), place };
  } catch {
    return null;
  }
}

/** Whether the reader comes back to the list: by history, by a reload, or from a page that a card leads to. */
export function isReturn(): boolean {
  const [entry] = performance.getEntriesByType("navigation");
  if (entry instanceof PerformanceNavigationTiming && entry.type !== "navigate") return true;
  const referrer = URL.parse(document.referrer);
  return referrer?.origin === location.origin && PAGES_OF_A_CARD.includes(referrer.pathname);
}

/** Another release of the site may have stored other things. */
function isView(entry: [string, StoredView]): boolean {
  return VOLUME_SEGMENTS.includes(entry[1].segment) && typeof entry[1].text === "string";
}

type Named = Pick<JobSummary, "namespace" | "name">;

/** Open cards whose heights are stored: an older one opens without reserved space. */
const MAX_HEIGHTS = 50;

/** Whether the reader left a card open; never where the browser stores nothing. */
export function isRememberedOpen(campaign: Named): boolean {
  return stored(storageKey(campaign)) === "open";
}

export function rememberOpen(campaign: Named, open: boolean): void {
  store(storageKey(campaign), open ? "open" : "closed");
}

/** Stores the heights of the open cards, px by their keys, for the next time the page is opened at this width. */
export function rememberHeights(open: ReadonlyMap<string, number>): void {
  const stored: StoredHeights = {
    width: innerWidth,
    heights: Object.fromEntries([...open].slice(0, MAX_HEIGHTS)),
  };
  store(HEIGHTS_KEY, open.size > 0 ? JSON.stringify(stored) : null);
}

/** The key and the values that earlier front ends of this site have stored in the reader's browser. */
function storageKey(campaign: Named): string {
  return `htrflow.card.${campaignKey(campaign)}`;
}
