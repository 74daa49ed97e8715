/** Control characters, separators of lines, and what turns the direction of a text. JSON escapes those below U+0020. */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A record as JSON on one line, which no character of a name can end or disguise. */
export function jsonText(record: object): string {
  return oneLine(JSON.stringify(record));
}

/** A text with escapes as those of JSON for what could end its line or disguise it. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
