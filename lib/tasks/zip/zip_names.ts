import { Buffer } from "node:buffer";
import { hash } from "node:crypto";

/** The last entry of an archive, where entries were left out. No object's entry has this name. */
export const ERRORS_NAME = "_errors.txt";

/** Longest part of a name between slashes, bytes of UTF-8: what file systems allow. */
const MAX_SEGMENT_BYTES = 255;
/** An extension up to this length stays where a name is cut, bytes. */
const MAX_EXTENSION_BYTES = 32;

/** Names of devices, also with an extension (Microsoft, "Naming Files, Paths, and Namespaces"). */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|$))/i;
/** Characters that Windows excludes from names, and those that change the direction of text, which disguise extensions. */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\\:?*|"<>\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/g;

/**
 * The names of an archive's entries: the key where it is safe on every system, else a safe name like it. Names that
 * differ in case or in Unicode normalization alone would overwrite each other on some systems, and a file cannot have
 * the name of a folder: the later one gets a number.
 *
 * Each key is passed to {@link addFolders} first, then to {@link nameOf}, in the same order. Of names only hashes are
 * stored.
 */
export class EntryNames {
  readonly #folders = new Set<number>();
  readonly #used = new Set<number>([folded(ERRORS_NAME)]);
  /** The next number to try, by the hash of the name without one. */
  readonly #numbers = new Map<number, number>();

  /** The folder of the key before: neighbours share it. */
  #folder = "";

  /** Counts the folders that a key needs, so that no file gets the name of one. */
  addFolders(key: string): void {
    const folder = key.slice(0, key.lastIndexOf("/") + 1);
    if (folder === this.#folder) return;
    this.#folder = folder;
    const parents = safeSegments(key);
    if (!key.endsWith("/")) parents.pop();
    for (; parents.length > 0; parents.pop()) {
      const hashed = folded(parents.join("/"));
      // The folders above it are known as well.
      if (this.#folders.has(hashed)) return;
      this.#folders.add(hashed);
    }
  }

  /**
   * The name of an entry, and the one that it has instead when its key ends with a slash and its object has bytes; null where
   * the key does not end with a slash.
   */
  nameOf(key: string): { readonly name: string; readonly fileName: string | null } {
    const path = safeSegments(key).join("/");
    if (!key.endsWith("/")) return { name: this.#unused(path, false), fileName: null };
    return { name: `${this.#unused(path, true)}/`, fileName: this.#unused(path, false) };
  }

  #unused(path: string, isFolder: boolean): string {
    const first = folded(path);
    let number = this.#numbers.get(first) ?? 1;
    for (;; number++) {
      const name = number === 1 ? path : numbered(path, number, isFolder);
      const hashed = folded(name);
      if (this.#used.has(hashed) || (!isFolder && this.#folders.has(hashed))) continue;
      this.#used.add(hashed);
      if (isFolder) this.#folders.add(hashed);
      if (number > 1) this.#numbers.set(first, number + 1);
      return name;
    }
  }
}

/** The safe names of the parts of a key between its slashes; at least one. */
function safeSegments(key: string): string[] {
  const segments = key.toWellFormed().split("/").filter((segment) => segment !== "").map(safeSegment);
  if (segments.length === 0) segments.push("_");
  const isInFolder = segments.length > 1 || key.endsWith("/");
  // At the top, this is the list of errors, which is a file.
  if (isInFolder && foldedName(segments[0]) === ERRORS_NAME) segments[0] = `_${segments[0]}`;
  return segments;
}

function safeSegment(segment: string): string {
  const safe = segment
    .replace(UNSAFE, "_")
    // Windows drops them, and `.` and `..` are folders.
    .replace(/[. ]+$/, (end) => "_".repeat(end.length))
    .replace(DEVICE, "_$&");
  return shortened(safe, "");
}

/** The name with ` (number)` in front of its extension. */
function numbered(path: string, number: number, isFolder: boolean): string {
  const slash = path.lastIndexOf("/") + 1;
  const suffix = ` (${number})`;
  const last = path.slice(slash);
  return path.slice(0, slash) + (isFolder ? cut(last, suffix.length) + suffix : shortened(last, suffix));
}

/** A segment with `suffix` in front of its extension, cut in front of it where it is too long. */
function shortened(segment: string, suffix: string): string {
  const dot = segment.lastIndexOf(".");
  const hasExtension = dot > 0 && Buffer.byteLength(segment.slice(dot)) <= MAX_EXTENSION_BYTES;
  const extension = hasExtension ? segment.slice(dot) : "";
  const stem = hasExtension ? segment.slice(0, dot) : segment;
  return cut(stem, suffix.length + Buffer.byteLength(extension)) + suffix + extension;
}

/** Truncates a text to leave room for that many bytes, at a character boundary. */
function cut(text: string, reservedBytes: number): string {
  const maxBytes = MAX_SEGMENT_BYTES - reservedBytes;
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes + 1);
  let end = maxBytes;
  // A byte of the form 10xxxxxx continues a character.
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end).replace(/[. ]+$/, (dots) => "_".repeat(dots.length));
}

/**
 * A hash of 48 bits, equal for names that some file system takes for one. That two other names have one hash is
 * improbable, and costs one of them a number.
 */
function folded(name: string): number {
  return parseInt(hash("sha1", foldedName(name), "hex").slice(0, 12), 16);
}

/** A name without what case and normalization distinguish. */
function foldedName(name: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase();
  // Some letters have a lower case but no upper one, or the other way round.
  return name.normalize("NFC").toLowerCase().toUpperCase().toLowerCase().normalize("NFC");
}
