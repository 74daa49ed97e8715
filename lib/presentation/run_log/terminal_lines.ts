import { findRecord } from "./lines.ts";
import { withoutSequences } from "./printable.ts";

/** Characters that are read between two steps. */
const CHARACTERS_A_STEP = 256 * 1024;
const CURSOR_UP = new RegExp(String.raw`(?:\x1b\[|\x9b)\d*A`);
/** A state of a progress bar, as tqdm, pip and wget write them. */
const PROGRESS = /\d ?%|\b\d+\/\d+\b|[\d?](?:it|s)\/(?:it|s)\b|\.{3,}\s*$/;
/** The start of an error's text where it follows a progress bar, which ends without a line feed. */
const ERROR_START =
  /(?: {0,8}\+ Exception Group )?Traceback \(most recent call last\):|╭─[─ ]{0,200}Traceback \(most|Exception (?:in thread|ignored in) /;
/** Characters of a state that are compared with the next one. */
const MAX_COMPARED = 300;

/**
 * The lines of a log as a terminal leaves them, parted by line feeds. Carriage returns part lines as well. Of states of a
 * progress bar that overwrite each other, only the last one is a line, and a record directly behind it is the next line.
 */
export function* terminalLinesInSteps(text: string): Generator<undefined, string, void> {
  const hasCursorUp = CURSOR_UP.test(text);
  const pieces: string[] = [];
  /** Characters of the text that are in the pieces. */
  let taken = 0;
  for (let start = 0, step = CHARACTERS_A_STEP; start < text.length;) {
    let end = lineEnd(text, start);
    // Nested bars move back up after each state of a lower one.
    for (let next = end; hasCursorUp && end < text.length; end = next) {
      next = lineEnd(text, end + 1);
      if (!CURSOR_UP.test(text.slice(end + 1, next))) break;
    }
    const line = text.slice(start, end);
    if (hasSeveralLines(line)) {
      const lines = yield* linesWithin(line);
      pieces.push(text.slice(taken, start), lines.join("\n"));
      taken = end;
    }
    start = end + 1;
    if (start < step) continue;
    step = start + CHARACTERS_A_STEP;
    yield;
  }
  return taken === 0 ? text : pieces.join("") + text.slice(taken);
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}

/** A carriage return at the end of a line is part of its line end. */
function hasSeveralLines(line: string): boolean {
  if (/[\r\n](?!$)/.test(line)) return true;
  const at = findNextLine(line) ?? 0;
  return at > 0 && PROGRESS.test(line.slice(0, at));
}

/** Where a record, or an error behind a progress bar, starts within a text that is one line; null: nowhere. */
function findNextLine(text: string): number | null {
  const record = findRecord(text);
  const error = text.search(ERROR_START);
  const isBehindBar = error > 0 && (record === null || error < record) && PROGRESS.test(text.slice(0, error));
  return isBehindBar ? error : record;
}

function* linesWithin(text: string): Generator<undefined, readonly string[], void> {
  const lines: string[] = [];
  /** Not followed by a line that overwrites it so far. */
  let state: string | null = null;
  const parts = /[^\r\n]+/g;
  let step = CHARACTERS_A_STEP;
  for (let part = parts.exec(text); part; part = parts.exec(text)) {
    const at = findNextLine(part[0]);
    const plain = part[0].slice(0, at ?? part[0].length).replace(/[\b]+$/, "");
    if (withoutSequences(plain).trim() !== "") {
      if (state !== null && !overwrites(plain, state)) lines.push(state);
      state = plain;
    }
    if (at !== null) {
      if (state !== null) lines.push(state);
      state = null;
      lines.push(part[0].slice(at));
    }
    if (parts.lastIndex < step) continue;
    step = parts.lastIndex + CHARACTERS_A_STEP;
    yield;
  }
  if (state !== null) lines.push(state);
  return lines;
}

/** Whether a text is a later state of the same: both are progress, or they differ in no letter, as spinners do. */
function overwrites(text: string, before: string): boolean {
  const [now, then] = [text, before].map((state) => state.slice(0, MAX_COMPARED));
  return PROGRESS.test(now) && PROGRESS.test(then) || lettersOf(now) === lettersOf(then);
}

const lettersOf = (text: string) => withoutSequences(text).replace(/[^\p{L}]+/gu, "");
