/** JSON with one member or entry a line. */
interface PrettyJson {
  readonly lines: readonly string[];
  /** There is more of it than is shown. */
  readonly isCut: boolean;
}

/** Most characters that are printed: spaces may make many of few. */
const MAX_CHARACTERS = 1024 * 1024;
const MAX_LINES = 20_000;
/** Deeper levels are not indented further. */
const MAX_LEVELS = 30;

/**
 * Lays JSON out in lines. Names and values stay as they are written: numbers keep all their digits, and of a member that
 * is there twice both are shown. A text that is cut anywhere is laid out as far as it goes.
 *
 * @returns null for a text that does not begin like an object or a list
 */
export function prettyJson(text: string): PrettyJson | null {
  const start = text.search(/\S/);
  if (text[start] !== "{" && text[start] !== "[") return null;
  const printer = new LinePrinter();
  for (let at = start; at < text.length;) {
    if (printer.isFull) return { lines: printer.lines(), isCut: true };
    const end = tokenEnd(text, at);
    const token = text.slice(at, end);
    if (!/^\s/.test(token)) printer.add(token);
    at = end;
  }
  return { lines: printer.lines(), isCut: false };
}

/** Where a token ends: a string, a sign, spaces, or anything up to the next of these. */
function tokenEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (SIGNS.includes(first)) return start + 1;
  const isSpace = (character: string) => /\s/.test(character);
  const isSame = isSpace(first)
    ? isSpace
    : (character: string) => !isSpace(character) && character !== '"' && !SIGNS.includes(character);
  let end = start + 1;
  while (end < text.length && isSame(text[end])) end++;
  return end;
}

const SIGNS = "{}[],:";

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

class LinePrinter {
  readonly #lines: string[] = [];
  #line = "";
  #level = 0;
  #characters = 0;
  /** The line ends in a bracket that was just opened. */
  #isOpened = false;

  get isFull(): boolean {
    return this.#characters > MAX_CHARACTERS || this.#lines.length > MAX_LINES;
  }

  add(token: string): void {
    const wasOpened = this.#isOpened;
    this.#isOpened = false;
    if (token === "}" || token === "]") {
      this.#level = Math.max(0, this.#level - 1);
      if (!wasOpened) this.#break();
      this.#line += token;
      return;
    }
    if (wasOpened) this.#break();
    if (token === ",") {
      this.#line += token;
      this.#break();
    } else if (token === ":") {
      this.#line += ": ";
    } else {
      this.#line += token;
      if (token === "{" || token === "[") {
        this.#level++;
        this.#isOpened = true;
      }
    }
  }

  lines(): string[] {
    return this.#line.trim() === "" ? this.#lines : [...this.#lines, this.#line];
  }

  #break(): void {
    this.#lines.push(this.#line);
    this.#characters += this.#line.length;
    this.#line = "  ".repeat(Math.min(this.#level, MAX_LEVELS));
  }
}
