import { XmlScanner } from "@/lib/std/xml_scanner.ts";
import type { AltoBlock, AltoBox, AltoLine, AltoPage, AltoPlace, AltoUnit, AltoWord } from "./alto_page.ts";
import { inherited, readStyle, statedDirection, type TextStyle } from "./direction.ts";
import { boxAround, boxAroundPoints, readBox, readConfidence, readLength, readNumber, readPoints } from "./geometry.ts";
import { inReadingOrder } from "./reading_order.ts";
import { spacesBefore } from "./word_spaces.ts";

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
 * Reads ALTO 2 to 4, whatever namespace its elements are in. A file with several pages gives the lengths of the first one
 * and the blocks of all.
 */
export function readAlto(xml: string): AltoReading {
  const steps = readAltoInSteps(xml);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same, a few milliseconds at a time, so that a browser's main thread may do something else between the steps. */
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

interface OpenLine extends Open<AltoPlace> {
  readonly words: Open<AltoWord>[];
  /** Numbers of the words that a space stands before. */
  readonly spaces: Set<number>;
  style: TextStyle;
  hyphen: string;
}

interface OpenBlock extends Open<AltoPlace> {
  /** Ids of the composed blocks around it. */
  readonly around: readonly string[];
  readonly rotation: number | null;
  readonly lines: AltoLine[];
}

/** Collects a page from the elements of a document. */
class AltoReader {
  /** Names of the open elements. */
  readonly #path: string[] = [];
  readonly #blocks: OpenBlock[] = [];
  readonly #references: string[] = [];
  /** Ids of the open composed blocks. */
  #around: readonly string[] = [];
  /** Of the open page and blocks, each with what holds around it. */
  readonly #styles: TextStyle[] = [];
  #page: Attributes | null = null;
  #printSpace: AltoBox | null = null;
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
        this.#block = {
          ...place(attributes),
          around: this.#around,
          rotation: readNumber(attributes.get("ROTATION")),
          lines: [],
        };
        this.#blocks.push(this.#block);
        break;
      case "TextLine":
        if (parent === "TextBlock") {
          this.#line = { ...place(attributes), words: [], spaces: new Set(), style: readStyle(attributes), hyphen: "" };
        }
        break;
      case "String":
        if (parent === "TextLine") this.#word = word(attributes);
        // The first word stands for a line that states nothing itself.
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
        if (parent === "Shape") this.#shape(readPoints(attributes.get("POINTS")));
        break;
    }
  }

  close(): void {
    const name = this.#path.pop();
    switch (name) {
      case "String":
        if (this.#word && this.#word.text.trim() !== "") this.#line?.words.push(placed(this.#word));
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
    const rotation = readNumber(page.get("ROTATION")) ?? 0;
    return {
      width: readLength(page.get("WIDTH")),
      height: readLength(page.get("HEIGHT")),
      unit: unit(this.#unit),
      printSpace: this.#printSpace,
      confidence: readConfidence(page.get("PC")),
      blocks: inReadingOrder(this.#blocks, this.#references).map((open) => block(open, rotation)),
    };
  }

  /** A shape belongs to the element around it. */
  #shape(points: AltoPlace["polygon"]): void {
    const name = this.#path.at(-3);
    const owner = name === "String" ? this.#word : name === "TextLine" ? this.#line : this.#block;
    if (owner && (name === "String" || name === "TextLine" || name === "TextBlock")) owner.polygon = points;
  }
}

/** Elements whose direction and language hold for the lines in them. */
const STYLED: ReadonlySet<string> = new Set(["Page", "PrintSpace", "ComposedBlock", "TextBlock"]);
const UNSTYLED: TextStyle = { direction: null, language: null };
const MAX_UNIT_CHARACTERS = 64;

function place(attributes: Attributes): AltoPlace {
  return { id: attributes.get("ID") ?? null, box: readBox(attributes), polygon: null };
}

function word(attributes: Attributes): AltoWord {
  return {
    ...place(attributes),
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

function line({ id, box, polygon, words, spaces, hyphen }: OpenLine, style: TextStyle): AltoLine {
  const hasSpace = spacesBefore(words.map(({ text }) => text), spaces);
  let text = "";
  const starts = words.map((word, at) => {
    if (hasSpace[at]) text += " ";
    const start = text.length;
    text += word.text;
    return start;
  });
  return placed({
    id,
    box: box ?? (polygon ? null : boxAround(words.map(({ box }) => box))),
    polygon,
    text: withHyphen(text, hyphen),
    starts,
    direction: statedDirection(text, style),
    confidence: mean(words.map(({ confidence }) => confidence)),
    words,
  });
}

/** A soft hyphen is shown as a hyphen, because the line does break here. */
function withHyphen(text: string, hyphen: string): string {
  const shown = hyphen.replaceAll("\u00ad", "-");
  return text.endsWith(shown) ? text : text + shown;
}

function block({ id, box, polygon, rotation, lines }: OpenBlock, ofPage: number): AltoBlock {
  return placed({
    id,
    box: box ?? (polygon ? null : boxAround(lines.map(({ box }) => box))),
    polygon,
    rotation: rotation ?? ofPage,
    lines,
  });
}

/** With the rectangle around its polygon where the file gives a polygon alone. */
function placed<T extends AltoPlace>(open: T): T {
  return open.box === null && open.polygon ? { ...open, box: boxAroundPoints(open.polygon) } : open;
}

function mean(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0) / present.length;
}

function unit(text: string): AltoUnit {
  const unit = text.trim();
  return unit === "mm10" || unit === "inch1200" ? unit : "pixel";
}
