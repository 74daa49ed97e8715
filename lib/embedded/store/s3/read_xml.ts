import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";

/** Largest XML body of a request, in bytes: the 10,000 parts of a complete with their checksums fit. */
export const MAX_XML_BYTES = 2 * 1024 * 1024;

/** Deepest nesting of elements; S3's own documents need five levels. */
const MAX_DEPTH = 16;

/** One element: its local name, the text directly in it, and the elements in it in their order. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/**
 * Reads an XML document of elements and text in UTF-8 and gives its root. Attributes are read over. Declarations of types,
 * processing instructions, comments, CDATA and entities but XML's own five are refused, so that nothing in a document can
 * make it larger than it is. Throws {@link S3Error} MalformedXML.
 */
export function readXml(bytes: Uint8Array): XmlElement {
  if (bytes.length > MAX_XML_BYTES) throw new S3Error("MalformedXML", "The XML is longer than 2 MiB");
  const text = decodedText(bytes);
  const document: XmlElement = { name: "", text: "", children: [] };
  const open: { element: XmlElement; tag: string }[] = [{ element: document, tag: "" }];
  let at = DECLARATION.exec(text)?.[0].length ?? 0;
  while (at < text.length) {
    const { element: parent, tag: parentTag } = open[open.length - 1];
    const angle = text.indexOf("<", at);
    const end = angle < 0 ? text.length : angle;
    if (end > at) {
      const part = unescaped(text.slice(at, end));
      if (parent === document && part.trim() !== "") throw malformed();
      parent.text += part;
      at = end;
      continue;
    }
    TAG.lastIndex = at;
    const match = TAG.exec(text);
    if (!match) throw malformed();
    at = TAG.lastIndex;
    const [, closing, opening, selfClosing] = match;
    if (closing !== undefined) {
      if (open.length === 1 || closing !== parentTag) throw malformed();
      open.pop();
      continue;
    }
    if (parent === document && document.children.length > 0) throw malformed();
    const element: XmlElement = { name: opening.slice(opening.indexOf(":") + 1), text: "", children: [] };
    parent.children.push(element);
    if (selfClosing) continue;
    if (open.length > MAX_DEPTH) throw new S3Error("MalformedXML", `The XML is deeper than ${MAX_DEPTH} levels`);
    open.push({ element, tag: opening });
  }
  if (open.length > 1 || document.children.length === 0) throw malformed();
  return document.children[0];
}

/** The text of the first child of a name, without white space around it; null where there is none. */
export function childText(element: XmlElement, name: string): string | null {
  return element.children.find((child) => child.name === name)?.text.trim() ?? null;
}

const DECLARATION = /^\s*<\?xml\s[^<>?]*\?>/;

/** An end tag, or a start tag with its attributes. Names are read loosely; a quote ends only at its like. */
const TAG =
  /<(?:\/([^\s<>\/="'!?]+)\s*|([^\s<>\/="'!?]+)(?:\s+[^\s<>\/="'!?]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?))>/y;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decodedText(bytes: Uint8Array): string {
  try {
    // A line end is one character, however it was written (XML 1.0, section 2.11).
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r\n?/g, "\n");
  } catch {
    throw malformed();
  }
}

function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&([^&;]{0,10};)?/g, (_whole, name: string | undefined) => {
    const entity = name?.slice(0, -1) ?? "";
    const number = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(entity);
    if (!number) return ENTITIES[entity] ?? refuse();
    const code = number[1] ? parseInt(number[1], 16) : Number(number[2]);
    // Control characters are let through, unlike in XML 1.0: keys may hold them, and clients write them so.
    if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) refuse();
    return String.fromCodePoint(code);
  });
}

function refuse(): never {
  throw malformed();
}

function malformed(): S3Error {
  return new S3Error("MalformedXML");
}
