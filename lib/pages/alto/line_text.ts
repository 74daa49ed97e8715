import type { AltoLine, AltoPage, TextDirection } from "./alto_page.ts";

/** Direction and language that an element states for its text; null: not stated. */
export interface TextStyle {
  readonly direction: TextDirection | null;
  /** A language tag. */
  readonly language: string | null;
}

/** ISO 639 codes of languages that are written from right to left, and scripts in a tag (ISO 15924). */
const RIGHT_TO_LEFT =
  /^(?:ara?|arb|arc|ckb|div|dv|fas?|heb?|iw|ji|nqo|per|pus|ps|sd|snd|syc|syr|uig|ug|urd?|yid?)(?![a-z])|-(?:adlm|arab|hebr|mand|nkoo|rohg|samr|syrc|thaa)\b/i;
const RTL_LETTER =
  /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Samr}\p{sc=Mand}\p{sc=Adlm}\p{sc=Rohg}]/u;
const RTL_MARK = "\u200f";
const LTR_MARK = "\u200e";

/** Reads `BASEDIRECTION`, and `LANG` or, before ALTO 3, `language`. */
export function readStyle(attributes: ReadonlyMap<string, string>): TextStyle {
  const direction = attributes.get("BASEDIRECTION")?.trim().toLowerCase();
  return {
    direction: direction === "ltr" || direction === "rtl" ? direction : null,
    language: attributes.get("LANG") ?? attributes.get("language") ?? null,
  };
}

/** The style of an inner element: its own values, else those of the outer element. */
export function inherited(inner: TextStyle, outer: TextStyle): TextStyle {
  return { direction: inner.direction ?? outer.direction, language: inner.language ?? outer.language };
}

/**
 * The base direction of a text where its first strong letter does not tell it: as stated, else that of its language where
 * some letter or none at all agrees with that.
 *
 * @returns null: that of its first strong letter
 */
export function statedDirection(text: string, { direction, language }: TextStyle): TextDirection | null {
  if (direction !== null || !RIGHT_TO_LEFT.test(language ?? "")) return direction;
  return RTL_LETTER.test(text) || !/\p{L}/u.test(text) ? "rtl" : null;
}

/** A text with a mark before it where its first strong letter would give it another direction. */
function withDirectionMark(text: string, direction: TextDirection | null): string {
  if (direction === null || text === "") return text;
  const first = /\p{L}/u.exec(text)?.[0] ?? "a";
  const isRightToLeft = RTL_LETTER.test(first);
  return isRightToLeft === (direction === "rtl") ? text : (direction === "rtl" ? RTL_MARK : LTR_MARK) + text;
}

/** Scripts of East Asia without spaces between words, and their punctuation. */
const EAST = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Yiii}\u3000-\u303f\uff00-\uffef`;
/** Other scripts that write words without spaces. */
const SOUTH = String.raw`\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}` +
  String.raw`\p{sc=Java}\p{sc=Bali}\p{sc=Tibt}`;
const JOINED = new RegExp(
  [
    `[${EAST}] [${EAST}\\p{Nd}\\p{P}]`,
    `[\\p{Nd}\\p{P}] [${EAST}]`,
    `[${SOUTH}] [${SOUTH}\\p{Pe}\\p{Pf}.,:;!?%]`,
    `[\\p{Ps}\\p{Pi}] [${SOUTH}]`,
    `. \\p{M}`,
  ].map((pair) => `^(?:${pair})`).join("|"),
  "u",
);
const UNSPACED = new RegExp(`[${EAST}${SOUTH}\\p{sc=Hang}]`, "u");
const ONE_SIGN = /^\P{M}\p{M}*$/u;

/**
 * Whether a space stands before each word of a line, of the first one never. In a line with `SP` elements between its
 * words they alone are spaces. Elsewhere words have a space between them, except in scripts that write none and where each
 * sign is a word.
 *
 * @param stated numbers of the words that an `SP` stands before
 */
export function spacesBefore(words: readonly string[], stated: ReadonlySet<number>): readonly boolean[] {
  if (words.some((_, at) => at > 0 && stated.has(at))) return words.map((_, at) => at > 0 && stated.has(at));
  const isSplitIntoSigns = words.every((word) => ONE_SIGN.test(word)) && words.some((word) => UNSPACED.test(word));
  return words.map((word, at) => at > 0 && !isSplitIntoSigns && hasSpaceBetween(words[at - 1], word));
}

/** Whether a text that goes on with another one has a space between them, by their scripts. */
export function hasSpaceBetween(before: string, after: string): boolean {
  return !JOINED.test(`${[...before.slice(-2)].at(-1) ?? ""} ${after.slice(0, 2)}`);
}

/**
 * The text of a page for search and copying: a line each, with an empty line between blocks. A hyphenated word is joined on
 * its first line; a half without its other half is left as written. A line whose first letter suggests another direction
 * starts with a direction mark.
 */
export function readingText({ blocks }: AltoPage): string {
  const lines = blocks.flatMap(({ lines }) => lines);
  const texts = new Map(
    lines.map((line, at) => [
      line,
      withDirectionMark(joined(line, lines[at - 1], lines[at + 1]), line.direction),
    ]),
  );
  return blocks
    .map(({ lines }) => lines.map((line) => texts.get(line)).filter(Boolean).join("\n"))
    .filter((text) => text !== "")
    .join("\n\n");
}

function joined(line: AltoLine, before: AltoLine | undefined, after: AltoLine | undefined): string {
  const word = after && dividedWord(line, after);
  const endsInPreviousLine = before !== undefined && dividedWord(before, line) !== null;
  if (!word && !endsInPreviousLine) return line.text;
  const { text, starts } = line;
  const from = endsInPreviousLine ? starts[1] ?? text.length : 0;
  return word ? text.slice(from, starts[starts.length - 1]) + (from === text.length ? "" : word) : text.slice(from);
}

/** The word that is hyphenated across two lines; null: none. */
function dividedWord(line: AltoLine, next: AltoLine): string | null {
  const first = line.words.at(-1)?.division;
  const second = next.words[0].division;
  return first?.half === 1 && second?.half === 2 && first.word === second.word ? first.word : null;
}
