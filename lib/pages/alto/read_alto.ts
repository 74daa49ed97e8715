import type { Box } from "@/lib/pages/iiif/manifest.ts";
import { XmlScanner } from "@/lib/std/xml_scanner.ts";
import { type AltoLine, type AltoPage, type AltoPlace, type AltoUnit, type AltoWord, boxAround } from "./alto_page.ts";
import { inherited, readStyle, spacesBefore, statedDirection, type TextStyle } from "./line_text.ts";

/** Longest document that is read, characters: a page of 20,000 words with a glyph for each letter is shorter. */
export const MAX_ALTO_CHARACTERS = 32 * 1024 * 1024;

/** Tokens that are read between two steps: about 2 ms. */
const TOKENS_A_STEP = 2000;

/** Why a text is not read. */
export type AltoProblem = "not XML" | "not ALTO" | "too large" | "unknown encoding";

type AltoReading =
  | { readonly ok: true; readonly page: AltoPage }
  | { readonly ok: false; readonly problem: AltoProblem };

/**
 * Reads ALTO 2 to 4, whatever namespace its elements are in, a few milliseconds at a time, so that a browser's main thread
 * may do something else between the steps. A file with several pages gives the lengths of the first one and the blocks of
 * all.
 */
export function* readAltoInSteps(xml: string): Generator<undefined, AltoReading, void> {
  if (xml.length > MAX_ALTO_CHARACTERS) return { ok: false, problem: "too large" };
  const scanner = new XmlScanner(xml);
  const reader = new AltoReader();
  for (let tokens = 1;; tokens++) {
    switch (scanner.next()) {
      case "open":
        if (scanner.depth === 1 && scanner.name.toLowerCase() !== "alto") return { ok: false, problem: "not ALTO" };
        reader.open(scanner.name, scanner.attributes);
        break;
      case "close":
        reader.close();
        break;
      case "text":
        reader.text(scanner.text);
        break;
      case "end":
        return { ok: true, page: reader.page() };
      case "malformed":
        return { ok: false, problem: "not XML" };
    }
    if (tokens % TOKENS_A_STEP === 0) yield;
  }
}

type Attributes = ReadonlyMap<string, string>;

/** Without `readonly`, while the elements below it are read. */
type Open<T> = { -readonly [K in keyof T]: T[K] };

interface Identified extends Open<AltoPlace> {
  readonly id: string | null;
}

interface OpenLine extends Identified {
  readonly words: Open<AltoWord>[];
  /** Numbers of the words that a space stands before. */
  readonly spaces: Set<number>;
  style: TextStyle;
  hyphen: string;
}

interface ReadLine extends AltoLine {
  readonly id: string | null;
}

interface OpenBlock extends Identified {
  /** Ids of the composed blocks around it. */
  readonly around: readonly string[];
  readonly lines: ReadLine[];
}

/** Builds a page from the elements of a document. */
class AltoReader {
  /** Names of the open elements. */
  readonly #path: string[] = [];
  readonly #blocks: OpenBlock[] = [];
  readonly #references: string[] = [];
  /** Ids of the open composed blocks. */
  #around: readonly string[] = [];
  /** Styles of the open page and blocks, each with the inherited values. */
  readonly #styles: TextStyle[] = [];
  #page: Attributes | null = null;
  #printSpace: Box | null = null;
  #unit = "";
  #block: OpenBlock | null = null;
  #line: OpenLine | null = null;
  #word: Open<AltoWord> | null = null;

