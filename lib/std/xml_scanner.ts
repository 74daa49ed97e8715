/** `other` is a comment, a processing instruction or a document type; `end` and `malformed` repeat for ever. */
type XmlToken = "open" | "close" | "text" | "other" | "end" | "malformed";

const MAX_DEPTH = 64;
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/**
 * Reads an XML document token by token, in linear time and without an exception. It runs in browsers and on the server, and
 * a caller may stop between two tokens.
 *
 * Stricter than a parser: at most 64 elements deep, only the predefined entities, and no internal subset in a document type.
 * More lenient: names and control characters are not checked, and line breaks in attributes stay.
 */
export class XmlScanner {
  /** The name of an element that is opened or closed, without its prefix. */
  name = "";
  /** The attributes of an element that is opened, by names with their prefix. */
  attributes: ReadonlyMap<string, string> = NO_ATTRIBUTES;
  /** A text, decoded. */
  text = "";
  /** Start and end of the token in the document. An empty element is opened by its whole tag and closed by nothing. */
  start = 0;
  end = 0;

  /** Names of the open elements, with their prefix. */
  readonly #open: string[] = [];
  /** The names that opened elements, by the name before. */
  readonly #following = new Map<string, string>();
  #lastName = "";
  #isEmptyElement = false;
  #closed = false;
  /** The next ampersand that is known of. */
  #entity = -1;
  #hasRoot = false;
  #last: "end" | "malformed" | null = null;

  constructor(private readonly xml: string) {
    if (xml.charCodeAt(0) === 0xfeff) this.end = 1;
  }

  /** How many elements are open: an element that is opened or closed counts. */
  get depth(): number {
    return this.#open.length;
  }

  /** Whether the token is a document type. */
  get isDocumentType(): boolean {
    return this.xml.startsWith("<!D", this.start);
  }

  next(): XmlToken {
    if (this.#last) return this.#last;
    const token = this.#next();
    if (token === "end" || token === "malformed") this.#last = token;
    return token;
  }

  #next(): XmlToken {
    const xml = this.xml;
    if (this.#closed) {
      this.#closed = false;
      this.#open.pop();
    }
    this.start = this.end;
    if (this.#isEmptyElement) {
      this.#isEmptyElement = false;
      this.#closed = true;
      return "close";
    }
    if (this.start === xml.length) return this.#open.length === 0 && this.#hasRoot ? "end" : "malformed";
    if (xml.charCodeAt(this.start) !== LESS_THAN) return this.#text();
    switch (xml.charCodeAt(this.start + 1)) {
      case SLASH:
        return this.#closeTag();
      case EXCLAMATION:
        return this.#declaration();
      case QUESTION:
        return this.#until("?>", 2);
      default:
        return this.#openTag();
    }
  }

