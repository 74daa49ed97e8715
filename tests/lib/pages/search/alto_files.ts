/** Size of the pages of {@linkcode altoFile}. */
export const PAGE = { width: 1000, height: 2000 };
/** Of each word; words are 100 apart and lines 50. */
export const WORD = { width: 90, height: 40 };

/** An ALTO file of lines of words; a word is its text, or the text and further attributes. */
export function altoFile(lines: readonly (readonly (string | readonly [text: string, more: string])[])[]): string {
  const word = (text: string, more: string, x: number, y: number) =>
    `<String CONTENT="${text}" HPOS="${x}" VPOS="${y}" WIDTH="${WORD.width}" HEIGHT="${WORD.height}" ${more}/>`;
  const rows = lines.map((words, y) =>
    `<TextLine>${
      words.map((each, x) =>
        typeof each === "string" ? word(each, "", x * 100, y * 50) : word(each[0], each[1], x * 100, y * 50)
      )
        .join("<SP/>")
    }</TextLine>`
  );
  return `<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="${PAGE.width}" HEIGHT="${PAGE.height}">` +
    `<PrintSpace><TextBlock>${rows.join("")}</TextBlock></PrintSpace></Page></Layout></alto>`;
}

/** The same of plain lines. */
export function altoOf(...lines: readonly string[]): string {
  return altoFile(lines.map((line) => line.split(" ")));
}