  open(name: string, attributes: Attributes): void {
    const parent = this.#path.at(-1);
    this.#path.push(name);
    if (STYLED.has(name)) this.#styles.push(inherited(readStyle(attributes), this.#styles.at(-1) ?? UNSTYLED));
    switch (name) {
      case "Page":
        this.#page ??= attributes;
        break;
      case "PrintSpace":
        this.#printSpace ??= readBox(attributes);
        break;
      case "ElementRef":
      case "OrderedGroup":
      case "UnorderedGroup":
        for (const id of attributes.get("REF")?.split(/\s+/) ?? []) if (id !== "") this.#references.push(id);
        break;
      case "ComposedBlock":
        this.#around = [...this.#around, attributes.get("ID") ?? ""];
        break;
      case "TextBlock":
        this.#block = { ...place(attributes), around: this.#around, lines: [] };
        this.#blocks.push(this.#block);
        break;
      case "TextLine":
        if (parent === "TextBlock") {
          this.#line = { ...place(attributes), words: [], spaces: new Set(), style: readStyle(attributes), hyphen: "" };
        }
        break;
      case "String":
        if (parent === "TextLine") this.#word = word(attributes);
        // A line without a style takes that of its first word.
        if (this.#word && this.#line?.words.length === 0) {
          this.#line.style = inherited(this.#line.style, readStyle(attributes));
        }
        break;
      case "SP":
        if (parent === "TextLine") this.#line?.spaces.add(this.#line.words.length);
        break;
      case "HYP":
        if (this.#line && parent === "TextLine") this.#line.hyphen = attributes.get("CONTENT") || "-";
        break;
      case "Polygon":
        if (parent === "Shape") this.#shape(boxAroundPolygon(attributes.get("POINTS")));
        break;
    }
  }

  close(): void {
    const name = this.#path.pop();
    switch (name) {
      case "String":
        if (this.#word && this.#word.text.trim() !== "") this.#line?.words.push(this.#word);
        this.#word = null;
        break;
      case "TextLine":
        if (this.#line && this.#line.words.length > 0) {
          this.#block?.lines.push(line(this.#line, inherited(this.#line.style, this.#styles.at(-1) ?? UNSTYLED)));
        }
        this.#line = null;
        break;
      case "TextBlock":
        this.#block = null;
        break;
      case "ComposedBlock":
        this.#around = this.#around.slice(0, -1);
        break;
    }
    if (name !== undefined && STYLED.has(name)) this.#styles.pop();
  }

  text(text: string): void {
    if (this.#path.at(-1) === "MeasurementUnit" && this.#unit.length < MAX_UNIT_CHARACTERS) this.#unit += text;
  }

  page(): AltoPage {
    const page = this.#page ?? new Map();
    return {
      width: readLength(page.get("WIDTH")),
      height: readLength(page.get("HEIGHT")),
      unit: unit(this.#unit),
      printSpace: this.#printSpace,
      confidence: readConfidence(page.get("PC")),
      blocks: inReadingOrder(this.#blocks, this.#references).map(({ box, lines }) => ({
        box: box ?? boxAround(lines.map(({ box }) => box)),
        lines,
      })),
    };
  }

  /** A shape belongs to the element around it, whose own rectangle goes before. */
  #shape(box: Box | null): void {
    const owners = { String: this.#word, TextLine: this.#line, TextBlock: this.#block };
    const name = this.#path.at(-3) ?? "";
    const owner = Object.hasOwn(owners, name) ? owners[name as keyof typeof owners] : null;
    if (owner) owner.box ??= box;
  }
}

/** Elements whose direction and language apply to the lines in them. */
const STYLED: ReadonlySet<string> = new Set(["Page", "PrintSpace", "ComposedBlock", "TextBlock"]);
const UNSTYLED: TextStyle = { direction: null, language: null };
const MAX_UNIT_CHARACTERS = 64;

function place(attributes: Attributes): Identified {
  return { id: attributes.get("ID") ?? null, box: readBox(attributes) };
}

function word(attributes: Attributes): AltoWord {
  return {
    box: readBox(attributes),
    text: (attributes.get("CONTENT") ?? "").replace(/[\t\n\r]/g, " "),
    confidence: readConfidence(attributes.get("WC")),
    division: division(attributes),
  };
}

function division(attributes: Attributes): AltoWord["division"] {
  const type = attributes.get("SUBS_TYPE");
  const word = attributes.get("SUBS_CONTENT");
  if (!word || (type !== "HypPart1" && type !== "HypPart2")) return null;
  return { half: type === "HypPart1" ? 1 : 2, word };
}

function line({ id, box, words, spaces, hyphen }: OpenLine, style: TextStyle): ReadLine {
  const hasSpace = spacesBefore(words.map(({ text }) => text), spaces);
  let text = "";
  const starts = words.map((word, at) => {
    if (hasSpace[at]) text += " ";
    const start = text.length;
    text += word.text;
    return start;
  });
  return {
    id,
    box: box ?? boxAround(words.map(({ box }) => box)),
    text: withHyphen(text, hyphen),
    starts,
    direction: statedDirection(text, style),
    confidence: mean(words.map(({ confidence }) => confidence)),
    words,
  };
}

/** A soft hyphen is shown as a hyphen, because the line does break here. */
function withHyphen(text: string, hyphen: string): string {
  const shown = hyphen.replaceAll("\u00ad", "-");
  return text.endsWith(shown) ? text : text + shown;
}

function mean(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0) / present.length;
}

function unit(text: string): AltoUnit {
  const unit = text.trim();
  return unit === "mm10" || unit === "inch1200" ? unit : "pixel";
}

/** Most points of a polygon; one with more is left out. */
const MAX_POINTS = 1000;

/** A finite number; null where there is none. */
function readNumber(text: string | undefined): number | null {
  if (text === undefined || text.trim() === "") return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** A confidence; null where there is none from 0 to 1. */
function readConfidence(text: string | undefined): number | null {
  const number = readNumber(text);
  return number !== null && number >= 0 && number <= 1 ? number : null;
}

/** A length above 0; null where there is none. */
function readLength(text: string | undefined): number | null {
  const number = readNumber(text);
  return number !== null && number > 0 ? number : null;
}

/** The rectangle of an element; null unless all four numbers are there. */
function readBox(attributes: Attributes): Box | null {
  const x = readNumber(attributes.get("HPOS"));
  const y = readNumber(attributes.get("VPOS"));
  const width = readNumber(attributes.get("WIDTH"));
  const height = readNumber(attributes.get("HEIGHT"));
  if (x === null || y === null || width === null || height === null || width < 0 || height < 0) return null;
  return { x, y, width, height };
}

/**
 * The rectangle around the points of a polygon, written `x,y x,y` or `x y x y`; null unless they are 3 to
 * {@linkcode MAX_POINTS}, all of them numbers.
 */
function boxAroundPolygon(text: string | undefined): Box | null {
  const numbers = (text ?? "").trim().split(/[\s,]+/, MAX_POINTS * 2 + 1).map(readNumber);
  const points: Box[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [x, y = null] = [numbers[at], numbers[at + 1]];
    if (x === null || y === null) return null;
    points.push({ x, y, width: 0, height: 0 });
  }
  return points.length < 3 || points.length > MAX_POINTS ? null : boxAround(points);
}

/**
 * Puts blocks, and lines within each block, into the order in which `references` name them (ALTO 4.3, ReadingOrder). A block
 * has the place of the first reference to it, to one of its lines or to a block around it. Others follow in document order.
 */
function inReadingOrder(blocks: readonly OpenBlock[], references: readonly string[]): readonly OpenBlock[] {
  if (references.length === 0) return blocks;
  const ranks = new Map<string, number>();
  for (const id of references) if (!ranks.has(id)) ranks.set(id, ranks.size);
  const rank = (id: string | null) => (id === null ? undefined : ranks.get(id)) ?? Infinity;
  for (const { lines } of blocks) sortByRank(lines, ({ id }) => rank(id));
  const rankOf = ({ id, around, lines }: OpenBlock) => {
    let first = rank(id);
    for (const other of around) first = Math.min(first, rank(other));
    return lines.length > 0 ? Math.min(first, rank(lines[0].id)) : first;
  };
  return sortByRank([...blocks], rankOf);
}

function sortByRank<T>(items: T[], rank: (item: T) => number): T[] {
  const ranks = new Map(items.map((item) => [item, rank(item)]));
  // Not by subtraction: the difference of two infinite ranks is no number.
  return items.sort((a, b) => ranks.get(a)! === ranks.get(b)! ? 0 : ranks.get(a)! < ranks.get(b)! ? -1 : 1);
}
