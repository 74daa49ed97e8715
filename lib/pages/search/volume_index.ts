import type { Box } from "@/lib/pages/iiif/manifest.ts";
import {
  type AltoLine,
  type AltoPage,
  type AltoWord,
  boxAround,
  type Extent,
  extentOfPage,
  fractionOf,
} from "@/lib/pages/alto/alto_page.ts";
import { hasSpaceBetween } from "@/lib/pages/alto/line_text.ts";
import { lowerBound } from "@/lib/std/lower_bound.ts";

/** Memory that the text of a volume may take, bytes: that of about 7,000 pages of 320 words. */
export const MAX_INDEX_BYTES = 128 * 1024 * 1024;
const MAX_QUERY_CHARACTERS = 200;
const SNIPPET_CHARACTERS = 50;

/** One occurrence of the query. */
export interface VolumeHit {
  /** Index of the canvas. */
  readonly canvas: number;
  /** Position in the text of the page; together with the canvas it identifies the hit. */
  readonly at: number;
  /** Number of its first line, from 0 in reading order over all blocks of the page. */
  readonly line: number;
  /** One rectangle for each of its lines, as fractions of the page's width and height. */
  readonly boxes: readonly Box[];
  /** The words that contain the hit. */
  readonly words: readonly HitWord[];
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** A part of a word that belongs to a hit. */
export interface HitWord {
  /** Number of its line, as that of the hit. */
  readonly line: number;
  /** Its place in the line. */
  readonly word: number;
  /** Positions in the composed word; `to` is behind the part, and may be behind the word. */
  readonly from: number;
  readonly to: number;
}

interface IndexedPage extends PageText {
  readonly folded: string;
}

/** The text of a volume, page by page, for searches as pages are added. */
export class VolumeIndex {
  /** Indexed by canvas. */
  readonly #pages: (IndexedPage | undefined)[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_INDEX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds the text of a canvas; that of another file of the same canvas is replaced.
   *
   * @param extent of the canvas
   * @returns false where there is no memory left for it; nothing is added then
   */
  add(canvas: number, page: AltoPage, extent: Extent): boolean {
    const read = pageText(page, extent);
    const indexed = { ...read, folded: folded(read.text) };
    const bytes = this.#bytes - bytesOf(this.#pages[canvas]) + bytesOf(indexed);
    if (bytes > this.#maxBytes) return false;
    this.#pages[canvas] = indexed;
    this.#bytes = bytes;
    return true;
  }

  /**
   * Finds a word, a part of one, or a phrase.
   *
   * @param options `isFolded`: `a` finds `A`, `å` and `ä` as well; `limit`: most hits that are returned
   * @returns hits in the order of the canvases and of the text; `isCut`: there are more than `limit`
   */
  search(query: string, { isFolded, limit }: { readonly isFolded: boolean; readonly limit: number }) {
    const exact = composed(query.slice(0, MAX_QUERY_CHARACTERS)).replace(/\s+/g, " ").trim();
    const wanted = isFolded ? folded(exact) : exact;
    const hits: VolumeHit[] = [];
    if (wanted === "") return { hits, isCut: false };
    for (const [canvas, page] of this.#pages.entries()) {
      if (page === undefined) continue;
      const text = isFolded ? page.folded : page.text;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        if (hits.length >= limit) return { hits, isCut: true };
        hits.push(hitOf(canvas, page, at, at + wanted.length));
      }
    }
    return { hits, isCut: false };
  }
}

/** Two bytes a character, of both texts, and 24 bytes a word. */
function bytesOf(page: IndexedPage | undefined): number {
  return page === undefined ? 0 : page.text.length * 4 + page.starts.length * 24;
}

function hitOf(canvas: number, page: IndexedPage, from: number, to: number): VolumeHit {
  const { text, lines } = page;
  const first = wordAt(page, from);
  const last = wordAt(page, to - 1);
  return {
    canvas,
    at: from,
    line: lines[first],
    boxes: boxesOf(page, first, last),
    words: wordsOf(page, first, last, from, to),
    before: startOf(text, from),
    match: text.slice(from, to),
    after: endOf(text, to),
  };
}

/** The number of the word at a position of the text. */
function wordAt({ starts }: PageText, position: number): number {
  return Math.max(0, lowerBound(starts.length, (word) => starts[word] <= position) - 1);
}

/** The parts of words between two positions of the text. */
function wordsOf({ lines, starts }: PageText, first: number, last: number, from: number, to: number): HitWord[] {
  // By bisection, since a line may have as many words as a page.
  let lineStart = lowerBound(lines.length, (word) => lines[word] < lines[first]);
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const word = first + at;
    if (lines[word] !== lines[lineStart]) lineStart = word;
    return {
      line: lines[word],
      word: word - lineStart,
      from: Math.max(0, from - starts[word]),
      to: to - starts[word],
    };
  });
}

