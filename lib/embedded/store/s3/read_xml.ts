import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";

/** An element of a request's XML: its name without a prefix, its own text, and the elements in it. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/** Largest XML body that is read, in bytes: 1000 keys of 1024 bytes fit. */
export const MAX_XML_BYTES = 2 * 1024 * 1024;

/** How deep elements may lie in each other. */
const MAX_DEPTH = 16;

/**
 * Reads an XML document of elements and text; attributes are passed over. Document types, processing instructions,
 * comments, CDATA and entities of a document's own are refused, so nothing can be expanded. Throws {@link S3Error}
 * MalformedXML.
 */
export function readXml(bytes: Uint8Array): XmlElement {
  if (bytes.length > MAX_XML_BYTES) malformed("it is too large");
  const text = decoded(bytes).replace(DECLARATION, "").replaceAll("\r\n", "\n");
  const document: XmlElement = { name: "", text: "", children: [] };
  const open = [document];
  for (let at = 0; at < text.length;) {
    const inside = open[open.length - 1];
    const markup = text.indexOf("<", at);
    const end = markup < 0 ? text.length : markup;
    if (end > at) inside.text += unescaped(text.slice(at, end));
    if (markup < 0) break;
    TAG.lastIndex = markup;
    const tag = TAG.exec(text) ?? malformed("a tag is not valid");
    at = TAG.lastIndex;
    const [, closes, prefixed, attributes, isEmpty] = tag;
    const name = prefixed.slice(prefixed.indexOf(":") + 1);
    if (closes) {
      if (open.length === 1 || inside.name !== name || attributes || isEmpty) {
        malformed("a closing tag is out of place");
      }
      open.pop();
      continue;
    }
    if (open.length > MAX_DEPTH) malformed("it is nested too deeply");
    const element = { name, text: "", children: [] };
    inside.children.push(element);
    if (!isEmpty) open.push(element);
  }
  if (open.length > 1) malformed("it ends too early");
  if (document.children.length !== 1 || document.text.trim() !== "") malformed("it must have one root element");
  return document.children[0];
}

const DECLARATION = /^\ufeff?\s*<\?xml\s[^<>?]*\?>/;
const TAG = /<(\/?)([^\s<>\/&"'=!?]+)((?:\s+[^\s<>\/&"'=]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&([^;&]{0,10}(?:;|$))?/g, (_, reference: string = "") => {
    if (!reference.endsWith(";")) malformed("an entity is not valid");
    const name = reference.slice(0, -1);
    if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name];
    const numeric = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name) ?? malformed("an entity is not known");
    const point = numeric[1] ? parseInt(numeric[1], 16) : Number(numeric[2]);
    const isScalar = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return isScalar ? String.fromCodePoint(point) : malformed("a character reference is not valid");
  });
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return malformed("it is not UTF-8");
  }
}

function malformed(reason: string): never {
  throw new S3Error("MalformedXML", `The XML of the body is not valid: ${reason}`);
}
