import { createHash } from "node:crypto";
import { badRequest } from "@/lib/http/errors.ts";

const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";
// deno-lint-ignore no-control-regex
const DISALLOWED = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
/** The pattern of a text that XML allows, as JSON Schema: shown in the document, checked where XML is written. */
export const FITS_XML = { pattern: "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\ufffe\\uffff]*$" } as const;

/** A carriage return that is not escaped is read as a line feed (XML 1.0 §2.11). */
const ESCAPED = /[&<>\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Whether XML 1.0 allows a text (§2.2): most control characters are not allowed, not even escaped. */
export function fitsXml(text: string): boolean {
  return text.isWellFormed() && !DISALLOWED.test(text);
}

/** A text as XML content. @throws HttpError 400 naming `field` for a character that XML does not allow */
function xmlText(text: string, field: string): string {
  if (!fitsXml(text)) throw badRequest(`${field}: has a character that XML does not allow`);
  return text.replace(ESCAPED, (character) => ESCAPES[character] ?? `&#${character.charCodeAt(0)};`);
}

/**
 * Rejects texts that XML does not allow.
 *
 * @param members of a request, at any depth
 * @throws HttpError 400 naming a member
 */
export function requireXml(members: object, path = ""): void {
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === "string") xmlText(member, path + name);
    else if (typeof member === "object" && member !== null) requireXml(member, `${path}${name}.`);
  }
}

/** An element with a text, or nothing where there is none. @throws HttpError 400 naming `field` as {@link xmlText} */
export function xmlElement(name: string, text: string | number | null | undefined, field = name): string {
  return text === null || text === undefined ? "" : `<${name}>${xmlText(String(text), field)}</${name}>`;
}

/** A whole request document of S3 as a body, with the headers that go with it. */
export function xmlBody(root: string, content: string) {
  const body = `<?xml version="1.0" encoding="UTF-8"?><${root} xmlns="${NAMESPACE}">${content}</${root}>`;
  return { body, headers: documentHeaders(body) };
}

/** The headers of a request document. Several operations require its MD5. */
export function documentHeaders(body: string) {
  const md5 = createHash("md5").update(body, "utf8").digest("base64");
  return { "content-type": "application/xml", "content-md5": md5 };
}
