import type { AltoPage } from "@/lib/presentation/alto/alto_page.ts";
import type { Extent } from "@/lib/presentation/alto/page_extent.ts";
import { composed, folded } from "./folding.ts";
import { type PageText, pageText } from "./page_text.ts";

/** Memory that the text of a volume may take, bytes: that of about 7,000 pages of 320 words. */
export const MAX_INDEX_BYTES = 128 * 1024 * 1024;
const MAX_QUERY_CHARACTERS = 200;
const SNIPPET_CHARACTERS = 50;

/** One place where the query stands. */
export interface VolumeHit {
  /** Index of the canvas. */
  readonly canvas: number;
  /** Position in the text of the page; with the canvas it tells the hit from the others of its query. */
  readonly at: number;
  /** Number of the line where it begins, from 0 in reading order over all blocks of the page. */
  readonly line: number;
  /** One rectangle for each line that it stands on, as fractions of the page's width and height. */
  readonly boxes: readonly HitBox[];
  /** The words that it stands in. */
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

interface HitBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface SearchOptions {
  /** `a` finds `A`, `å` and `ä` as well. */
  readonly isFolded: boolean;
  /** Most hits that are returned. */
  readonly limit: number;
}

interface VolumeHits {
  /** In the order of the canvases and of the text. */
  readonly hits: readonly VolumeHit[];
  /** There are more hits than were requested. */
  readonly isCut: boolean;
}

interface IndexedPage extends PageText {
  readonly folded: string;
}

/** The text of a volume, page by page, for searches as pages are added. */
export class VolumeIndex {
  /** By canvas. */
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

  /** Finds a word, a part of one, or a phrase. */
  search(query: string, { isFolded, limit }: SearchOptions): VolumeHits {
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

/** The number of the word that a position of the text is in, by bisection. */
function wordAt({ starts }: PageText, position: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The number of the first word of a line, by bisection: a line may have as many words as a page. */
function firstOfLine(lines: Uint32Array, line: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle] < line) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The parts of words between two positions of the text. */
function wordsOf({ lines, starts }: PageText, first: number, last: number, from: number, to: number): HitWord[] {
  let lineStart = firstOfLine(lines, lines[first]);
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
function boxesOf({ lines, boxes }: PageText, first: number, last: number): readonly HitBox[] {
  const found = new Map<number, HitBox>();
  for (let word = first; word <= last; word++) {
    const [x, y, width, height] = boxes.subarray(word * 4, word * 4 + 4);
    if (Number.isNaN(x + y + width + height)) continue;
    const known = found.get(lines[word]);
    found.set(lines[word], known ? around(known, { x, y, width, height }) : { x, y, width, height });
  }
  return [...found.values()];
}

function around(a: HitBox, b: HitBox): HitBox {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  const right = Math.max(a.x + a.width, b.x + b.width);
  const bottom = Math.max(a.y + a.height, b.y + b.height);
  return { x, y, width: right - x, height: bottom - y };
}

/** Text before a position, from the beginning of a word where there are spaces. */
function startOf(text: string, at: number): string {
  const from = at - SNIPPET_CHARACTERS;
  return from <= 0 ? text.slice(0, at) : `…${text.slice(from, at).replace(/^(?:\S*?\s|[\udc00-\udfff])/, "")}`;
}

/** Text after a position, likewise to the end of a word. */
function endOf(text: string, at: number): string {
  const to = at + SNIPPET_CHARACTERS;
  return to >= text.length ? text.slice(at) : `${text.slice(at, to).replace(/(?:\s\S*|[\ud800-\udbff])$/, "")}…`;
}
