/** A part of a name: what is shown as it is, or what stands for characters that could not be seen. */
interface NamePart {
  readonly text: string;
  readonly isStandIn: boolean;
}

/** Spaces that are easily missed: at either end, and several in a row. */
const MISSED_SPACES = /^ +| +$| {2,}/.source;
/** Controls, formats such as changes of direction, separators, and what is no character. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]|(?! )\p{Zs}/u.source;
/** A mark that would change the character before the name. */
const LONE_MARK = /^\p{M}/u.source;
const STAND_INS = new RegExp(`${MISSED_SPACES}|${UNSEEN}|${LONE_MARK}`, "gu");
/** Most names: printable ASCII and Latin letters, with single spaces between. */
const PLAIN = /^[!-~À-ÿĀ-ɏ]+(?: [!-~À-ÿĀ-ɏ]+)*$/u;
const STAND_INS_OR_LETTERS = new RegExp(`${STAND_INS.source}|[^ -~]`, "gu");
/** A joiner within an emoji shows as part of it. */
const EMOJI_JOINER = /(?<=[\p{Extended_Pictographic}\u{fe0f}\p{Emoji_Modifier}])\u200d(?=\p{Extended_Pictographic})/gu;

/**
 * A key, or a part of one, as it can be read faithfully: what cannot be seen, or would change how the text around it is
 * shown, is written out. Parts of a path that are not in Unicode's form NFC look like others that are, and are marked.
 *
 * @see https://www.unicode.org/reports/tr15/
 */
export function nameParts(name: string): NamePart[] {
  if (PLAIN.test(name)) return [{ text: name, isStandIn: false }];
  if (name === name.normalize("NFC")) return writtenOut(name, STAND_INS);
  return name.split(/(\/)/).flatMap((part) => {
    if (part === part.normalize("NFC")) return writtenOut(part, STAND_INS);
    if (part !== part.normalize("NFD")) return writtenOut(part, STAND_INS_OR_LETTERS);
    return [...writtenOut(part, STAND_INS), { text: "⟨NFD⟩", isStandIn: true }];
  });
}

function writtenOut(name: string, standIns: RegExp): NamePart[] {
  const joiners = new Set([...name.matchAll(EMOJI_JOINER)].map(({ index }) => index));
  const parts: NamePart[] = [];
  let at = 0;
  const plain = (end: number) => {
    if (end > at) parts.push({ text: name.slice(at, end), isStandIn: false });
  };
  for (const { 0: odd, index } of name.matchAll(standIns)) {
    if (joiners.has(index)) continue;
    plain(index);
    parts.push({ text: [...odd].map(standIn).join(""), isStandIn: true });
    at = index + odd.length;
  }
  plain(name.length);
  return parts;
}

/** The same as one text, for labels and titles. */
export function plainName(name: string): string {
  return nameParts(name).map(({ text }) => text).join("");
}

/** A sign for spaces, and the code of all else: few fonts have the pictures of controls. */
export function standIn(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x20) return "␣";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The name of a row in its folder: what follows the folder's prefix; a folder ends in its slash. */
export function nameIn(prefix: string, key: string): string {
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

/** The folders around a key or a prefix, outermost first: their names without slash, and their prefixes. */
export function foldersOf(prefix: string): { readonly name: string; readonly prefix: string }[] {
  const folders = [];
  for (let slash = prefix.indexOf("/"), start = 0; slash >= 0; slash = prefix.indexOf("/", start)) {
    folders.push({ name: prefix.slice(start, slash), prefix: prefix.slice(0, slash + 1) });
    start = slash + 1;
  }
  return folders;
}

/** The prefix of the folder that a key lies in. */
export function folderOf(key: string): string {
  const own = key.endsWith("/") ? key.slice(0, -1) : key;
  return own.slice(0, own.lastIndexOf("/") + 1);
}

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

/** Why a folder cannot hold a name; null: it can. */
export function nameProblem(prefix: string, name: string): "empty" | "slash" | NameProblem | null {
  if (name === "") return "empty";
  return name.includes("/") ? "slash" : keyProblem(`${prefix}${name}/`);
}
