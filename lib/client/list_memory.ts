import { VOLUME_SEGMENTS, type VolumeSegment } from "@/lib/presentation/volume_rows.ts";

/** How a reader looked at an open card. */
export interface StoredView {
  readonly segment: VolumeSegment;
  readonly text: string;
  readonly isExpanded: boolean;
  readonly hasAllProblems: boolean;
  readonly hasPipeline: boolean;
  /** Volumes that were loaded. */
  readonly rows: number;
}

/** A card that was on screen. */
export interface ListPlace {
  readonly key: string;
  /** How far below the screen's top it began, px. */
  readonly top: number;
  /** Where the link of it leads that had the focus, `""` for another control; null: nothing in it had the focus. */
  readonly focus: string | null;
}

/** What a reader had of the list when they left it. */
interface ListMemory {
  /** The most campaigns without a Job that the list held. */
  readonly reaped: number;
  /** The open cards by their keys. */
  readonly views: ReadonlyMap<string, StoredView>;
  readonly place: ListPlace | null;
}

const KEY = "stackroom.list";
/** The pages that a card leads to, and the login, which a list leads to when the session ends. */
const PAGES_OF_A_CARD: readonly string[] = ["/log", "/alto", "/uv.html", "/login"];

/** Stores what the reader has for the time that they come back, as long as the tab is open. */
export function storeList({ reaped, views, place }: ListMemory): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ reaped, views: [...views], place }));
  } catch {
    // The list begins as on a first visit.
  }
}

/** What was stored last in this tab; null: nothing that can be read. */
export function storedList(): ListMemory | null {
  try {
    const { reaped, views, place } = JSON.parse(sessionStorage.getItem(KEY) ?? "");
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
