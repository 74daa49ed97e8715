import { byteSearch } from "@/lib/std/byte_search.ts";
import { unescapeXml } from "@/lib/std/unescape_xml.ts";
import { urlDecoded } from "./xml_values.ts";
import { MalformedXml } from "./xml.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Writes a ListObjectsV2 response as the JSON of its `ObjectPage`, from the bytes that came to the bytes that go, in the
 * store's own order. No text and no object is created in between, which would cost three times as much as this.
 *
 * @returns null for a document that is not written as stores write it: with sections or comments, attributes or prefixes
 *   below the root, or values in other forms. `parseObjectPage` reads those, or says what is wrong with them.
 */
export function objectPageJson(xml: Uint8Array): Bytes | null {
  try {
    return new PageWriter(xml).json();
  } catch (error) {
    if (error === UNUSUAL || error instanceof MalformedXml) return null;
    throw error;
  }
}

/** Thrown where a document is not in the usual form; one object, since a stack would cost more than the attempt. */
const UNUSUAL = new MalformedXml("not in the form in which stores write a listing");

const encoder = new TextEncoder();
/** A byte order mark within a document is a character of its text. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const bytes = (text: string): Uint8Array => encoder.encode(text);

const [SPACE, QUOTE, AMPERSAND, SLASH, LESS_THAN, GREATER_THAN, QUESTION, BACKSLASH] = bytes(' "&/<>?\\');
const [COMMA, ZERO, NINE, DOT, ZULU, LINE_FEED, RETURN, TAB] = bytes(",09.Z\n\r\t");

const DECLARATION = bytes("<?xml");
const ROOT = bytes("ListBucketResult");
const CONTENTS = bytes("Contents");
const OWNER = bytes("Owner");
const COMMON_PREFIXES = bytes("CommonPrefixes");
const ENTRY_MEMBERS = ["Key", "LastModified", "ETag", "Size", "StorageClass"].map(bytes);
const [KEY, LAST_MODIFIED, ETAG, SIZE, STORAGE_CLASS] = ENTRY_MEMBERS.keys();
const OWNER_MEMBERS = ["ID", "DisplayName"].map(bytes);
/** Where the members of an owner are among those of its entry. */
const [ID, DISPLAY_NAME] = OWNER_MEMBERS.keys().map((index) => index + ENTRY_MEMBERS.length);
const PREFIX_MEMBERS = ["Prefix"].map(bytes);
const PAGE_MEMBERS = ["EncodingType", "IsTruncated", "NextContinuationToken", "KeyCount"].map(bytes);
const [ENCODING_TYPE, IS_TRUNCATED, TOKEN, KEY_COUNT] = PAGE_MEMBERS.keys();

const QUOT = bytes("&quot;");
const TRUE = bytes("true");
const FALSE = bytes("false");
const URL_ENCODED = bytes("url");
const findEncoding = byteSearch(bytes("<EncodingType>url</EncodingType>"));
const TIMESTAMP = bytes("dddd-dd-ddTdd:dd:dd");
const [DIGIT] = TIMESTAMP;
const MICROSECONDS = bytes('000Z"');
const NO_FRACTION = bytes('Z"');
const NULL = bytes("null");

const JSON_PAGE = bytes('{"objects":[');
const JSON_KEY = bytes('{"Key":');
const JSON_SIZE = bytes(',"Size":');
const JSON_LAST_MODIFIED = bytes(',"LastModified":');
const JSON_ETAG = bytes(',"ETag":');
const JSON_STORAGE_CLASS = bytes(',"StorageClass":');
const JSON_OWNER = bytes(',"Owner":');
const JSON_DISPLAY_NAME = bytes('{"DisplayName":');
const JSON_ID = bytes(',"ID":');
const JSON_END = bytes("}");
const JSON_PREFIXES = bytes('],"common_prefixes":[');
const JSON_IS_TRUNCATED = bytes('],"is_truncated":');
const JSON_TOKEN = bytes(',"next_continuation_token":');
const JSON_KEY_COUNT = bytes(',"key_count":');

/** Whether a byte of an XML text is the same in a JSON text. */
const isSame = plainBytes('"&\\');
/** The same of a name with `EncodingType` url. */
const isSameInName = plainBytes('"&\\%+');

