/** The formatter's line width: it leaves printed pages as they are. */
const LINE_WIDTH = 120;

/**
 * Breaks a text into lines of the formatter's width.
 *
 * @param indent stands before each line but the first
 */
export function wrapped(text: string, indent = ""): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= LINE_WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : indent + word);
  }
  return lines.join("\n");
}
