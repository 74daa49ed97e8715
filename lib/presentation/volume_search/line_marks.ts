import type { TextLine } from "@/lib/presentation/viewer_text.ts";
import { composed } from "./folding.ts";
import type { HitWord, VolumeHit } from "./volume_index.ts";

/** A part of a line's text that a search has found. */
export interface LineMark {
  /** Positions in the text of the line; `to` is behind the part. */
  readonly from: number;
  readonly to: number;
  /** Of the hit that the reader is at. */
  readonly isCurrent: boolean;
}

/** The parts of a page's lines that a search has found, by line, in order. */
export type LineMarks = ReadonlyMap<number, readonly LineMark[]>;

/**
 * Where hits are in the lines of a page.
 *
 * @param hits those of the page, in the order of its text
 */
export function lineMarks(
  lines: readonly TextLine[],
  hits: readonly VolumeHit[],
  current: VolumeHit | null,
): LineMarks {
  const marks = new Map<number, LineMark[]>();
  for (const hit of hits) {
    const isCurrent = current !== null && hit.canvas === current.canvas && hit.at === current.at;
    for (const part of hit.words) {
      const range = lines[part.line] && rangeOf(lines[part.line], part);
      if (range) add(marks, part.line, { ...range, isCurrent });
    }
  }
  return marks;
}

/** The part of a line that a word of a hit stands for; null where the line is another one. */
function rangeOf({ text, words }: TextLine, { word, from, to }: HitWord): Pick<LineMark, "from" | "to"> | null {
  const own = words[word]?.text;
  if (own === undefined) return null;
  const start = words.slice(0, word).reduce((length, { text }) => length + text.length + 1, 0);
  // Positions are those of composed letters. A word whose letters are written in parts is marked whole.
  const [first, last] = composed(own) === own ? [from, Math.min(to, own.length)] : [0, own.length];
  const end = Math.min(text.length, start + last);
  return start + first < end ? { from: start + first, to: end } : null;
}

/** Adds a mark; the words of a phrase are one with the space between them. */
function add(marks: Map<number, LineMark[]>, line: number, mark: LineMark): void {
  const all = marks.get(line) ?? [];
  const before = all.at(-1);
  if (before && before.to + 1 === mark.from && before.isCurrent === mark.isCurrent) {
    all[all.length - 1] = { ...before, to: mark.to };
  } else all.push(mark);
  marks.set(line, all);
}