  #text(): XmlToken {
    const tag = this.xml.indexOf("<", this.start);
    this.end = tag < 0 ? this.xml.length : tag;
    const text = this.#decoded(this.start, this.end);
    if (text === undefined || (this.#open.length === 0 && text.trim() !== "")) return "malformed";
    this.text = text;
    return "text";
  }

  #declaration(): XmlToken {
    if (this.xml.startsWith("<!--", this.start)) return this.#until("-->", 4);
    if (this.xml.startsWith("<![CDATA[", this.start)) {
      if (this.#open.length === 0 || this.#until("]]>", 9) === "malformed") return "malformed";
      this.text = this.xml.slice(this.start + 9, this.end - 3);
      return "text";
    }
    if (this.#hasRoot || !this.xml.startsWith("<!DOCTYPE", this.start)) return "malformed";
    // An internal subset defines entities, by which a short document may become a long one.
    if (this.#until(">", 9) === "malformed") return "malformed";
    return this.xml.slice(this.start, this.end).includes("[") ? "malformed" : "other";
  }

  #until(mark: string, offset: number): XmlToken {
    const found = this.xml.indexOf(mark, this.start + offset);
    if (found < 0) return "malformed";
    this.end = found + mark.length;
    return "other";
  }

  #closeTag(): XmlToken {
    const name = this.#open.at(-1);
    if (name === undefined || !this.xml.startsWith(name, this.start + 2)) return "malformed";
    const end = this.#afterSpace(this.start + 2 + name.length);
    if (this.xml.charCodeAt(end) !== GREATER_THAN) return "malformed";
    this.end = end + 1;
    this.name = localName(name);
    this.#closed = true;
    return "close";
  }

  #openTag(): XmlToken {
    const xml = this.xml;
    if (this.#open.length === 0 && this.#hasRoot) return "malformed";
    const name = this.#tagName(this.start + 1);
    let at = this.start + 1 + name.length;
    this.name = localName(name);
    if (this.name === "" || this.#open.push(name) > MAX_DEPTH) return "malformed";
    this.#hasRoot = true;
    // Most elements have none.
    let attributes: Map<string, string> | null = null;
    let count = 0;
    for (;;) {
      const begin = this.#afterSpace(at);
      const code = xml.charCodeAt(begin);
      if (code === GREATER_THAN || code === SLASH) {
        this.#isEmptyElement = code === SLASH;
        this.end = begin + (this.#isEmptyElement ? 2 : 1);
        this.attributes = attributes ?? NO_ATTRIBUTES;
        return xml.charCodeAt(this.end - 1) === GREATER_THAN ? "open" : "malformed";
      }
      const nameEnd = this.#afterName(begin);
      if (begin === at || nameEnd === begin) return "malformed";
      const equals = this.#afterSpace(nameEnd);
      const quote = this.#afterSpace(equals + 1);
      const mark = xml[quote];
      if (xml.charCodeAt(equals) !== EQUALS || (mark !== '"' && mark !== "'")) return "malformed";
      const close = xml.indexOf(mark, quote + 1);
      if (close < 0) return "malformed";
      const value = this.#decoded(quote + 1, close);
      if (value === undefined || value.includes("<") && xml.slice(quote, close).includes("<")) return "malformed";
      attributes ??= new Map();
      if (attributes.set(xml.slice(begin, nameEnd), value).size !== ++count) return "malformed";
      at = close + 1;
    }
  }

  /** The text from `start` to `end`, with entities decoded; undefined when one of them is unknown. */
  #decoded(start: number, end: number): string | undefined {
    if (this.#entity < start) {
      const found = this.xml.indexOf("&", start);
      this.#entity = found < 0 ? Infinity : found;
    }
    const source = this.xml.slice(start, end);
    return this.#entity < end ? unescapeXml(source) : source;
  }

  #afterSpace(at: number): number {
    while (isSpace(this.xml.charCodeAt(at))) at++;
    return at;
  }

  /** The name of a tag: first the one that followed the last name before, since lists repeat few names many times. */
  #tagName(at: number): string {
    const expected = this.#following.get(this.#lastName);
    let name = expected;
    if (name === undefined || !this.xml.startsWith(name, at) || !endsName(this.xml.charCodeAt(at + name.length))) {
      name = this.xml.slice(at, this.#afterName(at));
      this.#following.set(this.#lastName, name);
    }
    return this.#lastName = name;
  }

  /** The end of the name at `at`. */
  #afterName(at: number): number {
    while (at < this.xml.length && !endsName(this.xml.charCodeAt(at))) at++;
    return at;
  }
}

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const EXCLAMATION = 0x21;
const QUESTION = 0x3f;
const EQUALS = 0x3d;

function localName(name: string): string {
  const colon = name.indexOf(":");
  return colon < 0 ? name : name.slice(colon + 1);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
}

function endsName(code: number): boolean {
  return isSpace(code) || code === GREATER_THAN || code === SLASH || code === EQUALS || code === LESS_THAN ||
    code === 0x22 || code === 0x27;
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Text with its entities decoded; undefined when one of them is not predefined in XML. */
export function unescapeXml(text: string): string | undefined {
  // Every ETag has these, and seldom any other entity.
  const quoted = text.includes("&quot;") ? text.replaceAll("&quot;", '"') : text;
  let decoded = "";
  let at = 0;
  for (;;) {
    const start = quoted.indexOf("&", at);
    if (start < 0) return at === 0 ? quoted : decoded + quoted.slice(at);
    const name = /^[^;&]{1,10}(?=;)/.exec(quoted.slice(start + 1, start + 12))?.[0];
    const value = name === undefined ? undefined : entity(name);
    if (name === undefined || value === undefined) return undefined;
    decoded += quoted.slice(at, start) + value;
    at = start + name.length + 2;
  }
}

function entity(name: string): string | undefined {
  if (Object.hasOwn(NAMED, name)) return NAMED[name];
  const match = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (!match) return undefined;
  const point = match[1] ? parseInt(match[1], 16) : Number(match[2]);
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? undefined : String.fromCodePoint(point);
}
