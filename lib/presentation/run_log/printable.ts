const ESCAPE = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);
/** First of the pictures of control characters in Unicode. */
const PICTURES = 0x2400;

/** What a line needs to be looked at closely for. */
const UNUSUAL = /[\p{Cc}\p{Bidi_Control}]/u;
/** Colours, cursor movements and links of terminals (ECMA-48: CSI, OSC and two-byte sequences). */
const TERMINAL_SEQUENCES = new RegExp(
  `${ESCAPE}(?:\\[[\\d:;<=>?]*[ -/]*[@-~]|\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)|[@-Z^_])`,
  "g",
);
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * A line of a log as it can be shown: without the colours of terminals, and with a mark for each character that would be
 * invisible or would change the order of the others. Tabs stay.
 */
export function printable(line: string): string {
  if (!UNUSUAL.test(line)) return line;
  return line.replace(TERMINAL_SEQUENCES, "").replace(INVISIBLE, markOf);
}

function markOf(character: string): string {
  if (character === "\t") return character;
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
