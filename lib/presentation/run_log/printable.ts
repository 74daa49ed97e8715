/** First of the pictures of control characters in Unicode. */
const PICTURES = 0x2400;

/** What a line needs to be looked at closely for. */
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
export function withoutSequences(text: string): string {
  return text.replace(TERMINAL_SEQUENCES, "");
}

function markOf(character: string): string {
  if (character === "\t") return character;
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
