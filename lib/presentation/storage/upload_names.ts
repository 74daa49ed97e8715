/** Longest key (S3 API), bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;

/** Why no object can have a name. */
type NameProblem = "too long" | "half a character";

const encoder = new TextEncoder();

/** @returns null for a key that objects may have */
export function keyProblem(key: string): NameProblem | null {
  if (!key.isWellFormed()) return "half a character";
  return encoder.encode(key).length > MAX_KEY_BYTES ? "too long" : null;
}

/** Whether a URL can carry a key: browsers remove `.` and `..` segments from paths. */
export function fitsUrl(key: string): boolean {
  return !/(?:^|\/)\.{1,2}(?:\/|$)/.test(key);
}

/** The order of keys in listings, by UTF-8 bytes. JavaScript's own order differs beyond U+FFFF. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return inUtf8Order(left) - inUtf8Order(right);
  }
  return a.length - b.length;
}

/** A code unit such that surrogates, which stand for code points above all others, are the highest. */
function inUtf8Order(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * A name beside one that is taken: `scan (2).tif`. The number stands before the extension; a leading dot begins none.
 *
 * @param isTaken whether a key is in use
 */
export function freeKey(key: string, isTaken: (key: string) => boolean): string {
  const end = key.slice(stemOf(key).length);
  for (let number = 2;; number++) {
    const free = `${numberedStart(key)}${number})${end}`;
    if (!isTaken(free)) return free;
  }
}

/** What all names begin with that stand beside a taken one. */
export function numberedStart(key: string): string {
  return `${stemOf(key)} (`;
}

function stemOf(key: string): string {
  const nameAt = key.lastIndexOf("/") + 1;
  const dotAt = key.lastIndexOf(".");
  return key.slice(0, dotAt > nameAt ? dotAt : key.length);
}
