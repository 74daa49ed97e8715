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
