export type TextDirection = "ltr" | "rtl";

/** What elements state of the text in them; null: nothing. */
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

/** What the attributes of an element state (`BASEDIRECTION`, and `LANG` or, before ALTO 3, `language`). */
export function readStyle(attributes: ReadonlyMap<string, string>): TextStyle {
  const direction = attributes.get("BASEDIRECTION")?.trim().toLowerCase();
  return {
    direction: direction === "ltr" || direction === "rtl" ? direction : null,
    language: attributes.get("LANG") ?? attributes.get("language") ?? null,
  };
}

/** What holds for the inner of two elements. */
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
export function withDirectionMark(text: string, direction: TextDirection | null): string {
  if (direction === null || text === "") return text;
  const first = /\p{L}/u.exec(text)?.[0] ?? "a";
  const isRightToLeft = RTL_LETTER.test(first);
  return isRightToLeft === (direction === "rtl") ? text : (direction === "rtl" ? RTL_MARK : LTR_MARK) + text;
}
