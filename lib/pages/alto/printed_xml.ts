import { XmlScanner } from "@/lib/std/xml_scanner.ts";

/** Most characters of a document that are shown. */
const MAX_SHOWN_CHARACTERS = 4_000_000;
/** Longest line, characters: a browser lays out a longer one slowly. */
const MAX_LINE_CHARACTERS = 2000;
const TOKENS_A_STEP = 2000;
const INDENT = "  ";

/** A document as lines to be read by people. */
export interface PrintedXml {
  readonly lines: readonly string[];
  /** The end is left out. */
  readonly isCut: boolean;
}

/**
 * Lays out an XML document with one element on each line. One that is not well-formed is shown as it is. Like the reading of a
 * page, it may be stopped between its steps.
 */
export function* printXmlInSteps(xml: string): Generator<undefined, PrintedXml, void> {
  const scanner = new XmlScanner(xml);
  const lines: string[] = [];
  /** Kind of the last token on the current line. */
  let last: "open" | "text" | "close" | null = null;
  for (let tokens = 1;; tokens++) {
    const token = scanner.next();
    if (token === "malformed") return printed(xml.slice(0, MAX_SHOWN_CHARACTERS).split(/\r\n?|\n/), xml);
    if (token === "end" || scanner.end > MAX_SHOWN_CHARACTERS) return printed(lines, xml);
    const source = xml.slice(scanner.start, scanner.end);
    if (token === "text") {
      const text = source.trim().replace(/\s+/g, " ");
      if (text !== "") {
        if (last === "open" || last === "text") lines[lines.length - 1] += text;
        else lines.push(INDENT.repeat(scanner.depth) + text);
        last = "text";
      }
    } else if (token === "close" && (source === "" || last === "open" || last === "text")) {
      lines[lines.length - 1] += source;
      last = "close";
    } else {
      const depth = scanner.depth - (token === "other" ? 0 : 1);
      lines.push(INDENT.repeat(depth) + source.replace(/\n\s*/g, " "));
      last = token === "open" ? "open" : "close";
    }
    if (tokens % TOKENS_A_STEP === 0) yield;
  }
}

function printed(lines: readonly string[], xml: string): PrintedXml {
  return { lines: lines.flatMap(cutLine), isCut: xml.length > MAX_SHOWN_CHARACTERS };
}

function cutLine(line: string): string | string[] {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const count = Math.ceil(line.length / MAX_LINE_CHARACTERS);
  return Array.from({ length: count }, (_, at) => line.slice(at * MAX_LINE_CHARACTERS, (at + 1) * MAX_LINE_CHARACTERS));
}
