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
 * Lays JSON out in lines. Names and values stay as they are written: numbers keep all their digits, and duplicate members
 * are shown twice. A truncated text is laid out as far as it goes.
 *
 * @returns null for a text that does not start with `{` or `[`
 */
export function prettyJson(text: string): PrettyJson | null {
  if (!/^\s*[{[]/.test(text)) return null;
  const printer = new LinePrinter();
  for (const [token] of text.matchAll(TOKENS)) {
    if (printer.isFull) return { lines: printer.lines(), isCut: true };
    printer.add(token);
  }
  return { lines: printer.lines(), isCut: false };
}

/** A string, which may lack its end; a sign; or anything up to the next of these, without spaces. */
const TOKENS = /"[^"\\]*(?:\\[^][^"\\]*)*"?|[{}[\],:]|[^\s"{}[\],:]+/g;

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