function plainBytes(except: string): Uint8Array {
  const others = bytes(except);
  return Uint8Array.from({ length: 256 }, (_, byte) => byte >= SPACE && byte < 0x7f && !others.includes(byte) ? 1 : 0);
}

/** Longest number that is written digit by digit; each such number is a safe integer. */
const MAX_DIGITS = 15;
/** Objects of a page whose markup is learned: where it changes all the time, that would be in vain. */
const MAX_LEARNED = 16;
/** Memory for the JSON of one page is used for the next one, up to so many bytes. */
const MAX_KEPT_BYTES = 1024 * 1024;
let memory: Bytes = new Uint8Array(64 * 1024);

/** Where the texts of elements begin and end in the document, by the number of the element; -1 where it is absent. */
class Spans {
  readonly starts: Int32Array;
  readonly ends: Int32Array;

  constructor(count: number) {
    this.starts = new Int32Array(count).fill(-1);
    this.ends = new Int32Array(count).fill(-1);
  }

  clear(): void {
    this.starts.fill(-1);
  }

  has(member: number): boolean {
    return this.starts[member] >= 0;
  }
}

/** Goes through a document once. Each method begins where the one before ended. */
class PageWriter {
  readonly #xml: Uint8Array;
  #at = 0;
  /** The name of the last tag. */
  #nameStart = 0;
  #nameEnd = 0;
  readonly #page = new Spans(PAGE_MEMBERS.length);
  readonly #entry = new Spans(ENTRY_MEMBERS.length + OWNER_MEMBERS.length);
  readonly #prefix = new Spans(PREFIX_MEMBERS.length);
  /** Begin and end of each common prefix. */
  readonly #prefixes: number[] = [];
  #entries = 0;
  /** The markup of an object: begin and end of each stretch, and the member whose text follows it, -1 after the last one. */
  #markup: number[] = [];
  #learned = 0;
  /** Whether names are encoded; null until it is known, which must be before the first name. */
  #isEncoded: boolean | null = null;
  #json = memory;
  #length = 0;

  constructor(xml: Uint8Array) {
    this.#xml = xml;
  }

