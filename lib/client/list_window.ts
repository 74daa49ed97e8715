/** px of a card that has not been measured: a folded one with its margin. */
const USUAL_HEIGHT = 84;
/** Lists up to this length are rendered as a whole, so that the browser's own search finds every card. */
const MAX_WHOLE = 30;
/** px between two recomputations while the page scrolls. */
const SCROLL_STEP = 200;

/** What a list renders: cards, and one empty space for each row of cards that are left out. */
export type ListEntry =
  | { readonly kind: "card"; readonly index: number }
  /** `before` is the index of the card after it. */
  | { readonly kind: "space"; readonly before: number; readonly height: number };

/** What is seen of a list, px from its top. */
export interface Sight {
  readonly top: number;
  readonly bottom: number;
}

/** The sight in steps, so that scrolling by a few px changes nothing. */
export function steppedSight({ top, bottom }: Sight): Sight {
  return { top: Math.floor(top / SCROLL_STEP) * SCROLL_STEP, bottom: Math.ceil(bottom / SCROLL_STEP) * SCROLL_STEP };
}

/** Folded cards that tell the height of those that have not been measured. */
const MEASURED_CARDS = 20;

/**
 * Heights of cards by their keys, px with their margins. A card that was never measured counts as the mean of the first
 * folded ones: an estimate that went on changing would move a thousand cards.
 */
export class CardHeights {
  readonly #measured = new Map<string, number>();
  #folded = { count: 0, sum: 0 };

  /** @returns whether it is news */
  set(key: string, height: number, isFolded: boolean): boolean {
    const before = this.#measured.get(key);
    if (before === height) return false;
    this.#measured.set(key, height);
    const { count, sum } = this.#folded;
    if (isFolded && before === undefined && count < MEASURED_CARDS) {
      this.#folded = { count: count + 1, sum: sum + height };
    }
    return true;
  }

  of(key: string): number {
    const { count, sum } = this.#folded;
    return this.#measured.get(key) ?? (count > 0 ? Math.round(sum / count) : USUAL_HEIGHT);
  }

  /** Forgets all: the page has another width. */
  clear(): void {
    this.#measured.clear();
    this.#folded = { count: 0, sum: 0 };
  }
}

/**
 * The entries of a list that is mostly out of sight: the cards near what is seen and those that must stay, such as the one
 * with the focus. The document has as many nodes for ten thousand campaigns as for fifty.
 *
 * @param keys the keys of all cards in order
 * @param sight null: not known yet, so that all cards are rendered
 * @param spare screens above and below the visible one whose cards are rendered
 * @param unread cards after the last one that are not known yet
 */
export function listEntries(
  keys: readonly string[],
  heights: CardHeights,
  { sight, spare = 1, stays, unread = 0 }: {
    readonly sight: Sight | null;
    readonly spare?: number;
    readonly stays: ReadonlySet<number>;
    readonly unread?: number;
  },
): ListEntry[] {
  const isWhole = keys.length <= MAX_WHOLE;
  const near = isWhole || sight === null ? null : nearby(sight, spare, totalHeight(keys, heights));
  const entries: ListEntry[] = [];
  let bottom = 0;
  let space = 0;
  for (const [index, key] of keys.entries()) {
    const top = bottom;
    bottom += heights.of(key);
    if (near === null || stays.has(index) || (bottom > near.top && top < near.bottom)) {
      if (space > 0) entries.push({ kind: "space", before: index, height: space });
      space = 0;
      entries.push({ kind: "card", index });
    } else space += bottom - top;
  }
  space += unread * heights.of("");
  if (space > 0) entries.push({ kind: "space", before: keys.length, height: space });
  return entries;
}

/** What is seen and the spare screens around it. A list that became shorter than the place is seen from its end. */
function nearby({ top, bottom }: Sight, spare: number, total: number): Sight {
  const screen = Math.max(bottom - top, 1);
  const seen = Math.min(top, Math.max(0, total - screen));
  return { top: seen - screen * spare, bottom: seen + screen * (1 + spare) };
}

function totalHeight(keys: readonly string[], heights: CardHeights): number {
  return keys.reduce((sum, key) => sum + heights.of(key), 0);
}
