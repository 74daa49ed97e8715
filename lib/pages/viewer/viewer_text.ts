import type { Box } from "@/lib/pages/iiif/manifest.ts";
import {
  type AltoPage,
  type AltoWord,
  type ConfidenceStep,
  confidenceStep,
  type Extent,
  extentOfPage,
  fractionOf,
  type TextDirection,
} from "@/lib/pages/alto/alto_page.ts";
import { composed, type HitWord, type VolumeHit } from "@/lib/pages/search/volume_index.ts";

/** A line of a page's text as the viewer shows it beside the image. */
export interface TextLine {
  readonly text: string;
  /** The words of the text; a hyphen may follow the last. */
  readonly words: readonly Pick<AltoWord, "text">[];
  /** Start position of each word in the text. */
  readonly starts: readonly number[];
  /** Base direction; null: that of the first strong letter. */
  readonly direction: TextDirection | null;
  readonly step: ConfidenceStep;
  /** 0 to 1; null: not known. */
  readonly confidence: number | null;
  /** Fractions of the page's width and height; null: not known. */
  readonly box: Box | null;
  /** First line of its block. */
  readonly isFirst: boolean;
}

/** The lines of a page in reading order over all blocks. */
export function textLines(page: AltoPage, canvas: Extent): readonly TextLine[] {
  const extent = extentOfPage(page, canvas);
  return page.blocks.flatMap(({ lines }) =>
    lines.map(({ text, words, starts, direction, confidence, box }, place) => ({
      text,
      words,
      starts,
      direction,
      confidence,
      step: confidenceStep(confidence),
      box: fractionOf(box, extent),
      isFirst: place === 0,
    }))
  );
}

/** The smallest line at a point of the page, by its place in the list; null: there is none. */
export function lineAt(
  lines: readonly TextLine[],
  { x, y }: { readonly x: number; readonly y: number },
): number | null {
  let found: number | null = null;
  let smallest = Infinity;
  for (const [place, { box }] of lines.entries()) {
    if (!box || x < box.x || x > box.x + box.width || y < box.y || y > box.y + box.height) continue;
    const area = box.width * box.height;
    if (area >= smallest) continue;
    smallest = area;
    found = place;
  }
  return found;
}

/** A part of a line's text that a search has found. */
export interface LineMark {
  /** Positions in the text of the line; `to` is behind the part. */
  readonly from: number;
  readonly to: number;
  /** Part of the current hit. */
  readonly isCurrent: boolean;
}

/** The parts of a page's lines that a search has found, by line, in order and without overlaps. */
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
  // A line of many words may have many hits: its words are read once.
  const ranges = new Map<number, readonly WordRange[]>();
  for (const hit of hits) {
    const isCurrent = current !== null && hit.canvas === current.canvas && hit.at === current.at;
    let before: number | null = null;
    for (const part of hit.words) {
      const line = lines[part.line];
      if (!line) continue;
      const words = ranges.get(part.line) ?? wordRanges(line);
      ranges.set(part.line, words);
      const range = rangeOf(words[part.word], part, line.text.length);
      if (!range) continue;
      add(marks, part.line, { ...range, isCurrent }, before === part.line);
      before = part.line;
    }
  }
  return marks;
}

/** A word in the text of its line. */
interface WordRange {
  readonly from: number;
  readonly length: number;
  /** Its letters are written in parts. */
  readonly isDecomposed: boolean;
}

function wordRanges({ words, starts }: TextLine): readonly WordRange[] {
  return words.map(({ text }, at) => ({
    from: starts[at],
    length: text.length,
    isDecomposed: composed(text) !== text,
  }));
}

/** The part of a line that a word of a hit covers; null if the line has no such word. */
function rangeOf(
  own: WordRange | undefined,
  { from, to }: HitWord,
  lineLength: number,
): Pick<LineMark, "from" | "to"> | null {
  if (own === undefined) return null;
  // Positions are those of composed letters. A word whose letters are written in parts is marked whole.
  const [first, last] = own.isDecomposed ? [0, own.length] : [from, Math.min(to, own.length)];
  const end = Math.min(lineLength, own.from + last);
  return own.from + first < end ? { from: own.from + first, to: end } : null;
}

/**
 * Adds a mark. The words of a phrase form one mark, including the space between them, and overlapping marks are merged.
 *
 * @param isFurther the mark before in this line is of the same hit
 */
function add(marks: Map<number, LineMark[]>, line: number, mark: LineMark, isFurther: boolean): void {
  const all = marks.get(line) ?? [];
  const before = all.at(-1);
  if (before && (mark.from < before.to || isFurther && mark.from <= before.to + 1)) {
    all[all.length - 1] = {
      from: before.from,
      to: Math.max(before.to, mark.to),
      isCurrent: before.isCurrent || mark.isCurrent,
    };
  } else all.push(mark);
  marks.set(line, all);
}
