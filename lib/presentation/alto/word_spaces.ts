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
