import { standIn } from "@/lib/pages/storage/key_names.ts";

/** The first bytes of a file as text. */
export interface TextBeginning {
  /** Lines end in `\n`; what cannot be seen, or changes the direction of what follows, is written out. */
  readonly text: string;
  readonly encoding: "UTF-8" | "UTF-16" | "Windows-1252";
}

/** Control characters among a thousand above which bytes are no text. */
const MOST_CONTROLS = 20;
/** Controls that texts hold: tab, line feed, vertical tab, form feed, carriage return, escape. */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);
/** Controls but line feeds and tabs, and what changes the direction of the text. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Reads bytes as text: by a byte order mark, else as UTF-8, else as Windows-1252.
 *
 * @param isCut the file goes on, so that the last character may lack bytes
 * @returns null for what is no text
 */
export function readTextBeginning(bytes: Uint8Array, isCut: boolean): TextBeginning | null {
  const { text, encoding } = decoded(bytes, isCut);
  if (text.includes("\0") || controlsIn(text) * 1000 > text.length * MOST_CONTROLS) return null;
  return { text: text.replace(/\r\n?/g, "\n").replace(UNSEEN, standIn), encoding };
}

function decoded(bytes: Uint8Array, isCut: boolean): TextBeginning {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe
    ? "utf-16le"
    : bytes[0] === 0xfe && bytes[1] === 0xff
    ? "utf-16be"
    : null;
  if (wide !== null) return { text: new TextDecoder(wide).decode(bytes, { stream: isCut }), encoding: "UTF-16" };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut }), encoding: "UTF-8" };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "Windows-1252" };
  }
}

function controlsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 ? !TEXT_CONTROLS.has(code) : code >= 0x7f && code < 0xa0) count++;
  }
  return count;
}
