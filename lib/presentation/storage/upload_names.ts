/** Longest key (S3 API), bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;

/** Why no object can have a name. */
export type NameProblem = "too long" | "half a character";

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

/** Why a folder cannot hold a name; null: it can. */
export function nameProblem(prefix: string, name: string): "empty" | "slash" | NameProblem | null {
  if (name === "") return "empty";
  return name.includes("/") ? "slash" : keyProblem(`${prefix}${name}/`);
}
