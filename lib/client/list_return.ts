import { signal } from "@preact/signals";

import type { ListPlace } from "./list_memory.ts";

/** What a reader does who looks for a place of their own. */
const OWN_MOVES = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/**
 * Scrolls a list to a place of it: as soon as the place's card is in the document, and again while heights change, until
 * {@link end} or until the reader moves.
 */
export class ListReturn {
  /** null: the reader is where they want to be. */
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
