import { unescapeXml } from "@/lib/std/unescape_xml.ts";

/** A document that is not the expected XML. */
export class MalformedXml extends Error {
  override readonly name = "MalformedXml";
}

const MAX_DEPTH = 16;

/** Receives the elements of a scan. A `path` is element names without prefixes, joined by `/`. */
interface XmlVisitor {
  /** The text of an element without children, entities decoded, white space included. */
  leaf(path: string, text: string): void;
  close?(path: string): void;
}

/**
 * Scans an XML document in one pass. Attributes, comments and processing instructions are skipped. A document type is
 * rejected: no response of an S3 store has one.
 *
 * @throws MalformedXml
 */
export function scanXml(xml: string, visitor: XmlVisitor): void {
  const top = new PathNode("", "");
  const open: PathNode[] = [];
  let here = top;
  let seen = false;
  let hasChildren = false;
  let text = "";
  let at = 0;
  for (;;) {
    const tag = xml.indexOf("<", at);
    if (tag < 0) break;
    if (tag > at && here !== top) text += decodeText(xml.slice(at, tag));
    const next = xml.charCodeAt(tag + 1);
    if (next === 0x21 /* ! */ || next === 0x3f /* ? */) {
      const skipped = special(xml, tag);
      text += skipped.text;
      at = skipped.end;
      continue;
    }
    const end = xml.indexOf(">", tag);
    if (end < 0) throw new MalformedXml("a tag does not end");
    at = end + 1;
    if (next === 0x2f /* / */) {
      const parent = open.pop();
      if (parent === undefined || !closes(xml, tag + 2, end, here)) throw new MalformedXml("tags do not match");
      if (hasChildren) visitor.close?.(here.path);
      else visitor.leaf(here.path, text);
      here = parent;
      hasChildren = true;
    } else {
      const empty = xml.charCodeAt(end - 1) === 0x2f;
      if (here === top && seen) throw new MalformedXml("more than one root");
      seen = true;
      const node = here.child(xml, tag + 1, empty ? end - 1 : end);
      if (empty) visitor.leaf(node.path, "");
      else {
        if (open.push(here) > MAX_DEPTH) throw new MalformedXml("too deep");
        here = node;
      }
      hasChildren = empty;
    }
    text = "";
  }
  if (here !== top || !seen) throw new MalformedXml("the document does not end");
}

/** @throws MalformedXml when an element is not below `root`, so that no other document is read as this one */
export function mustBeUnder(path: string, root: string): void {
  if (path !== root && !path.startsWith(`${root}/`)) throw new MalformedXml(`expected ${root}`);
}

/** Most entries of a listing: stores send a thousand at most. */
const MAX_ENTRIES = 10_000;

/** The texts of an element, by paths below it such as `Key` and `Owner/ID`. */
export type XmlMembers = ReadonlyMap<string, string>;

interface XmlListing {
  /** In their order, those without members left out. */
  readonly entries: readonly { readonly name: string; readonly members: XmlMembers }[];
  /** What stands beside the entries. */
  readonly members: XmlMembers;
}

/**
 * Reads a document whose root has entries of these names.
 *
 * @throws MalformedXml when it is not well-formed, has too many entries or another root
 */
export function readListing(xml: string, root: string, names: readonly string[]): XmlListing {
  const entries: { name: string; members: XmlMembers }[] = [];
  const members = new Map<string, string>();
  const ofEntries = new Map(names.map((name) => [`${root}/${name}`, name]));
  const places = new Map<string, string>();
  let entry = new Map<string, string>();
  scanXml(xml, {
    leaf(path, text) {
      let member = places.get(path);
      if (member === undefined) {
        mustBeUnder(path, root);
        const parent = [...ofEntries.keys()].find((start) => path.startsWith(`${start}/`));
        places.set(path, member = path.slice((parent ?? root).length + 1));
      }
      (path.length - member.length > root.length + 1 ? entry : members).set(member, text);
    },
    close(path) {
      const name = ofEntries.get(path);
      if (name === undefined) return mustBeUnder(path, root);
      if (entries.push({ name, members: entry }) > MAX_ENTRIES) throw new MalformedXml("too many entries");
      entry = new Map();
    },
  });
  return { entries, members };
}

/**
 * A path of elements. A listing repeats few paths thousands of times, so each is built once, and the path that followed
 * another one last time is tried first.
 */
class PathNode {
  readonly #children = new Map<string, PathNode>();
  #last: PathNode | null = null;
  #following: PathNode | null = null;

  constructor(readonly name: string, readonly path: string) {}

  /** The node of a tag whose inside runs from `start` to `end`. */
  child(xml: string, start: number, end: number): PathNode {
    const expected = this.#last ? this.#last.#following : null;
    const child = expected?.isNamed(xml, start, end) ? expected : this.#named(nameOf(xml, start, end));
    if (this.#last) this.#last.#following = child;
    this.#last = child;
    return child;
  }

  /** Whether the text from `start` to `end` is this name. */
  isNamed(xml: string, start: number, end: number): boolean {
    return end - start === this.name.length && xml.startsWith(this.name, start);
  }

  #named(name: string): PathNode {
    let child = this.#children.get(name);
    if (!child) {
      const local = name.slice(name.indexOf(":") + 1);
      if (local === "") throw new MalformedXml("a tag has no name");
      child = new PathNode(name, this.path === "" ? local : `${this.path}/${local}`);
      this.#children.set(name, child);
    }
    return child;
  }
}

function decodeText(text: string): string {
  const decoded = unescapeXml(text);
  if (decoded === undefined) throw new MalformedXml("unknown entity");
  return decoded;
}

function special(xml: string, at: number): { text: string; end: number } {
  const [open, close] = xml.startsWith("<!--", at)
    ? ["<!--", "-->"]
    : xml.startsWith("<![CDATA[", at)
    ? ["<![CDATA[", "]]>"]
    : xml.startsWith("<?", at)
    ? ["<?", "?>"]
    : ["", ""];
  const end = open === "" ? -1 : xml.indexOf(close, at + open.length);
  if (end < 0) throw new MalformedXml("unexpected markup");
  return { text: open === "<![CDATA[" ? xml.slice(at + open.length, end) : "", end: end + close.length };
}

/** The name of a tag whose inside runs from `start` to `end`, with its prefix. */
function nameOf(xml: string, start: number, end: number): string {
  let stop = start;
  while (stop < end && !isSpace(xml.charCodeAt(stop))) stop++;
  return xml.slice(start, stop);
}

function closes(xml: string, start: number, end: number, node: PathNode): boolean {
  if (node.isNamed(xml, start, end)) return true;
  const { name } = node;
  if (!xml.startsWith(name, start)) return false;
  for (let i = start + name.length; i < end; i++) if (!isSpace(xml.charCodeAt(i))) return false;
  return start + name.length <= end;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
