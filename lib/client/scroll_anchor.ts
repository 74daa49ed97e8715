/** Holds the card under the reader's hand in its place on the screen while others move around it. */
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

  /** After the cards have moved: scrolls by as much as the card did, and gives the focus back if the move took it. */
  restore(): void {
    if (!this.card.isConnected) return;
    if (this.focused instanceof HTMLElement && document.activeElement !== this.focused) {
      this.focused.focus({ preventScroll: true });
    }
    scrollBy({ top: this.card.getBoundingClientRect().top - this.top, behavior: "instant" });
  }
}
