import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

/** px of a card that has not been measured: a folded one with its margin. */
const USUAL_HEIGHT = 84;
/** Lists up to this length are rendered as a whole, so that the browser's own search finds every card. */
const MAX_WHOLE = 30;
/** px between two recomputations while the page scrolls. */
const SCROLL_STEP = 200;

/** The visible part of a list, px from its top. */
export interface Sight {
  readonly top: number;
  readonly bottom: number;
}

/** Items in a row that are all rendered, or all left out, from `first` to before `end`. */
interface Run {
  readonly first: number;
  readonly end: number;
  readonly isShown: boolean;
  /** px */
  readonly height: number;
}

/**
 * Splits a long list into runs: rendered are the items near the visible part and those that must stay, such as the focused
 * one. If the visible part is outside the list, its nearest end counts as visible.
 *
 * @param heights of all items, px
 * @param sight the visible part; null: not known yet, so that all items are rendered
 * @param margin px above and below it within which items are rendered as well
 */
export function runsOf(
  heights: readonly number[],
  sight: Sight | null,
  margin: number,
  stays: ReadonlySet<number>,
): readonly Run[] {
  const screen = sight ? Math.max(sight.bottom - sight.top, 1) : 0;
  const total = heights.reduce((sum, height) => sum + height, 0);
  const top = sight ? Math.max(1 - screen, Math.min(sight.top, Math.max(0, total - screen))) : 0;
  const runs: Run[] = [];
  let bottom = 0;
  for (const [item, height] of heights.entries()) {
    bottom += height;
    const isNear = bottom > top - margin && bottom - height < top + screen + margin;
    const isShown = sight === null || isNear || stays.has(item);
    const last = runs.at(-1);
    if (last?.isShown === isShown) {
      runs[runs.length - 1] = { ...last, end: item + 1, height: last.height + height };
    } else runs.push({ first: item, end: item + 1, isShown, height });
  }
  return runs;
}

/** The part of a list that is on the screen, in steps, so that scrolling by a few px changes nothing. */
export function sightOf(list: Pick<Element, "getBoundingClientRect">): Sight {
  const { top } = list.getBoundingClientRect();
  const bottom = innerHeight - top;
  return { top: Math.floor(-top / SCROLL_STEP) * SCROLL_STEP, bottom: Math.ceil(bottom / SCROLL_STEP) * SCROLL_STEP };
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

/** An entry of the rendered list: a card, or one empty space for each run of cards that are left out. */
export type ListEntry =
  | { readonly kind: "card"; readonly index: number }
  /** `before` is the index of the card after it. */
  | { readonly kind: "space"; readonly before: number; readonly height: number };

interface ListSight {
  /** null: not known yet, so that all cards are rendered. */
  readonly sight: Sight | null;
  readonly stays: ReadonlySet<number>;
  /** Cards after the last one that are not known yet. */
  readonly unread?: number;
}

/**
 * The entries of the list of cards. The document has as many nodes for ten thousand campaigns as for fifty.
 *
 * @param keys the keys of all cards in order
 */
export function listEntries(
  keys: readonly string[],
  heights: CardHeights,
  { sight, stays, unread = 0 }: ListSight,
): ListEntry[] {
  const seen = keys.length <= MAX_WHOLE ? null : sight;
  const runs = runsOf(keys.map((key) => heights.of(key)), seen, seen ? seen.bottom - seen.top : 0, stays);
  const rest = { first: keys.length, end: keys.length, isShown: false, height: unread * heights.of("") };
  const last = runs.at(-1);
  const all = last?.isShown === false
    ? [...runs.slice(0, -1), { ...last, height: last.height + rest.height }]
    : [...runs, rest];
  return all.flatMap(({ first, end, isShown, height }): ListEntry[] => {
    if (isShown) return Array.from({ length: end - first }, (_, at) => ({ kind: "card", index: first + at }));
    return height > 0 ? [{ kind: "space", before: end, height }] : [];
  });
}

/** Rows of a chunk: rows come and go by chunks. */
export const CHUNK_ROWS = 25;
/** Pixels above and below the screen in which rows are drawn as well. */
const MARGIN = 500;
/** Height of a row before one was measured, pixels. */
const FIRST_ROW_HEIGHT = 42;

/**
 * The rows of a long table that are near the screen. Heights are measured once they are drawn, so that rows may have any.
 *
 * @param rows number of rows
 * @param of what the table shows; another one is measured again
 * @param whole everything is drawn, as for printing
 * @returns a reference for the table, whose chunks have their number in `data-chunk`, and runs of chunks
 */
export function useRowWindow(rows: number, of: unknown, whole: boolean) {
  const table = useRef<HTMLTableElement>(null);
  const measured = useMemo(() => new Map<number, number>(), [of]);
  const sight = useSignal<Sight>({ top: 0, bottom: 0 });
  const held = useSignal<number | null>(null);
  const heights = heightsOf(rows, measured);

  const look = () => {
    const first = table.current?.tBodies[0];
    if (!table.current || !first) return;
    for (const body of table.current.tBodies) {
      if (body.dataset.chunk) measured.set(Number(body.dataset.chunk), body.getBoundingClientRect().height);
    }
    const seen = sightOf(first);
    const active = document.activeElement?.closest<HTMLElement>("[data-chunk]") ?? null;
    if (sight.value.top !== seen.top || sight.value.bottom !== seen.bottom) sight.value = seen;
    held.value = active && table.current.contains(active) ? Number(active.dataset.chunk) : null;
  };

  useLayoutEffect(look);
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(look);
    };
    const listening = new AbortController();
    addEventListener("scroll", follow, { passive: true, signal: listening.signal });
    addEventListener("resize", follow, listening);
    return () => {
      cancelAnimationFrame(frame);
      listening.abort();
    };
  }, [rows, measured]);

  const stays = new Set(held.value === null ? [] : [held.value]);
  return { table, runs: runsOf(heights, whole ? null : sight.value, MARGIN, stays) };
}

function heightsOf(rows: number, measured: ReadonlyMap<number, number>): number[] {
  const chunks = Math.ceil(rows / CHUNK_ROWS);
  const known = [...measured].filter(([chunk]) => (chunk + 1) * CHUNK_ROWS <= rows).map(([, height]) => height);
  const row = known.length === 0
    ? FIRST_ROW_HEIGHT
    : known.reduce((sum, height) => sum + height, 0) / known.length / CHUNK_ROWS;
  return Array.from(
    { length: chunks },
    (_, chunk) => measured.get(chunk) ?? row * Math.min(CHUNK_ROWS, rows - chunk * CHUNK_ROWS),
  );
}
