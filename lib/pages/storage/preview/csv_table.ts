/** The first rows of a file of delimited values. */
export interface CsvTable {
  readonly rows: readonly (readonly string[])[];
  readonly columns: number;
  readonly delimiter: string;
  /** There are more rows or columns than these. */
  readonly isCut: boolean;
}

const DELIMITERS = [",", ";", "\t", "|"];
/** Rows by which the delimiter is found. */
const TRIED_ROWS = 20;
const MAX_ROWS = 1000;
const MAX_COLUMNS = 100;
/** Most cells of the table: a browser lays all of them out. */
const MAX_CELLS = 20_000;
const MAX_CELL_CHARACTERS = 500;

/**
 * Reads delimited values (RFC 4180, with the delimiter that makes the most even rows).
 *
 * @param isCut the text goes on, so that its last row may be incomplete
 * @returns null for a text that is no table: one without a second column
 */
export function readCsvTable(text: string, isCut: boolean): CsvTable | null {
  const found = DELIMITERS.map((delimiter) => ({
    delimiter,
    evenness: evenness(readRows(text, delimiter, TRIED_ROWS).rows),
  }))
    .reduce((best, tried) => tried.evenness > best.evenness ? tried : best);
  if (found.evenness === 0) return null;
  const { delimiter } = found;
  const { rows, isEnd } = readRows(text, delimiter, MAX_ROWS);
  if (isEnd && isCut && rows.length > 1) rows.pop();
  const widest = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const columns = Math.min(widest, MAX_COLUMNS);
  const shown = rows.slice(0, Math.max(1, Math.floor(MAX_CELLS / columns)));
  return {
    rows: shown.map((row) => row.slice(0, columns)),
    columns,
    delimiter,
    isCut: isCut || !isEnd || shown.length < rows.length || columns < widest,
  };
}

/** How much rows look like a table: the share of those as long as the first, and then how long they are. */
function evenness(rows: readonly string[][]): number {
  const columns = rows[0]?.length ?? 0;
  if (columns < 2) return 0;
  const share = rows.filter((row) => row.length === columns).length / rows.length;
  return share + Math.min(columns, MAX_COLUMNS) / 1000;
}

function readRows(text: string, delimiter: string, most: number): { rows: string[][]; isEnd: boolean } {
  // Quoted text, further text, and the delimiter or the end of the line or of all.
  const cells = new RegExp(`(?:"([^"]*(?:""[^"]*)*)(?:"|$))?([^\\n${delimiter}]*)([\\n${delimiter}]|$)`, "y");
  const rows: string[][] = [];
  let row: string[] = [];
  while (cells.lastIndex < text.length && rows.length < most) {
    const [, quoted = "", plain = "", end = ""] = cells.exec(text) ?? [];
    if (row.length <= MAX_COLUMNS) row.push(cellOf(quoted, plain));
    if (end === delimiter) {
      if (cells.lastIndex < text.length) continue;
      if (row.length <= MAX_COLUMNS) row.push("");
    }
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return { rows, isEnd: cells.lastIndex >= text.length };
}

function cellOf(quoted: string, plain: string): string {
  const cell = quoted.slice(0, 2 * MAX_CELL_CHARACTERS).replaceAll('""', '"') + plain.slice(0, MAX_CELL_CHARACTERS);
  return cell.length > MAX_CELL_CHARACTERS ? `${cell.slice(0, MAX_CELL_CHARACTERS)}…` : cell;
}
