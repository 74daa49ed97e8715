import { findRecord } from "./log_lines.ts";

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
  /** The current state of a progress bar, unless a later one overwrites it. */
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

/** First of the pictures of control characters in Unicode. */
const PICTURES = 0x2400;

/** Only a line with such a character needs cleaning. */
const UNUSUAL = /[\p{Cc}\p{Bidi_Control}]/u;
/**
 * Colours, cursor movements, titles and links of terminals, each in its 7-bit and its 8-bit form (ECMA-48: CSI; OSC, DCS and
 * other strings up to their terminator; sequences of two and more bytes).
 */
const TERMINAL_SEQUENCES = new RegExp(
  String.raw`(?:\x1b\[|\x9b)[\d:;<=>?]*[ -/]*[@-~]` +
    String.raw`|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)` +
    String.raw`|\x1b(?![\[\]PX^_])[ -/]*[0-~]`,
  "g",
);
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * A line of a log as it can be shown: without the colours of terminals, and with a mark for each character that would be
 * invisible or would change the order of the others. Tabs stay.
 */
export function printable(line: string): string {
  if (!UNUSUAL.test(line)) return line;
  return withoutSequences(line).replace(INVISIBLE, markOf);
}

/** A text without the control sequences of terminals. */
function withoutSequences(text: string): string {
  return text.replace(TERMINAL_SEQUENCES, "");
}

function markOf(character: string): string {
  if (character === "\t") return character;
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Bytes that are read between two steps. */
const BYTES_A_STEP = 256 * 1024;
const BACKSLASH = 0x5c;
const ESCAPES: ReadonlyMap<number, number> = new Map(
  [["n", "\n"], ["t", "\t"], ["r", "\r"], ["\\", "\\"], ["'", "'"], ['"', '"']]
    .map(([escape, meant]) => [escape.charCodeAt(0), meant.charCodeAt(0)]),
);

/**
 * The text of a log that was stored as the printed form of a byte string, `b'…\n…'` on one line, as old workers did; any
 * other text as it is.
 */
export function* unwrapInSteps(text: string): Generator<undefined, string, void> {
  if (!/^b['"]/.test(text)) return text;
  const printed = text.trimEnd();
  const isBytes = printed.length > 2 && printed.endsWith(printed[1]) && !printed.includes("\n");
  if (!isBytes) return text;
  const bytes = new TextEncoder().encode(printed.slice(2, -1));
  return new TextDecoder().decode(yield* unescapeInSteps(bytes));
}

/** Undoes the escapes of a printed byte string, in place; an escape of another kind stays as it is. */
function* unescapeInSteps(bytes: Uint8Array): Generator<undefined, Uint8Array, void> {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const meant = bytes[at] === BACKSLASH ? ESCAPES.get(bytes[at + 1]) : undefined;
    const hex = bytes[at] === BACKSLASH && bytes[at + 1] === 0x78 ? hexByte(bytes[at + 2], bytes[at + 3]) : null;
    bytes[length++] = hex ?? meant ?? bytes[at];
    if (hex !== null) at += 3;
    else if (meant !== undefined) at += 1;
    if (length % BYTES_A_STEP === 0) yield;
  }
  return bytes.subarray(0, length);
}

function hexByte(high: number | undefined, low: number | undefined): number | null {
  const digits = String.fromCharCode(high ?? 0, low ?? 0);
  return /^[0-9a-fA-F]{2}$/.test(digits) ? parseInt(digits, 16) : null;
}
