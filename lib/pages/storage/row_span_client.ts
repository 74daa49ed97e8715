import { useSignal } from "@preact/signals";
import { type RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** Rows above and below the screen that are drawn as well. */
const SPARE_ROWS = 25;
/** The drawn rows change by steps, so that scrolling by a row draws nothing. */
const STEP = 20;

/** Rows that are drawn, from `first` to before `last`, and the height of each, px. */
interface RowSpan {
  readonly first: number;
  readonly last: number;
  readonly height: number;
}

interface RowWindow {
  /** The body of the rows, which are all of one height. */
  readonly body: RefObject<HTMLTableSectionElement | null>;
  /** Null: all rows are drawn, as the server draws them. */
  readonly span: RowSpan | null;
  /** Scrolls until a row is on the screen. */
  bringIn(index: number): void;
}

/** The rows of a span of a list whose top is `top` px below that of the screen. */
function rowsOnScreen(top: number, screen: number, height: number, rows: number): Omit<RowSpan, "height"> {
  const first = Math.floor(-top / height) - SPARE_ROWS;
  const last = Math.ceil((screen - top) / height) + SPARE_ROWS;
  const within = (row: number) => Math.min(rows, Math.max(0, row));
  return { first: within(Math.floor(first / STEP) * STEP), last: within(Math.ceil(last / STEP) * STEP) };
}

/**
 * The rows of a list that are near the screen, where all rows have one height.
 *
 * @param rows number of rows
 * @param onSeen called with the row after the last one that is drawn
 */
export function useRowSpan(rows: number, onSeen: (last: number) => void): RowWindow {
  const body = useRef<HTMLTableSectionElement>(null);
  const span = useSignal<RowSpan | null>(null);

  const look = () => {
    if (!body.current) return;
    // None is drawn where the list became shorter than where it was seen.
    const height = body.current.querySelector("[data-row]")?.getBoundingClientRect().height ?? span.peek()?.height;
    if (!height) return;
    const next = rowsOnScreen(body.current.getBoundingClientRect().top, innerHeight, height, rows);
    const was = span.peek();
    if (was?.first !== next.first || was.last !== next.last || was.height !== height) span.value = { ...next, height };
    onSeen(next.last);
  };
  const current = useRef(look);
  current.current = look;

  useLayoutEffect(look, [rows]);
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => current.current());
    };
    const print = () => span.value = null;
    const listeners = [["scroll", follow], ["resize", follow], ["beforeprint", print], ["afterprint", follow]] as const;
    for (const [type, call] of listeners) addEventListener(type, call, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      for (const [type, call] of listeners) removeEventListener(type, call);
    };
  }, []);

  return {
    body,
    span: span.value,
    bringIn(index) {
      const height = span.peek()?.height;
      if (!body.current || height === undefined) return;
      const top = body.current.getBoundingClientRect().top + index * height;
      const [above, below] = [uncoveredTop(body.current), uncoveredBottom() - height];
      if (top < above) scrollBy({ top: top - above, behavior: "instant" });
      else if (top > below) scrollBy({ top: top - below, behavior: "instant" });
      look();
    },
  };
}

/** Bottom of the sticky head above the rows, px from the top of the screen. */
export function uncoveredTop(body: HTMLElement | null): number {
  // The cells of the head are sticky, not the head itself.
  return body?.closest("table")?.tHead?.querySelector("th")?.getBoundingClientRect().bottom ?? 0;
}

/** Top of the dock that covers rows, px from the top of the screen. */
function uncoveredBottom(): number {
  return document.querySelector("[data-dock]")?.getBoundingClientRect().top ?? innerHeight;
}
