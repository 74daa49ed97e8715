import { advance, extentOf } from "./letter_shapes.ts";
import { ACCOUNT_TITLES, accountRow, heading, hyphenation, mapName, mapTitle, runningText } from "./page_text.ts";
import { between, seededRandom } from "./seeded_random.ts";

/** Every sample page has this size, in pixels. */
export const PAGE_WIDTH = 1600;
export const PAGE_HEIGHT = 2208;

/** A box in pixels of the page, from its top left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A word and where the pen begins it. Its box is the smallest that holds its ink. */
interface PlacedWord extends Box {
  readonly text: string;
  readonly penX: number;
  readonly baseline: number;
  readonly size: number;
  /** How sure the recogniser claims to be, 0..1 with two decimals; null where it claims nothing. */
  readonly confidence: number | null;
  /** The hyphen behind the first part of a divided word, which is in no box but its own. */
  readonly hyphen: Box | null;
  /** The whole word that this is a part of, and whether it is the first or the second part. */
  readonly divided: { readonly whole: string; readonly part: 1 | 2 } | null;
}

/** A line of text; its box is the smallest that holds its ink. */
interface PlacedLine extends Box {
  /** The words with spaces between them, without a hyphen at the end. */
  readonly text: string;
  readonly words: readonly PlacedWord[];
}

interface PlacedBlock extends Box {
  readonly lines: readonly PlacedLine[];
}

/** What is written on a page and where: the one source of the drawn image and of its ALTO file. */
export interface PageLayout {
  readonly width: number;
  readonly height: number;
  readonly page: number;
  readonly kind: "text" | "columns" | "table" | "map";
  /** A right page: its inner margin is the left one. */
  readonly isRecto: boolean;
  /** In reading order. */
  readonly blocks: readonly PlacedBlock[];
  /** Ruled lines, from one point to another. */
  readonly rules: readonly Box[];
  /** What the map of such a page fills. */
  readonly map: Box | null;
  readonly hasStamp: boolean;
  readonly hasSeal: boolean;
}

const INNER_MARGIN = 230;
const OUTER_MARGIN = 170;
const TEXT_WIDTH = PAGE_WIDTH - INNER_MARGIN - OUTER_MARGIN;
/** The baselines of the heading and of the first line below it, and from each to the next. */
const HEADING_BASELINE = 260;
const FIRST_BASELINE = 352;
const LINE_PITCH = 60;
const COLUMN_GAP = 76;
const HEADING_SIZE = 1.35;
const MOST_LINES = 23;
const FEWEST_LINES = 14;
/** Where the columns of a table begin, from the left margin. */
const TABLE_COLUMNS = [0, 110, 640, 990];
/** How far the end of a line lies above or below its beginning, in pixels for each pixel of its length. */
const MAX_SLOPE = 0.004;
/** The share of lines for which the recogniser states no confidence. */
const WITHOUT_CONFIDENCE = 0.08;

/** Places the text of a page (counted from 1). Deterministic in its three arguments. */
export function layoutPage(seed: number, volume: string, page: number): PageLayout {
  const random = seededRandom("layout", seed, volume, page);
  const isRecto = page % 2 === 1;
  const left = isRecto ? INNER_MARGIN : OUTER_MARGIN;
  const writer = new Writer(random);
  const kind = kindOf(random());
  const title = kind === "map" ? mapTitle(random) : heading(seed, volume, page, random);
  const first = writer.line(title.split(" "), left + between(random, 20, 70), HEADING_BASELINE, HEADING_SIZE);
  const rest = BODIES[kind](writer, left, random);
  return {
    width: PAGE_WIDTH,
    height: PAGE_HEIGHT,
    page,
    kind,
    isRecto,
    map: null,
    rules: [],
    ...rest,
    blocks: kind === "text" ? [blockOf([first, ...rest.blocks[0].lines])] : [blockOf([first]), ...rest.blocks],
    hasStamp: page === 1 || random() < 0.2,
    hasSeal: kind === "text" && random() < 0.16,
  };
}

/** All lines of a page, in reading order. */
export function linesOf(layout: PageLayout): readonly PlacedLine[] {
  return layout.blocks.flatMap(({ lines }) => lines);
}

