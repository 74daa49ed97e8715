import type { ListPlace } from "./list_memory.ts";

// The list in the document: each card stands in a place, which carries its key.

/** The key of the card that an element is in. */
export function keyAt(target: EventTarget | null): string | null {
  return target instanceof Element ? target.closest<HTMLElement>(".place")?.dataset.key ?? null : null;
}

/** The place of a card; null where it is not in the document. */
export function placeOf(list: HTMLElement | null, key: string): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`.place[data-key="${CSS.escape(key)}"]`) ?? null;
}

/** The place of the first card that is not above the screen; null where the reader is at the top of the page. */
export function topPlace(list: HTMLElement | null): ListPlace | null {
  if (scrollY === 0) return null;
  const first = placesOf(list).find((place) => place.getBoundingClientRect().bottom > barBottom());
  return first?.dataset.key ? { key: first.dataset.key, top: first.getBoundingClientRect().top, focus: null } : null;
}

/** The place of the card with the focus; null where it has left the screen, or no card has the focus. */
export function focusedPlace(list: HTMLElement | null): ListPlace | null {
  const { activeElement } = document;
  const place = list?.contains(activeElement) ? activeElement?.closest<HTMLElement>(".place") : null;
  const { top = 0, bottom = 0 } = activeElement?.getBoundingClientRect() ?? {};
  if (!place?.dataset.key || bottom < barBottom() || top > innerHeight) return null;
  return { key: place.dataset.key, top: place.getBoundingClientRect().top, focus: addressOf(activeElement) };
}

/**
 * Gives the focus back to a link of a card, unless something else has it.
 *
 * @param focus as in {@link ListPlace}
 * @param isLast whether the card's own control gets it where the link is not in the document
 * @returns whether there is nothing left to do
 */
export function returnFocus(place: HTMLElement | null, focus: string | null, isLast: boolean): boolean {
  if (focus === null || document.activeElement !== document.body) return true;
  const link = focus === "" ? null : [...place?.querySelectorAll("a") ?? []].find((link) => addressOf(link) === focus);
  const target = link ?? (focus === "" || isLast ? place?.querySelector<HTMLElement>(".fold") : null);
  target?.focus({ preventScroll: true });
  return Boolean(target);
}

/** Where a link leads: the same of a run log while it is written and after. */
function addressOf(element: Element | null): string {
  return element?.getAttribute("href")?.replace("&live=1", "") ?? "";
}

/** The key of the first card whose beginning is not above the screen or below the page's bar. */
export function firstOnScreen(list: HTMLElement | null): string | undefined {
  const places = placesOf(list);
  return (places.find((place) => place.getBoundingClientRect().top >= barBottom() - 1) ?? places.at(-1))?.dataset.key;
}

function placesOf(list: HTMLElement | null): HTMLElement[] {
  return [...list?.querySelectorAll<HTMLElement>(".place") ?? []];
}

/** The lower edge of the page's bar, px from the top of the screen. */
export function barBottom(): number {
  return document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
}
