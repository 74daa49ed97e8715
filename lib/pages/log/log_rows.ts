import { isAnswered, isShown, type LevelFilter, lineText, type LogLine } from "./log_lines.ts";
import type { LogStage, RunLog } from "./run_log.ts";
import { lowerBound } from "@/lib/std/lower_bound.ts";

/** Fewest consecutive requests with a separate row; fewer are folded into the row of the next line. */
const MIN_FOLDED = 3;
/** Rows that a browser adds to the page within a few milliseconds. */
const ROWS_A_BLOCK = 100;
/** Characters of a block, unless one line has more. */
const CHARACTERS_A_BLOCK = 20_000;
/** Characters of a line that are shown; a line may have millions. */
export const MAX_LINE_CHARACTERS = 10_000;

/** Requests that are folded to one sentence. */
export interface FoldedRequests {
  readonly requests: readonly LogLine[];
  /** The line after them, whose row they are folded into; null: they have a separate row. */
  readonly line: LogLine | null;
}

/** A row of the log: a line, or folded requests, or both. */
export type LogRow = LogLine | FoldedRequests;

/** Rows that are shown or left out together, so that a page of a long log stays small. */
export interface RowBlock {
  readonly rows: readonly LogRow[];
  /** Number of its first line. */
  readonly first: number;
  /** Number of its last line. */
  readonly last: number;
}

/** The rows of a stage that pass a filter. */
export function rowsOf({ folds }: LogStage, filter: LevelFilter): readonly LogRow[] {
  const rows: LogRow[] = [];
  let folded: readonly LogLine[] = [];
  for (const [place, { kind, lines }] of folds.entries()) {
    const shown = filter === "all" ? lines : lines.filter((line) => isShown(line, filter));
    if (kind === "http" && shown.length >= MIN_FOLDED) rows.push({ requests: shown, line: null });
    else if (kind === "http" && folds[place + 1]?.lines[0].level === "INFO" && shown.every(isAnswered)) folded = shown;
    else {
      for (const line of shown) {
        rows.push(folded.length > 0 ? { requests: folded, line } : line);
        folded = [];
      }
    }
  }
  return rows;
}

/** Divides rows into blocks of limited size. */
export function blocksOf(rows: readonly LogRow[]): readonly RowBlock[] {
  const blocks: { rows: LogRow[]; first: number; last: number }[] = [];
  let free = 0;
  for (const row of rows) {
    if (free <= 0 || (blocks.at(-1)?.rows.length ?? 0) >= ROWS_A_BLOCK) {
      blocks.push({ rows: [], first: firstOf(row).number, last: 0 });
      free = CHARACTERS_A_BLOCK;
    }
    const block = blocks[blocks.length - 1];
    block.rows.push(row);
    block.last = lastOf(row).number;
    const line = "requests" in row ? row.line : row;
    free -= Math.min(line?.message.length ?? 0, MAX_LINE_CHARACTERS);
  }
  return blocks;
}

/** The first line of a row. */
function firstOf(row: LogRow): LogLine {
  return "requests" in row ? row.requests[0] : row;
}

/** The last line of a row. */
function lastOf(row: LogRow): LogLine {
  return "requests" in row ? row.line ?? row.requests[row.requests.length - 1] : row;
}

/** The lines of a row. */
export function linesOf(row: LogRow): readonly LogLine[] {
  if (!("requests" in row)) return [row];
  return row.line === null ? row.requests : [...row.requests, row.line];
}

/** Finds a text in lines as they are shown, without regard to case. */
export interface LineSearch {
  /** For `replaceAll` and `matchAll`: each match is a hit. */
  readonly pattern: RegExp;
  /** Numbers of the lines with a hit, ascending. */
  readonly lines: readonly number[];
}

/** @returns null for an empty query */
export function searchLines(stages: readonly LogStage[], filter: LevelFilter, query: string): LineSearch | null {
  const wanted = query.trim();
  if (wanted === "") return null;
  const escaped = wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const pattern = new RegExp(escaped, "giu");
  const test = new RegExp(escaped, "iu");
  const lines: number[] = [];
  for (const { folds } of stages) {
    for (const fold of folds) {
      for (const line of fold.lines) {
        if (isShown(line, filter) && test.test(lineText(line))) lines.push(line.number);
      }
    }
  }
  return { pattern, lines };
}

/** How many hits are among the lines from one number to another. */
export function hitsWithin(lines: readonly number[], first: number, last: number): number {
  return placeOfHit(lines, last + 1) - placeOfHit(lines, first);
}

/** The place of a line in the ascending numbers of hits, or of the first hit behind it. */
export function placeOfHit(lines: readonly number[], number: number): number {
  return lowerBound(lines.length, (place) => lines[place] < number);
}

/** A line that the fragment of an address names. */
export interface LineLink {
  readonly number: number;
  /** `HH:MM:SS.mmm`; null: the number alone counts. */
  readonly time: string | null;
}

/** Reads `#L12` and `#L12@08:15:00.250`; null for any other fragment. */
export function readLineLink(hash: string): LineLink | null {
  const link = /^#L(\d{1,15})(?:@(\d{2}:\d{2}:\d{2}\.\d{3}))?$/.exec(decoded(hash));
  return link && { number: Number(link[1]), time: link[2] ?? null };
}

/**
 * The fragment that names a line. The numbers are those of the whole file. Behind a middle that a worker left out, they
 * change while the log grows, so that the time of the line is added.
 */
export function writeLineLink({ number, time }: LogLine, { cutNumber }: RunLog): string {
  return cutNumber !== null && number > cutNumber && time !== null ? `#L${number}@${time}` : `#L${number}`;
}

/**
 * The line that a link means: the one with its number, or, where the link has a time that is not that line's, the nearest
 * with that time.
 *
 * @returns null where it is not among the lines that are shown
 */
export function findLinkedLine({ stages }: RunLog, { number, time }: LineLink): LogLine | null {
  let nearest: LogLine | null = null;
  for (const { folds } of stages) {
    for (const { lines } of folds) {
      for (const line of lines) {
        if (line.number === number && (time === null || line.time === time)) return line;
        const isNearer = Math.abs(line.number - number) < Math.abs((nearest?.number ?? Infinity) - number);
        if (time !== null && line.time === time && isNearer) nearest = line;
      }
    }
  }
  return nearest;
}

function decoded(hash: string): string {
  return hash.replace(/%40/g, "@").replace(/%3A/gi, ":");
}
