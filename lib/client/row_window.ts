import { useSignal } from "@preact/signals";
import { type RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

/** Rows of a chunk: rows come and go by chunks. */
export const CHUNK_ROWS = 25;
/** Pixels above and below the screen in which rows are drawn as well. */
const MARGIN = 500;
/** Height of a row before one was measured, pixels. */
const FIRST_ROW_HEIGHT = 42;

/** Chunks of a table, from `first` to before `last`. */
interface ChunkSpan {
  readonly first: number;
  readonly last: number;
}

/** Chunks in a row that are all drawn, or all left out. */
interface ChunkRun extends ChunkSpan {
  readonly isDrawn: boolean;
  /** Pixels that it takes where it is left out. */
  readonly height: number;
}

/** The chunks of which something lies between two heights, measured from the first chunk's top: at least one. */
export function chunksBetween(heights: readonly number[], top: number, bottom: number): ChunkSpan {
  let [first, last, y] = [-1, 0, 0];
  for (const [chunk, height] of heights.entries()) {
    const isSeen = y + height > top && y < bottom;
    y += height;
    if (!isSeen) continue;
    if (first < 0) first = chunk;
    last = chunk + 1;
  }
  if (first >= 0) return { first, last };
  const nearest = bottom <= 0 ? 0 : Math.max(0, heights.length - 1);
  return { first: nearest, last: nearest + 1 };
}

/** Splits a table into runs of chunks: drawn are those of the span, and the one that holds the focus. */
export function chunkRuns(heights: readonly number[], { first, last }: ChunkSpan, held: number | null): ChunkRun[] {
  const runs: ChunkRun[] = [];
  for (const [chunk, height] of heights.entries()) {
    const isDrawn = (chunk >= first && chunk < last) || chunk === held;
    const run = runs.at(-1);
    if (run && run.isDrawn === isDrawn) {
      runs[runs.length - 1] = { ...run, last: chunk + 1, height: run.height + height };
    } else runs.push({ first: chunk, last: chunk + 1, isDrawn, height });
  }
  return runs;
}

interface RowWindow {
  /** Of the table, whose chunks carry their number in `data-chunk`. */
  readonly table: RefObject<HTMLTableElement | null>;
  readonly runs: readonly ChunkRun[];
}

/**
 * The rows of a long table that are near the screen. Heights are measured once they are drawn, so that rows may have any.
 *
 * @param rows number of rows
 * @param of what the table shows; another one is measured again
 * @param whole everything is drawn, as for printing
 */
export function useRowWindow(rows: number, of: unknown, whole: boolean): RowWindow {
  const table = useRef<HTMLTableElement>(null);
  const measured = useMemo(() => new Map<number, number>(), [of]);
  const seen = useSignal<ChunkSpan & { readonly held: number | null }>({ first: 0, last: 1, held: null });
  const heights = heightsOf(rows, measured);

  const look = () => {
    const first = table.current?.tBodies[0];
    if (!table.current || !first) return;
    for (const body of table.current.tBodies) {
      if (body.dataset.chunk) measured.set(Number(body.dataset.chunk), body.getBoundingClientRect().height);
    }
    const { top } = first.getBoundingClientRect();
    const span = chunksBetween(heightsOf(rows, measured), -top - MARGIN, innerHeight - top + MARGIN);
    const active = document.activeElement?.closest<HTMLElement>("[data-chunk]") ?? null;
    const held = active && table.current.contains(active) ? Number(active.dataset.chunk) : null;
    const was = seen.value;
    if (was.first !== span.first || was.last !== span.last || was.held !== held) seen.value = { ...span, held };
  };

  useLayoutEffect(look);
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(look);
    };
    addEventListener("scroll", follow, { passive: true });
    addEventListener("resize", follow);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", follow);
      removeEventListener("resize", follow);
    };
  }, [rows, measured]);

  const span = whole ? { first: 0, last: heights.length } : seen.value;
  return { table, runs: chunkRuns(heights, span, seen.value.held) };
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
