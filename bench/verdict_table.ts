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
