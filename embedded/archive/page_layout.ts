import { pageText } from "./page_text.ts";
import { between, seededRandom } from "./seeded_random.ts";

/** Every sample page has this size, in pixels. */
export const PAGE_WIDTH = 900;
export const PAGE_HEIGHT = 1300;
/** One font dot is a square of this many pixels; a character is 5 dots wide and 11 high, 6 with its gap. */
export const DOT = 3;
export const CHARACTER_ADVANCE = 6 * DOT;
const LINE_HEIGHT = 11 * DOT;

const LEFT_MARGIN = 90;
const TOP_MARGIN = 110;
const LINE_PITCH = 46;
const MOST_LINES = 24;
const FEWEST_LINES = 14;

/** A box in pixels of the page, from its top left corner. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface PlacedWord extends Box {
  readonly text: string;
  /** How sure the recogniser claims to be, 0..1 with two decimals. */
  readonly confidence: number;
}

export interface PlacedLine extends Box {
  readonly text: string;
  readonly words: readonly PlacedWord[];
}

/** What is written on a page and where: the one source of the drawn image and of its ALTO file. */
export interface PageLayout {
  readonly width: number;
  readonly height: number;
  readonly lines: readonly PlacedLine[];
}

/** Places the text of a page (counted from 1). Deterministic in its three arguments. */
export function layoutPage(seed: number, volume: string, page: number): PageLayout {
  const random = seededRandom("layout", seed, volume, page);
  const texts = pageText(seed, volume, page, between(random, FEWEST_LINES, MOST_LINES));
  const clarity = 0.72 + random() * 0.24;
  const lines = texts.map((text, index) => {
    const x = LEFT_MARGIN + (index === 0 ? 60 : between(random, 0, 3) * DOT);
    const y = TOP_MARGIN + index * LINE_PITCH + between(random, 0, 2) * DOT;
    return { text, x, y, width: widthOf(text), height: LINE_HEIGHT, words: placeWords(text, x, y, clarity, random) };
  });
  return { width: PAGE_WIDTH, height: PAGE_HEIGHT, lines };
}

function placeWords(text: string, x: number, y: number, clarity: number, random: () => number): PlacedWord[] {
  let column = 0;
  return text.split(" ").map((word) => {
    const at = x + column * CHARACTER_ADVANCE;
    column += [...word].length + 1;
    const confidence = Math.round(Math.min(0.99, Math.max(0.3, clarity + (random() - 0.5) * 0.3)) * 100) / 100;
    return { text: word, x: at, y, width: widthOf(word), height: LINE_HEIGHT, confidence };
  });
}

function widthOf(text: string): number {
  return [...text].length * CHARACTER_ADVANCE - DOT;
}
