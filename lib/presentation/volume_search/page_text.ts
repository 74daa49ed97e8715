import type { AltoBox, AltoLine, AltoPage, AltoWord } from "@/lib/presentation/alto/alto_page.ts";
import { type Extent, extentOfPage } from "@/lib/presentation/alto/page_extent.ts";
import { hasSpaceBetween } from "@/lib/presentation/alto/word_spaces.ts";
import { composed } from "./folding.ts";

/** A page's text in one row, and where its words are on the page. */
export interface PageText {
  /** Words with their spaces, also at line ends; a word that a line end divides is whole. */
  readonly text: string;
  /** Where each word begins in the text, ascending. The halves of a divided word are two words. */
  readonly starts: Uint32Array;
  /** Number of each word's line on the page, from 0 in reading order. */
  readonly lines: Uint32Array;
  /** x, y, width and height of each word as fractions of the page; NaN where the file does not say. */
  readonly boxes: Float32Array;
}

/** What the line end divides a word by. */
const HYPHEN = /[-\u00ad‐¬⸗=]$/;
/** Longest text that is read of a page. */
const MAX_CHARACTERS = 1_000_000;

/**
 * Reads a page for the search.
 *
 * @param canvas extent of its canvas, by which boxes are placed where the file gives no extent of the page
 */
export function pageText(page: AltoPage, canvas: Extent): PageText {
  const extent = extentOfPage(page, canvas);
  const words = page.blocks.flatMap(({ lines }) => lines)
    .flatMap((line, at) =>
      line.words.map((word, i) => ({ word, line, at, end: line.starts[i] + word.text.length, i }))
    );
  const starts: number[] = [];
  let text = "";
  let rest: string | null = null;
  for (const [i, { word, line, end, i: place }] of words.entries()) {
    if (text.length >= MAX_CHARACTERS) break;
    starts.push(text.length);
    if (place < line.words.length - 1) {
      text += composed(rest ?? word.text) + (line.starts[place + 1] > end ? " " : "");
      rest = null;
      continue;
    }
    const [shown, following, gap] = parts(word, line, rest, words[i + 1]?.word);
    rest = following;
    text += shown + gap;
  }
  return {
    text: text.trimEnd(),
    starts: Uint32Array.from(starts),
    lines: Uint32Array.from(starts, (_, i) => words[i].at),
    boxes: Float32Array.from(starts.flatMap((_, i) => fractions(words[i].word.box ?? words[i].line.box, extent))),
  };
}

/**
 * What the last word of a line adds to the text.
 *
 * @param rest the second half of the word, where the line before began it
 * @param next the first word of the next line
 * @returns the text of the word, the second half that follows where it is known, and what stands before the next word
 */
function parts(
  word: AltoWord,
  line: AltoLine,
  rest: string | null,
  next: AltoWord | undefined,
): readonly [shown: string, rest: string | null, gap: string] {
  const own = composed(rest ?? word.text);
  if (!next) return [own, null, " "];
  const bare = own.replace(HYPHEN, "");
  const { division } = word;
  if (division?.half === 1 && next.division?.half === 2 && division.word === next.division.word) {
    const whole = composed(division.word);
    const cut = Math.min(bare.length, whole.length);
    return [whole.slice(0, cut), whole.slice(cut), ""];
  }
  if (bare === own && !HYPHEN.test(line.text) || bare === "") {
    return [own, null, hasSpaceBetween(own, next.text) ? " " : ""];
  }
  // The hyphen of a name stays, that of a divided word goes.
  return /^\p{Ll}/u.test(next.text) ? [bare, null, ""] : [own, null, HYPHEN.test(own) ? "" : " "];
}

function fractions(box: AltoBox | null, extent: ReturnType<typeof extentOfPage>): readonly number[] {
  if (box === null || extent === null) return [NaN, NaN, NaN, NaN];
  const { width, height } = extent;
  return [box.x / width, box.y / height, box.width / width, box.height / height];
}