function kindOf(share: number): PageLayout["kind"] {
  if (share < 0.6) return "text";
  if (share < 0.76) return "columns";
  return share < 0.9 ? "table" : "map";
}

type Body = Pick<PageLayout, "blocks"> & Partial<Pick<PageLayout, "rules" | "map">>;

const BODIES: Readonly<Record<PageLayout["kind"], (writer: Writer, left: number, random: () => number) => Body>> = {
  text(writer, left, random) {
    const lines = between(random, FEWEST_LINES, MOST_LINES) - 1;
    return { blocks: [blockOf(writer.paragraph(runningText(random), left, TEXT_WIDTH, lines))] };
  },
  columns(writer, left, random) {
    const width = (TEXT_WIDTH - COLUMN_GAP) / 2;
    const words = runningText(random);
    const lines = between(random, FEWEST_LINES, MOST_LINES) - 1;
    const blocks = [left, left + width + COLUMN_GAP].map((x) => blockOf(writer.paragraph(words, x, width, lines)));
    const middle = left + width + COLUMN_GAP / 2;
    return { blocks, rules: [{ x: middle, y: FIRST_BASELINE - 40, width: 0, height: (lines - 1) * LINE_PITCH + 60 }] };
  },
  table(writer, left, random) {
    const rows = between(random, FEWEST_LINES, MOST_LINES) - 1;
    const lines = Array.from({ length: rows }, (_, row) => {
      const cells = row === 0 ? ACCOUNT_TITLES : accountRow(row, random);
      return writer.row(cells, TABLE_COLUMNS.map((x) => left + x), FIRST_BASELINE + row * LINE_PITCH);
    });
    const top = FIRST_BASELINE - 46;
    const height = rows * LINE_PITCH + 6;
    const across = [0, 1, rows].map((row) => ({
      x: left - 30,
      y: top + row * LINE_PITCH,
      width: TEXT_WIDTH + 40,
      height: 0,
    }));
    const down = TABLE_COLUMNS.slice(1).map((x) => ({ x: left + x - 28, y: top, width: 0, height }));
    return { blocks: [blockOf(lines)], rules: [...across, ...down] };
  },
  map(writer, left, random) {
    const map = { x: left - 20, y: FIRST_BASELINE - 30, width: TEXT_WIDTH + 40, height: between(random, 1250, 1500) };
    const names = between(random, 6, 9);
    const pitch = Math.floor((map.height - 200) / names);
    const blocks = Array.from({ length: names }, (_, index) => {
      const x = map.x + between(random, 80, map.width - 360);
      const baseline = map.y + 120 + index * pitch + between(random, 0, pitch - 70);
      return blockOf([writer.line([mapName(random)], x, baseline, 1)]);
    });
    return { blocks, map };
  },
};

/** Writes lines as one hand does. */
class Writer {
  readonly #random: () => number;
  /** How well the recogniser reads the page. */
  readonly #clarity: number;

  constructor(random: () => number) {
    this.#random = random;
    this.#clarity = 0.72 + random() * 0.24;
  }

