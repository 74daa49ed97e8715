/** One encoded word (RFC 2047, section 2), perhaps with a language (RFC 2231, section 5). */
const WORD = /=\?([\w.:-]+)(?:\*[\w-]*)?\?([bq])\?([^? \t]*)\?=/gi;
/** Encoded words in a row: the white space between them is no text (RFC 2047, section 6.2). */
const WORDS = /=\?[\w.:-]+(?:\*[\w-]*)?\?[bq]\?[^? \t]*\?=(?:[ \t]+=\?[\w.:-]+(?:\*[\w-]*)?\?[bq]\?[^? \t]*\?=)*/gi;
/** Bytes of an encoded word: in base64 with its frame they are fewer than the 75 characters it may have. */
const MAX_WORD_BYTES = 45;
const PLAIN = /^[\t\x20-\x7e]*$/;

const ENCODER = new TextEncoder();

/** The text of a header whose characters stand for bytes: those of UTF-8, or else of Latin-1. */
export function utf8Text(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
  // A character beyond Latin-1 is no byte: the value is a text already.
  if (/[^\0-\xff]/.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return value;
  }
}

/** A text in UTF-8 as a header value, one character for each byte. */
export function utf8Value(text: string): string {
  return PLAIN.test(text) ? text : binary(ENCODER.encode(text));
}

/** A text as a header value in ASCII: encoded words (RFC 2047) where it is more than printable ASCII. */
export function encodeWords(text: string): string {
  if (PLAIN.test(text) && text === text.trim() && decodeWords(text) === text) return text;
  const words: string[] = [];
  let bytes: number[] = [];
  const close = () => {
    words.push(`=?UTF-8?B?${btoa(binary(bytes))}?=`);
    bytes = [];
  };
  for (const character of text.toWellFormed()) {
    const encoded = ENCODER.encode(character);
    if (bytes.length + encoded.length > MAX_WORD_BYTES) close();
    bytes.push(...encoded);
  }
  close();
  return words.join(" ");
}

/** Decodes the encoded words of a header value (RFC 2047). Those that cannot be decoded stay as they are. */
export function decodeWords(value: string): string {
  if (!value.includes("=?")) return value;
  return value.replace(WORDS, (words) => {
    try {
      return decoded(words);
    } catch {
      return words;
    }
  });
}

function decoded(words: string): string {
  let text = "";
  let bytes: number[] = [];
  let charset = "";
  const close = () => {
    if (bytes.length > 0) text += new TextDecoder(charset, { fatal: true }).decode(Uint8Array.from(bytes));
    bytes = [];
  };
  for (const [, label, encoding, content] of words.matchAll(WORD)) {
    // Some writers cut a character in two: neighbours of one charset are decoded together.
    if (label.toLowerCase() !== charset) close();
    charset = label.toLowerCase();
    const raw = encoding.toLowerCase() === "b" ? atob(content) : unquoted(content);
    for (const character of raw) bytes.push(character.charCodeAt(0));
  }
  close();
  return text;
}

/** @throws Error for a malformed escape */
function unquoted(content: string): string {
  if (/=(?![0-9a-f]{2})|[^\x21-\x7e]/i.test(content)) throw new Error("not the Q encoding");
  return content.replaceAll("_", " ").replace(/=(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
}

function binary(bytes: Iterable<number>): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/**
 * The file name parameters of a Content-Disposition (RFC 6266): the name in `filename*`, and in `filename` with what old
 * clients cannot read replaced. Path separators and control characters are no part of a file's name.
 */
export function fileNameParameters(filename: string): string {
  const name = filename.toWellFormed().replace(/[/\\\p{Cc}]/gu, "_");
  const plain = name.replace(/[^\x20-\x7e]|["%]/gu, "_");
  return `; filename="${plain}"` + (plain === name ? "" : `; filename*=UTF-8''${extended(name)}`);
}

/** RFC 8187, section 3.2.1. */
function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

const FILE_NAME = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/i;

/** A Content-Disposition in ASCII: a file name that is more comes as `filename*` (RFC 6266, section 4.3). */
export function asciiDisposition(value: string): string {
  const text = decodeWords(utf8Text(value));
  if (PLAIN.test(text)) return text;
  const hasExtended = /;\s*filename\*\s*=/i.test(text);
  const sent = text.replace(FILE_NAME, (_, quoted: string | undefined, token: string | undefined) => {
    const parameters = fileNameParameters(quoted?.replace(/\\(.)/g, "$1") ?? token?.trim() ?? "");
    return hasExtended ? parameters.replace(/; filename\*=.*$/, "") : parameters;
  });
  return sent.toWellFormed().replace(/[^\x20-\x7e]+/gu, encodeURIComponent);
}

/** One range of bytes, both ends inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The part of a body of `size` bytes that a Range header selects (RFC 9110, section 14.2): null for the whole body,
 * also where the header is of another unit, malformed or has several ranges, which a server may ignore;
 * `"unsatisfiable"` when it selects bytes past the end.
 */
export function parseByteRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return null;
  if (match[1] === "") {
    const length = Number(match[2]);
    if (length === 0 || size === 0) return "unsatisfiable";
    return { first: Math.max(0, size - length), last: size - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Number(match[2]);
  if (match[2] !== "" && last < first) return null;
  return first >= size ? "unsatisfiable" : { first, last: Math.min(last, size - 1) };
}
