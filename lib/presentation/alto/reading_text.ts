import type { AltoLine, AltoPage } from "./alto_page.ts";

/**
 * The text of a page for search and copying: a line each, an empty line between blocks, and words that a line break divides
 * as one word on the line where they begin. A half without the other one stays as it is written.
 */
export function readingText({ blocks }: AltoPage): string {
  const lines = blocks.flatMap(({ lines }) => lines);
  const texts = new Map(lines.map((line, at) => [line, joined(line, lines[at - 1], lines[at + 1])]));
  return blocks
    .map(({ lines }) => lines.map((line) => texts.get(line)).filter(Boolean).join("\n"))
    .filter((text) => text !== "")
    .join("\n\n");
}

function joined(line: AltoLine, before: AltoLine | undefined, after: AltoLine | undefined): string {
  const word = after && dividedWord(line, after);
  const endsInPreviousLine = before !== undefined && dividedWord(before, line) !== null;
  if (!word && !endsInPreviousLine) return line.text;
  const texts = line.words.map(({ text }) => text);
  if (word) texts[texts.length - 1] = word;
  return texts.slice(endsInPreviousLine ? 1 : 0).join(" ");
}

/** The word whose first half ends a line and whose second half begins the next one; null where there is none. */
function dividedWord(line: AltoLine, next: AltoLine): string | null {
  const first = line.words.at(-1)?.division;
  const second = next.words[0].division;
  return first?.half === 1 && second?.half === 2 && first.word === second.word ? first.word : null;
}