  /** Breaks words into lines of a width; a word that does not fit is divided where it can be. */
  paragraph(words: Iterator<string, never>, left: number, width: number, count: number): PlacedLine[] {
    const hyphen = widthOf("-", 1);
    let next = words.next().value;
    let rest: PlacedWord["divided"] = null;
    return Array.from({ length: count }, (_, index) => {
      const x = left + (index === 0 ? 60 : between(this.#random, 0, 10));
      const room = left + width - x;
      const texts: string[] = [];
      const begun = rest;
      rest = null;
      let used = 0;
      for (let width; used + (width = widthOf(next, 1)) <= room; next = words.next().value) {
        texts.push(next);
        used += width + advance(" ", 1);
      }
      // The last line of a paragraph ends with a whole word: nothing follows it.
      const at = index + 1 < count ? hyphenation(next, fitting(next, room - used - hyphen)) : 0;
      if (at > 0) {
        texts.push(next.slice(0, at));
        rest = { whole: next, part: 2 };
        next = next.slice(at);
      }
      const ended = rest && { whole: rest.whole, part: 1 as const };
      return this.line(texts, x, FIRST_BASELINE + index * LINE_PITCH, 1, begun, ended);
    });
  }

  /** A line of words. `begun` and `ended` are the divided words whose parts are its first and its last word. */
  line(
    texts: readonly string[],
    left: number,
    baseline: number,
    size: number,
    begun: PlacedWord["divided"] = null,
    ended: PlacedWord["divided"] = null,
  ): PlacedLine {
    let x = left;
    const pens = texts.map((text) => {
      const at = x;
      x += widthOf(text, size) + advance(" ", size);
      return at;
    });
    const last = texts.length - 1;
    const dividedAt = (index: number) => (index === last && ended) || (index === 0 ? begun : null);
    return this.#line(texts, pens, baseline, size, dividedAt);
  }

  /** A line of cells, each in its column. */
  row(cells: readonly string[], columns: readonly number[], baseline: number): PlacedLine {
    const texts: string[] = [];
    const pens: number[] = [];
    cells.forEach((cell, column) => {
      let x = columns[column];
      for (const text of cell.split(" ")) {
        texts.push(text);
        pens.push(x);
        x += widthOf(text, 1) + advance(" ", 1);
      }
    });
    return this.#line(texts, pens, baseline, 1, () => null);
  }

  #line(
    texts: readonly string[],
    pens: readonly number[],
    baseline: number,
    size: number,
    dividedAt: (index: number) => PlacedWord["divided"],
  ): PlacedLine {
    const random = this.#random;
    const slope = (random() * 2 - 1) * MAX_SLOPE;
    const isSilent = random() < WITHOUT_CONFIDENCE;
    const shift = between(random, -2, 2);
    const words = texts.map((text, index): PlacedWord => {
      const penX = pens[index];
      const at = baseline + shift + Math.round(slope * (penX - pens[0]));
      const sure = Math.min(0.99, Math.max(0.3, this.#clarity + (random() - 0.5) * 0.3));
      const divided = dividedAt(index);
      return {
        text,
        penX,
        baseline: at,
        size,
        ...inkBox(text, penX, at, size),
        confidence: isSilent ? null : Math.round(sure * 100) / 100,
        hyphen: divided?.part === 1 ? inkBox("-", penX + widthOf(text, size), at, size) : null,
        divided,
      };
    });
    const boxes = words.flatMap((word) => word.hyphen ? [word, word.hyphen] : [word]);
    return { text: texts.join(" "), words, ...enclosing(boxes) };
  }
}

function blockOf(lines: readonly PlacedLine[]): PlacedBlock {
  return { lines, ...enclosing(lines) };
}

/** How far the pen moves for a text. */
function widthOf(text: string, size: number): number {
  return measured(text, size).width;
}

/** What a text takes, from the pen's first position on the baseline. */
interface TextMetrics {
  readonly width: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Words measured before: the texts repeat a few hundred of them. */
const METRICS = new Map<string, TextMetrics>();
const MOST_METRICS = 2000;

function measured(text: string, size: number): TextMetrics {
  const key = size === 1 ? text : `${size} ${text}`;
  let metrics = METRICS.get(key);
  if (!metrics) {
    metrics = measure(text, size);
    if (METRICS.size >= MOST_METRICS) METRICS.clear();
    METRICS.set(key, metrics);
  }
  return metrics;
}

function measure(text: string, size: number): TextMetrics {
  let width = 0;
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const character of text) {
    const extent = extentOf(character);
    if (extent) {
      left = Math.min(left, width + extent.left * size);
      right = Math.max(right, width + extent.right * size);
      top = Math.min(top, extent.top * size);
      bottom = Math.max(bottom, extent.bottom * size);
    }
    width += advance(character, size);
  }
  return { width, left, right, top, bottom };
}

/** How many characters of a word fit into a width. */
function fitting(word: string, width: number): number {
  let count = 0;
  for (let used = advance(word[0], 1); used <= width && count < word.length; used += advance(word[count] ?? " ", 1)) {
    count++;
  }
  return count;
}

/** The smallest box around the ink of a text. */
function inkBox(text: string, penX: number, baseline: number, size: number): Box {
  const { left, right, top, bottom } = measured(text, size);
  const x = Math.floor(penX + left);
  const y = Math.floor(baseline + top);
  return { x, y, width: Math.ceil(penX + right) - x, height: Math.ceil(baseline + bottom) - y };
}

function enclosing(boxes: readonly Box[]): Box {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x);
    right = Math.max(right, x + width);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}