/** One rectangle a line around words. */
function boxesOf({ lines, boxes }: PageText, first: number, last: number): readonly Box[] {
  const found = new Map<number, Box | null>();
  for (let word = first; word <= last; word++) {
    const [x, y, width, height] = boxes.subarray(word * 4, word * 4 + 4);
    if (Number.isNaN(x + y + width + height)) continue;
    found.set(lines[word], boxAround([found.get(lines[word]) ?? null, { x, y, width, height }]));
  }
  return [...found.values()].filter((box) => box !== null);
}

/** Text before a position, from the start of a word where there are spaces. */
function startOf(text: string, at: number): string {
  const from = at - SNIPPET_CHARACTERS;
  return from <= 0 ? text.slice(0, at) : `…${text.slice(from, at).replace(/^(?:\S*?\s|[\udc00-\udfff])/, "")}`;
}

/** Text after a position, likewise to the end of a word. */
function endOf(text: string, at: number): string {
  const to = at + SNIPPET_CHARACTERS;
  return to >= text.length ? text.slice(at) : `${text.slice(at, to).replace(/(?:\s\S*|[\ud800-\udbff])$/, "")}…`;
}

/** A page's text in one row, and where its words are on the page. */
interface PageText {
  /** Words with their spaces, also at line ends; a word that a line end divides is whole. */
  readonly text: string;
  /** Start position of each word in the text, ascending. The halves of a hyphenated word are two words. */
  readonly starts: Uint32Array;
  /** Number of each word's line on the page, from 0 in reading order. */
  readonly lines: Uint32Array;
  /** x, y, width and height of each word as fractions of the page; NaN where the file does not say. */
  readonly boxes: Float32Array;
}

/** A hyphen at the end of a line. */
const HYPHEN = /[-\u00ad‐¬⸗=]$/;
/** Longest text that is read of a page. */
const MAX_CHARACTERS = 1_000_000;

/**
 * Reads a page for the search.
 *
 * @param canvas extent of its canvas, by which boxes are placed where the file gives no extent of the page
 */
function pageText(page: AltoPage, canvas: Extent): PageText {
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
    boxes: Float32Array.from(
      starts.flatMap((_, i) => fractions(fractionOf(words[i].word.box ?? words[i].line.box, extent))),
    ),
  };
}

/**
 * The text that the last word of a line adds.
 *
 * @param rest the second half of the word if its first half is on the line before
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

function fractions(box: Box | null): readonly number[] {
  return box === null ? [NaN, NaN, NaN, NaN] : [box.x, box.y, box.width, box.height];
}

const bases = new Map<string, string>();

/** Letters that Unicode does not take apart, beside the letter that a reader types for them. */
const UNDIVIDED: ReadonlyMap<string, string> = new Map([["ø", "o"], ["đ", "d"], ["ł", "l"], ["ħ", "h"]]);

/** The letters of a text as they are compared exactly: accents are part of their letter. */
export function composed(text: string): string {
  return text.normalize("NFC");
}

/**
 * A composed text without the differences of case and accents: `Å`, `ä` and `a` are all `a`, and a long s is an s.
 *
 * @returns a text of the same length, so that positions in the one are positions in the other
 */
export function folded(text: string): string {
  // The one letter whose lower case is longer than itself.
  // deno-lint-ignore no-control-regex
  return text.replaceAll("İ", "I").toLowerCase().replace(/[^\x00-\x7f]/g, (letter) => {
    let base = bases.get(letter);
    if (base === undefined) bases.set(letter, base = baseOf(letter));
    return base;
  });
}

function baseOf(letter: string): string {
  const base = letter.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return base.length === 1 ? UNDIVIDED.get(base) ?? base : letter;
}

/**
 * The hits in the order in which the reader goes through the pages.
 *
 * @param positions position of each page by its canvas
 * @returns the hits, and how many are left out because their page is not in the order
 */
export function hitsInOrder(hits: readonly VolumeHit[], positions: ReadonlyMap<number, number>) {
  const found = hits.flatMap((hit) => {
    const position = positions.get(hit.canvas);
    return position === undefined ? [] : [{ hit, position }];
  });
  found.sort((a, b) => a.position - b.position);
  return { hits: found.map(({ hit }) => hit), leftOut: hits.length - found.length };
}
