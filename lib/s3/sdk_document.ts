import { MalformedXml, mustBeUnder, scanXml } from "./xml.ts";

/** Most elements of a document: each takes far more memory than its bytes. */
const MAX_ELEMENTS = 50_000;
/** Most characters without markup. The SDK's parser joins texts and attributes character by character. */
const MAX_RUN = 64 * 1024;
const PREFIX = /(<\/?)[^\s<>:/]+:/g;
/** An entity of a character beyond 16 bits, which the SDK's parser truncates. */
const WIDE_ENTITY = /&#(?:x0*([1-9a-fA-F][0-9a-fA-F]{4,5})|0*([1-9]\d{4,6}));/g;

/**
 * A document that the SDK's parser can be given: it takes anything else for an empty one, recurses into each level, and
 * keeps prefixes.
 *
 * @returns the document without prefixes
 * @throws MalformedXml when it is not well-formed, too deep or too large, or has another root
 */
export function sdkDocument(xml: string, root: string): string {
  let elements = 0;
  const element = (path: string) => {
    mustBeUnder(path, root);
    if (++elements > MAX_ELEMENTS) throw new MalformedXml("too many elements");
  };
  scanXml(xml, { leaf: element, close: element });
  for (let at = 0; at < xml.length;) {
    const next = xml.indexOf("<", at + 1);
    if ((next < 0 ? xml.length : next) - at > MAX_RUN) throw new MalformedXml("too long a text");
    if (next < 0) break;
    at = next;
  }
  return xml.replace(PREFIX, "$1").replace(
    WIDE_ENTITY,
    (_, hex, decimal) => String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal)),
  );
}
