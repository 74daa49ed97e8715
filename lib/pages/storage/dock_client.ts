import { signal } from "@preact/signals";
import { store, stored } from "@/lib/pages/browser/browser_memory_client.ts";
import type { ComponentChildren } from "preact";

/** The uploads in the dock. Functions, so that callers subscribe to the signals that they read. */
interface UploadSection {
  /** How far they are; "": there is nothing to show. */
  line(): string;
  /** Whether they wait for something that only the reader can do. */
  needsReader(): boolean;
  view(): ComponentChildren;
}

/** The uploads of the page; null on pages without. The island of the uploads sets it, that of the tasks shows it. */
export const uploadSection = signal<UploadSection | null>(null);

/** The next announcement to a screen reader: the dock has one live region for uploads and tasks. */
export const announcement = signal("");

/** Where a screen is too small for an open dock beside the rows. */
export const SMALL_SCREEN = "(max-width: 640px), (max-height: 500px)";

const KEY = "stackroom.dock";
const NAVIGATED_KEY = "stackroom.dock.led";

/** Whether the dock is folded at first: as the reader left it, on small screens always. */
export function beginsFolded(): boolean {
  return matchMedia(SMALL_SCREEN).matches || stored(KEY) === "folded";
}

export function rememberFolded(isFolded: boolean): void {
  store(KEY, isFolded ? "folded" : null);
}

/** Goes to the page of objects that a task has moved. The dock of that page shows the task's result. */
export function navigate(path: string): void {
  store(NAVIGATED_KEY, "yes", "session");
  location.assign(path);
}

/** Whether the end of a task opened this page; true once. */
export function wasNavigatedHere(): boolean {
  const wasNavigated = stored(NAVIGATED_KEY, "session") !== null;
  store(NAVIGATED_KEY, null, "session");
  return wasNavigated;
}

/**
 * Leaves room for a dock: the page's end can be scrolled above it, and what has the focus is never below it.
 *
 * @returns a function that ends that
 */
export function leaveRoom(dock: HTMLElement): () => void {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => {
    style.setProperty("--dock", `${Math.ceil(dock.getBoundingClientRect().height)}px`);
    const { activeElement } = document;
    if (!activeElement || activeElement === document.body || dock.contains(activeElement)) return;
    const [focused, covered] = [activeElement.getBoundingClientRect(), dock.getBoundingClientRect()];
    const isCovered = focused.bottom > covered.top && focused.top < covered.bottom && focused.right > covered.left &&
      focused.left < covered.right;
    if (isCovered) activeElement.scrollIntoView({ block: "nearest", behavior: "instant" });
  });
  observer.observe(dock);
  return () => {
    observer.disconnect();
    style.removeProperty("--dock");
  };
}
