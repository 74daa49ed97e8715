/**
 * Compares two texts by code point: below zero when `a` comes first. `<` compares UTF-16 units, which puts U+1F600
 * before U+FB01 and so disagrees with the order of UTF-8 bytes.
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    const leftHigh = isSurrogate(left);
    if (leftHigh !== isSurrogate(right)) return leftHigh ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Text with its percent-encoding decoded once; null where that is malformed or not UTF-8. */
export function percentDecoded(text: string): string | null {
  // Most text has none, and decoding copies it character by character.
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const UNRESERVED = /^[\w.~-]*$/;

/**
 * Percent-encodes all but the unreserved characters of RFC 3986, of which `encodeURIComponent` leaves five more.
 *
 * @throws URIError for a lone surrogate
 */
export function encodeRfc3986(text: string): string {
  if (UNRESERVED.test(text)) return text;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A path or URL without the slashes at its end, in time linear in its length. */
export function withoutTrailingSlash(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}

/** A name of at most 63 lower-case letters, digits and inner hyphens (RFC 1123 label). */
export const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Beginnings that spreadsheets take for a formula: they skip blanks, control and invisible characters before it, and some read
 * full-width and small signs like the plain ones.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫−]|^[\t\r\n]/u;

/** A field of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvField(value: string | number | boolean | null | undefined): string {
  if (typeof value !== "string") return value === undefined || value === null ? "" : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The first line of an error's message, for messages of one line. */
export function errorReason(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0] : "unknown reason";
}

/**
 * A free name for a copy of a key: `scan (2).tif`. The number stands before the extension; a leading dot starts none.
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

/** The common prefix of all numbered names of a key. */
export function numberedStart(key: string): string {
  return `${stemOf(key)} (`;
}

function stemOf(key: string): string {
  const nameAt = key.lastIndexOf("/") + 1;
  const dotAt = key.lastIndexOf(".");
  return key.slice(0, dotAt > nameAt ? dotAt : key.length);
}
