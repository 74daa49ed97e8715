/** The beginning of a file of delimited values. */
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
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length && rows.length < most) {
    const { cell, end } = readCell(text, at, delimiter);
    if (row.length <= MAX_COLUMNS) row.push(cell);
    at = end + 1;
    if (text[end] === delimiter) {
      if (at < text.length) continue;
      if (row.length <= MAX_COLUMNS) row.push("");
    }
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return { rows, isEnd: at >= text.length };
}

/** A cell, and where its delimiter or the end of its line stands. */
function readCell(text: string, start: number, delimiter: string): { readonly cell: string; readonly end: number } {
  let cell = "";
  let at = start;
  if (text[at] === '"') {
    for (at++; at < text.length; at++) {
      if (text[at] !== '"') continue;
      if (text[at + 1] !== '"') break;
      at++;
    }
    cell = text.slice(start + 1, Math.min(at, start + 1 + 2 * MAX_CELL_CHARACTERS)).replaceAll('""', '"');
    at++;
  }
  const from = at;
  while (at < text.length && text[at] !== delimiter && text[at] !== "\n") at++;
  cell += text.slice(from, Math.min(at, from + MAX_CELL_CHARACTERS));
  return { cell: cell.length > MAX_CELL_CHARACTERS ? `${cell.slice(0, MAX_CELL_CHARACTERS)}…` : cell, end: at };
}