  json(): Bytes {
    this.#root();
    this.#put(JSON_PAGE);
    while (this.#opens()) {
      if (this.#isNamed(CONTENTS)) this.#object();
      else if (this.#isNamed(COMMON_PREFIXES)) this.#commonPrefix();
      else this.#pageMember();
    }
    this.#closes(ROOT);
    this.#space();
    if (this.#at < this.#xml.length) throw UNUSUAL;
    this.#pageEnd();
    const json = this.#json.slice(0, this.#length);
    memory = this.#json.length <= MAX_KEPT_BYTES ? this.#json : memory;
    return json;
  }

  #root(): void {
    const xml = this.#xml;
    if (this.#isAt(DECLARATION, 0)) {
      this.#at = xml.indexOf(GREATER_THAN) + 1;
      if (xml[this.#at - 2] !== QUESTION) throw UNUSUAL;
      this.#space();
    }
    if (xml[this.#at] !== LESS_THAN || !this.#isAt(ROOT, this.#at + 1)) throw UNUSUAL;
    const end = xml.indexOf(GREATER_THAN, this.#at);
    const next = xml[this.#at + 1 + ROOT.length];
    if (end < 0 || (next !== GREATER_THAN && !isSpace(next)) || xml[end - 1] === SLASH) throw UNUSUAL;
    this.#at = end + 1;
  }

  /**
   * Whether names are encoded. Some stores say it behind all entries, so it is looked for there; when the element is met
   * later, it must be the one that was found.
   */
  #namesAreEncoded(): boolean {
    return this.#isEncoded ??= findEncoding(this.#xml) >= 0;
  }

  /** `<Contents>` has been read. */
  #object(): void {
    const entry = this.#entry;
    entry.clear();
    if (!this.#repeatsMarkup()) {
      const start = this.#at;
      entry.clear();
      this.#elementsOfObject();
      if (this.#learned < MAX_LEARNED) this.#learnMarkup(start);
    }
    if (!entry.has(KEY)) throw UNUSUAL;
    if (this.#entries++ > 0) this.#byte(COMMA);
    this.#put(JSON_KEY);
    this.#text(entry, KEY, this.#namesAreEncoded());
    this.#put(JSON_SIZE);
    if (entry.has(SIZE)) this.#number(entry, SIZE);
    else this.#byte(ZERO);
    this.#put(JSON_LAST_MODIFIED);
    this.#timestamp(entry, LAST_MODIFIED);
    this.#put(JSON_ETAG);
    this.#textOrNull(entry, ETAG);
    this.#put(JSON_STORAGE_CLASS);
    this.#filledOrNull(entry, STORAGE_CLASS);
    this.#put(JSON_OWNER);
    if (entry.has(ID) || entry.has(DISPLAY_NAME)) {
      this.#put(JSON_DISPLAY_NAME);
      this.#textOrNull(entry, DISPLAY_NAME);
      this.#put(JSON_ID);
      this.#textOrNull(entry, ID);
      this.#put(JSON_END);
    } else this.#put(NULL);
    this.#put(JSON_END);
  }

  #elementsOfObject(): void {
    const entry = this.#entry;
    while (this.#opens()) {
      if (!this.#isNamed(OWNER)) this.#leaf(entry, this.#among(ENTRY_MEMBERS));
      else {
        while (this.#opens()) {
          const member = this.#among(OWNER_MEMBERS);
          this.#leaf(entry, member < 0 ? member : member + ENTRY_MEMBERS.length);
        }
        this.#closes(OWNER);
      }
    }
    this.#closes(CONTENTS);
  }

  /**
   * Reads an object whose markup is the same, byte by byte, as that of an object before. Texts between it have no markup
   * of their own, so no name is looked at, which takes half of the time. The markup behind an empty element begins with a
   * slash, where a text ends at an angle bracket, so an object that has one is never the same.
   *
   * @returns false where it is not the same; then nothing has been read
   */
  #repeatsMarkup(): boolean {
    const xml = this.#xml;
    const markup = this.#markup;
    const { starts, ends } = this.#entry;
    let at = this.#at;
    for (let index = 0; index < markup.length; index += 3) {
      const end = markup[index + 1];
      for (let from = markup[index]; from < end; from++, at++) if (xml[at] !== xml[from]) return false;
      const member = markup[index + 2];
      if (member < 0) break;
      starts[member] = at;
      for (let byte = xml[at]; byte !== LESS_THAN; byte = xml[++at]) if (byte === undefined) return false;
      ends[member] = at;
    }
    this.#at = at;
    return markup.length > 0;
  }

  /** Stores where the markup is between the texts of the object that was read from `start` on. */
  #learnMarkup(start: number): void {
    const { starts, ends } = this.#entry;
    const members = [...starts.keys()].filter((member) => starts[member] >= 0).sort((x, y) => starts[x] - starts[y]);
    this.#learned++;
    this.#markup = [];
    let from = start;
    for (const member of members) {
      this.#markup.push(from, starts[member], member);
      from = ends[member];
    }
    this.#markup.push(from, this.#at, -1);
  }

  /** `<CommonPrefixes>` has been read: its names stand after all objects. */
  #commonPrefix(): void {
    while (this.#opens()) {
      const member = this.#among(PREFIX_MEMBERS);
      this.#prefix.clear();
      this.#leaf(this.#prefix, member);
      if (member === 0) this.#prefixes.push(this.#prefix.starts[0], this.#prefix.ends[0]);
    }
    this.#closes(COMMON_PREFIXES);
  }

  #pageMember(): void {
    const member = this.#among(PAGE_MEMBERS);
    this.#leaf(this.#page, member);
    if (member !== ENCODING_TYPE) return;
    if (!this.#isText(this.#page, member, URL_ENCODED)) throw UNUSUAL;
    this.#isEncoded = true;
  }

  #pageEnd(): void {
    const page = this.#page;
    if (page.has(ENCODING_TYPE) !== (this.#isEncoded ?? false)) throw UNUSUAL;
    this.#put(JSON_PREFIXES);
    const { starts, ends } = this.#prefix;
    for (let index = 0; index < this.#prefixes.length; index += 2) {
      if (index > 0) this.#byte(COMMA);
      starts[0] = this.#prefixes[index];
      ends[0] = this.#prefixes[index + 1];
      this.#text(this.#prefix, 0, this.#namesAreEncoded());
    }
    this.#put(JSON_IS_TRUNCATED);
    if (this.#isText(page, IS_TRUNCATED, TRUE)) this.#put(TRUE);
    else if (!page.has(IS_TRUNCATED) || this.#isText(page, IS_TRUNCATED, FALSE)) this.#put(FALSE);
    else throw UNUSUAL;
    this.#put(JSON_TOKEN);
    this.#filledOrNull(page, TOKEN);
    this.#put(JSON_KEY_COUNT);
    if (page.has(KEY_COUNT)) this.#number(page, KEY_COUNT);
    else this.#put(bytes(String(this.#entries + this.#prefixes.length / 2)));
    this.#put(JSON_END);
  }

  /** Reads white space and the name of an opening tag. @returns false in front of a closing tag */
  #opens(): boolean {
    this.#space();
    const xml = this.#xml;
    let at = this.#at;
    if (xml[at] !== LESS_THAN) throw UNUSUAL;
    if (xml[++at] === SLASH) return false;
    this.#nameStart = at;
    while (isLetter(xml[at])) at++;
    this.#nameEnd = at;
    if (at === this.#nameStart) throw UNUSUAL;
    if (xml[at] === GREATER_THAN) this.#at = at + 1;
    // Of an empty element, the slash remains to be read.
    else if (xml[at] === SLASH && xml[at + 1] === GREATER_THAN) this.#at = at;
    else throw UNUSUAL;
    return true;
  }

  #closes(name: Uint8Array): void {
    const xml = this.#xml;
    const at = this.#at + 2;
    if (xml[this.#at] !== LESS_THAN || xml[this.#at + 1] !== SLASH) throw UNUSUAL;
    if (!this.#isAt(name, at) || xml[at + name.length] !== GREATER_THAN) throw UNUSUAL;
    this.#at = at + name.length + 1;
  }

  /** Reads the rest of the element that was opened. Its text is stored as that of a member, unless that is -1. */
  #leaf(spans: Spans, member: number): void {
    const xml = this.#xml;
    const start = this.#at;
    let end = start;
    if (xml[start] === SLASH && this.#nameEnd === start) this.#at = start + 2;
    else {
      let hasEntity = false;
      for (let byte = xml[end]; byte !== LESS_THAN; byte = xml[++end]) {
        if (byte === AMPERSAND) hasEntity = true;
        else if (byte === undefined) throw UNUSUAL;
      }
      // What is not written is not decoded here.
      if (member < 0 && hasEntity) throw UNUSUAL;
      let at = end + 1;
      if (xml[at++] !== SLASH) throw UNUSUAL;
      for (let name = this.#nameStart; name < this.#nameEnd; name++, at++) if (xml[at] !== xml[name]) throw UNUSUAL;
      if (xml[at] !== GREATER_THAN) throw UNUSUAL;
      this.#at = at + 1;
    }
    if (member < 0) return;
    if (spans.has(member)) throw UNUSUAL;
    spans.starts[member] = start;
    spans.ends[member] = end;
  }

  /** Which of these names the last tag has; -1: none. */
  #among(names: readonly Uint8Array[]): number {
    for (let index = 0; index < names.length; index++) if (this.#isNamed(names[index])) return index;
    return -1;
  }

  #isNamed(name: Uint8Array): boolean {
    return this.#nameEnd - this.#nameStart === name.length && this.#isAt(name, this.#nameStart);
  }

  #isText(spans: Spans, member: number, text: Uint8Array): boolean {
    return spans.has(member) && spans.ends[member] - spans.starts[member] === text.length &&
      this.#isAt(text, spans.starts[member]);
  }

  #isAt(text: Uint8Array, at: number): boolean {
    const xml = this.#xml;
    for (let index = 0; index < text.length; index++) if (xml[at + index] !== text[index]) return false;
    return true;
  }

  #space(): void {
    while (isSpace(this.#xml[this.#at])) this.#at++;
  }

  #textOrNull(spans: Spans, member: number): void {
    if (spans.has(member)) this.#text(spans, member);
    else this.#put(NULL);
  }

  /** An empty text is none. */
  #filledOrNull(spans: Spans, member: number): void {
    if (spans.has(member) && spans.ends[member] > spans.starts[member]) this.#text(spans, member);
    else this.#put(NULL);
  }

  /** Writes a text as JSON: byte by byte, or decoded where it has more than ASCII and quotation marks. */
  #text(spans: Spans, member: number, isEncodedName = false): void {
    const xml = this.#xml;
    const start = spans.starts[member];
    const end = spans.ends[member];
    this.#reserve(2 * (end - start) + 2);
    const json = this.#json;
    const isPlain = isEncodedName ? isSameInName : isSame;
    let to = this.#length;
    json[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = xml[at];
      if (isPlain[byte] === 1) json[to++] = byte;
      else if (byte === QUOTE || (byte === AMPERSAND && this.#isAt(QUOT, at))) {
        json[to++] = BACKSLASH;
        json[to++] = QUOTE;
        if (byte === AMPERSAND) at += QUOT.length - 1;
      } else return this.#decodedText(start, end, isEncodedName);
    }
    json[to++] = QUOTE;
    this.#length = to;
  }

  #decodedText(start: number, end: number, isEncodedName: boolean): void {
    const text = unescapeXml(decoder.decode(this.#xml.subarray(start, end)));
    if (text === undefined) throw UNUSUAL;
    const json = JSON.stringify(isEncodedName ? urlDecoded(text) : text);
    // A character of UTF-16 takes three bytes at most.
    this.#reserve(3 * json.length);
    this.#length += encoder.encodeInto(json, this.#json.subarray(this.#length)).written;
  }

  /** Writes `2026-01-02T03:04:05.678Z` with microseconds, or without its fraction where that is zero or absent. */
  #timestamp(spans: Spans, member: number): void {
    if (!spans.has(member)) return this.#put(NULL);
    const xml = this.#xml;
    const start = spans.starts[member];
    const fraction = start + TIMESTAMP.length;
    const hasFraction = xml[fraction] === DOT;
    const end = fraction + (hasFraction ? 4 : 0);
    if (spans.ends[member] !== end + 1 || xml[end] !== ZULU) throw UNUSUAL;
    let isZero = true;
    for (let at = fraction + 1; at < end; at++) {
      if (!isDigit(xml[at])) throw UNUSUAL;
      if (xml[at] !== ZERO) isZero = false;
    }
    this.#reserve(end - start + 1 + MICROSECONDS.length);
    const json = this.#json;
    let to = this.#length;
    json[to++] = QUOTE;
    for (let index = 0; index < TIMESTAMP.length; index++) {
      const byte = xml[start + index];
      if (TIMESTAMP[index] === DIGIT ? !isDigit(byte) : byte !== TIMESTAMP[index]) throw UNUSUAL;
      json[to++] = byte;
    }
    if (!isZero) { for (let at = fraction; at < end; at++) json[to++] = xml[at]; }
    this.#length = to;
    this.#put(isZero ? NO_FRACTION : MICROSECONDS);
  }

  /** Writes a whole number as it is. */
  #number(spans: Spans, member: number): void {
    const xml = this.#xml;
    const start = spans.starts[member];
    const digits = spans.ends[member] - start;
    if (digits < 1 || digits > MAX_DIGITS || (xml[start] === ZERO && digits > 1)) throw UNUSUAL;
    this.#reserve(digits);
    for (let at = start; at < start + digits; at++) {
      if (!isDigit(xml[at])) throw UNUSUAL;
      this.#json[this.#length++] = xml[at];
    }
  }

  #put(text: Uint8Array): void {
    this.#reserve(text.length);
    const json = this.#json;
    let to = this.#length;
    for (let index = 0; index < text.length; index++) json[to++] = text[index];
    this.#length = to;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#json[this.#length++] = byte;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#json.length) return;
    const larger = new Uint8Array(2 * (this.#length + more));
    larger.set(this.#json.subarray(0, this.#length));
    this.#json = larger;
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}
