import { noteVerdicts } from "./verdict_table.ts";

/** Rows as text in columns; the first row is the head. Columns of figures are flush right. */
export function table(rows: readonly (readonly string[])[]): string {
  noteVerdicts(rows);
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isFigures = rows[0].map((_, column) =>
    rows.slice(1).every((row) => /^[<>≤≥~+-]?[0-9.,]*\D{0,6}$/.test(row[column]))
  );
  const line = (row: readonly string[]) =>
    row.map((cell, i) => isFigures[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])).join("  ").trimEnd();
  return [line(rows[0]), widths.map((width) => "-".repeat(width)).join("  "), ...rows.slice(1).map(line)].join("\n");
}
