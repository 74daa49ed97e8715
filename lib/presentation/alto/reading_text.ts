import type { AltoLine, AltoPage } from "./alto_page.ts";
import { withDirectionMark } from "./direction.ts";

/**
 * The text of a page for search and copying: a line each, an empty line between blocks, and words that a line break divides
 * as one word on the line where they begin. A half without the other one stays as it is written. A line whose first letter
 * belies its direction begins with a mark of it.
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

/** The word whose first half ends a line and whose second half begins the next one; null where there is none. */
function dividedWord(line: AltoLine, next: AltoLine): string | null {
  const first = line.words.at(-1)?.division;
  const second = next.words[0].division;
  return first?.half === 1 && second?.half === 2 && first.word === second.word ? first.word : null;
}
