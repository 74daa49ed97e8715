/** One row of a table whose columns say what it should reach and whether it did. */
export interface Verdict {
  readonly row: string;
  /** The measured value as the row shows it. */
  readonly figures: string;
  readonly toReach: string;
  readonly reached: string;
}

const TO_REACH = "to reach";
const REACHED = "reached";

const found: Verdict[] = [];

/** Remembers the verdicts in a table: those of its rows that have something to reach. */
export function noteVerdicts([head, ...rows]: readonly (readonly string[])[]): void {
  const [toReach, reached] = [head.indexOf(TO_REACH), head.indexOf(REACHED)];
  if (toReach < 0 || reached < 0) return;
  for (const row of rows) {
    if (row[toReach] === "") continue;
    const figures = row.slice(1).filter((cell, n) => ![toReach, reached].includes(n + 1) && !/^-?$/.test(cell));
    found.push({ row: row[0], figures: figures.join(", "), toReach: row[toReach], reached: row[reached] });
  }
}

/** All verdicts of this process so far, in the order of the tables. */
export function notedVerdicts(): readonly Verdict[] {
  return found;
}

/** The rows of the table of all verdicts; its first column says which measure each is of. */
export function verdictRows(verdicts: readonly (Verdict & { readonly measure: string })[]): string[][] {
  return [
    ["measure", "row", "figures", TO_REACH, REACHED],
    ...verdicts.map(({ measure, row, figures, toReach, reached }) => [measure, row, figures, toReach, reached]),
  ];
}

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

/** A share of sorted durations: 0.5 is the median. */
export function percentile(durations: readonly number[], share: number): number {
  const sorted = [...durations].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Milliseconds as a table shows them. */
export function ms(duration: number): string {
  return `${duration.toFixed(duration < 10 ? 2 : 1)} ms`;
}

/** A figure beside the most that it may be. */
export function atMost(figure: number, limit: number, unit = ""): [toReach: string, reached: string] {
  return [`≤ ${limit}${unit}`, figure <= limit ? "yes" : "NO"];
}

/** Several figures of which each has to hold. */
export function all(...verdicts: readonly (readonly [string, string])[]): [toReach: string, reached: string] {
  const missed = verdicts.filter(([, reached]) => reached !== "yes");
  return [
    verdicts.map(([toReach]) => toReach).join(", "),
    missed.length === 0 ? "yes" : `NO: ${missed.map(([toReach]) => toReach).join(", ")}`,
  ];
}

/** A ratio as a table shows it. */
export function times(ratio: number): string {
  return `${ratio.toFixed(2)} x`;
}
