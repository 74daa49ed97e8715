import { signal } from "@preact/signals";

import { type ListAddress, listPath, readListAddress } from "./campaign_filter.ts";
import type { ListPlace } from "./list_memory_client.ts";

// Each card of the list is in an element of class `place`, which has the card's key.

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

/** The key of the first card whose top edge is on the screen, below the page's bar. */
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

/** Events by which a reader takes over the scrolling. */
const OWN_MOVES = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/**
 * Scrolls a list to a place of it: as soon as the place's card is in the document, and again while heights change, until
 * {@link end} or until the reader moves.
 */
export class ListReturn {
  /** The place to scroll to; null: none. */
  readonly place = signal<ListPlace | null>(null);
  #end = new AbortController();

  begin(place: ListPlace): void {
    this.end();
    const { signal } = this.#end = new AbortController();
    for (const type of OWN_MOVES) addEventListener(type, () => this.end(), { passive: true, signal });
    this.place.value = place;
  }

  /** @param card the element of the place's card; null where it is not in the document */
  scroll(card: Element | null): void {
    const place = this.place.peek();
    if (card && place) scrollBy({ top: card.getBoundingClientRect().top - place.top, behavior: "instant" });
  }

  end(): void {
    this.#end.abort();
    this.place.value = null;
  }
}

/** Keeps the card with the focus or the pointer at its position on the screen while others move around it. */
export class ScrollAnchor {
  private constructor(
    private readonly card: Element,
    private readonly top: number,
    private readonly focused: Element | null,
  ) {}

  /** The card that has the focus or the pointer; null when neither is on a card. */
  static take(): ScrollAnchor | null {
    const active = document.activeElement;
    const focused = active?.closest(".card") ?? null;
    const card = focused ?? document.querySelector(".card:hover");
    return card ? new ScrollAnchor(card, card.getBoundingClientRect().top, focused && active) : null;
  }

  /** Call after the cards have moved: scrolls by as much as the card moved, and restores its focus. */
  restore(): void {
    if (!this.card.isConnected) return;
    if (this.focused instanceof HTMLElement && document.activeElement !== this.focused) {
      this.focused.focus({ preventScroll: true });
    }
    scrollBy({ top: this.card.getBoundingClientRect().top - this.top, behavior: "instant" });
  }
}

/** Debounce of a typed text in the address, ms: browsers limit how often the address may change. */
const TYPING_MS = 300;

/** The filter and the order of the list in the address of the page, so that back, reload and a shared link show the same. */
export class ListHistory {
  readonly #onBack: (address: ListAddress) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** All changes of a text while it is typed are one history entry. */
  #isTyping = false;

  /** @param onBack called with the address when the reader goes back or forward */
  constructor(onBack: (address: ListAddress) => void) {
    this.#onBack = onBack;
  }

  /** Follows the history. @returns a function that stops it */
  start(): () => void {
    const back = () => {
      clearTimeout(this.#timer);
      this.#isTyping = false;
      this.#onBack(readListAddress(new URLSearchParams(location.search)));
    };
    addEventListener("popstate", back);
    return () => {
      clearTimeout(this.#timer);
      removeEventListener("popstate", back);
    };
  }

  /** Writes the address: a text when typing stops, anything else at once. */
  write(address: ListAddress, isText: boolean): void {
    clearTimeout(this.#timer);
    if (isText) this.#timer = setTimeout(() => this.#write(address, true), TYPING_MS);
    else this.#write(address, false);
  }

  /** Replaces the address without a new history entry, since going back does not shorten the list. */
  replace(address: ListAddress): void {
    clearTimeout(this.#timer);
    history.replaceState(null, "", listPath(address));
  }

  #write(address: ListAddress, isText: boolean): void {
    const path = listPath(address);
    if (path === location.pathname + location.search) return;
    if (isText && this.#isTyping) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.#isTyping = isText;
  }
}
