/** Control characters that JSON leaves as they are, separators of lines, and what turns the direction of a text. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A record as JSON on one line, which no character of a name can end or disguise. */
export function jsonText(record: object): string {
  return JSON.stringify(record).replace(UNSAFE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
