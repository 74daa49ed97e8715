/** Lines that follow each other and are in both texts, or in one of them. */
export interface LineChange {
  /** Each line with its end; the last one may have none. */
  readonly value: string;
  readonly added?: boolean;
  readonly removed?: boolean;
}

/** A line of two texts beside each other, or how many lines are left out. */
export type ComparedLine =
  | { readonly kind: "same"; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: "removed"; readonly text: string; readonly before: number; readonly after: null }
  | { readonly kind: "added"; readonly text: string; readonly before: null; readonly after: number }
  | { readonly kind: "left out"; readonly count: number };

/** Two texts, line by line. */
interface LineComparison {
  readonly lines: readonly ComparedLine[];
  readonly added: number;
  readonly removed: number;
  /** There are more changes than are listed. */
  readonly isCut: boolean;
}

/** Lines that are shown around a change. */
const CONTEXT = 3;
const MAX_LINES = 3000;

/** The changes between two texts with a few lines around each; what is equal in between is left out and counted. */
export function comparedLines(changes: readonly LineChange[]): LineComparison {
  const lines: ComparedLine[] = [];
  let [before, after, added, removed] = [1, 1, 0, 0];
  for (const [index, change] of changes.entries()) {
    const texts = linesOf(change.value);
    if (change.removed) {
      for (const text of texts) lines.push({ kind: "removed", text, before: before++, after: null });
      removed += texts.length;
    } else if (change.added) {
      for (const text of texts) lines.push({ kind: "added", text, before: null, after: after++ });
      added += texts.length;
    } else {
      const head = index === 0 ? 0 : CONTEXT;
      const tail = index === changes.length - 1 ? 0 : CONTEXT;
      const count = texts.length - head - tail;
      for (const [place, text] of texts.entries()) {
        const isShown = count <= 1 || place < head || place >= texts.length - tail;
        if (isShown) lines.push({ kind: "same", text, before, after });
        else if (place === head) lines.push({ kind: "left out", count });
        before++;
        after++;
      }
    }
  }
  return { lines: lines.slice(0, MAX_LINES), added, removed, isCut: lines.length > MAX_LINES };
}

function linesOf(value: string): string[] {
  const lines = value.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}
