import { createHash } from "node:crypto";
import { z } from "zod";
import { badRequest } from "@/lib/http/errors.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { XmlScanner } from "@/lib/std/xml_scanner.ts";

/** A document that is not the expected XML. */
export class MalformedXml extends Error {
  override readonly name = "MalformedXml";
}

/**
 * The next token of a document with this root; null at its end. A document type is rejected: no response of a store has one.
 *
 * @throws MalformedXml
 */
export function nextToken(scanner: XmlScanner, root: string): "open" | "close" | "text" | "other" | null {
  const token = scanner.next();
  if (token === "end") return null;
  const isOther = token === "open" && scanner.depth === 1 && scanner.name !== root;
  if (isOther || token === "malformed" || (token === "other" && scanner.isDocumentType)) {
    throw new MalformedXml(`not a document of ${root}`);
  }
  return token;
}

/** Most entries of a listing: stores send a thousand at most. */
const MAX_ENTRIES = 10_000;

/** The texts of an element, by paths below it such as `Key` and `Owner/ID`. */
export type XmlMembers = ReadonlyMap<string, string>;

/**
 * Reads a document whose root has entries, each of which is passed to the function of its name, in their order. Those
 * without members are left out. The members of an entry are valid during the call.
 *
 * @returns the texts beside the entries
 * @throws MalformedXml when it is not well-formed, has too many entries or another root
 */
export function readListing(
  xml: string,
  root: string,
  entries: Readonly<Record<string, (members: XmlMembers) => void>>,
): XmlMembers {
  const scanner = new XmlScanner(xml);
  const members = new Map<string, string>();
  const ofEntry = new Map<string, string>();
  /** Names of the open elements, by their depth. */
  const open: string[] = [];
  let entry: ((members: XmlMembers) => void) | null = null;
  let count = 0;
  let text = "";
  let isLeaf = false;
  for (let token = nextToken(scanner, root); token !== null; token = nextToken(scanner, root)) {
    const { depth, name } = scanner;
    if (token === "text") text += scanner.text;
    else if (token === "open") {
      open[depth] = name;
      if (depth === 2) entry = Object.hasOwn(entries, name) ? entries[name] : null;
      text = "";
      isLeaf = true;
    } else if (token === "close") {
      const top = depth > 2 && entry ? 2 : 1;
      if (depth === 2 && entry && !isLeaf) {
        if (++count > MAX_ENTRIES) throw new MalformedXml("too many entries");
        entry(ofEntry);
        ofEntry.clear();
      } else if (isLeaf && depth > 1) {
        // Most members are one level below.
        const path = depth === top + 1 ? name : open.slice(top + 1, depth + 1).join("/");
        (top === 2 ? ofEntry : members).set(path, text);
      }
      isLeaf = false;
    }
  }
  return members;
}

/** A boolean. */
export function isTrue(text: string | undefined): boolean {
  return text?.trim() === "true";
}

/** A whole number of at least 0. @throws MalformedXml */
export function count(text: string): number {
  const value = /^\s*\d{1,16}\s*$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw new MalformedXml("not a count");
  return value;
}

/** ISO 8601 in UTC: milliseconds become microseconds, and a zero fraction is removed. @throws MalformedXml */
function timestamp(text: string): string {
  const match = /^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)\s*$/.exec(text);
  if (!match) throw new MalformedXml("not a timestamp");
  const fraction = (match[2] ?? "").padEnd(6, "0").slice(0, 6);
  return Number(fraction) === 0 ? `${match[1]}Z` : `${match[1]}.${fraction}Z`;
}

/** A name of a listing with `EncodingType` url. @throws MalformedXml */
function urlDecoded(text: string): string {
  const name = percentDecoded(text.replaceAll("+", "%20"));
  if (name === null) throw new MalformedXml("not URL-encoded");
  return name;
}

/** A reader of the names of a listing with this `EncodingType`. */
export function nameReader(encodingType: string | undefined): (text: string) => string {
  return encodingType?.trim() === "url" ? urlDecoded : (text) => text;
}

/** {@link timestamp} of a text that may be absent. */
export function optionalTime(text: string | undefined): string | null {
  return text === undefined ? null : timestamp(text);
}

/** {@link timestamp} of a time that the SDK has read. */
export function isoTime(time: Date | undefined): string | null {
  return time === undefined ? null : timestamp(time.toISOString());
}

/** A whole number of at least 0 that the SDK has read. @throws MalformedXml */
export function whole(value: number | undefined): number | null {
  return value === undefined ? null : count(String(value));
}

/** The owner of a bucket, an object or a version, members named as in S3. */
export const owner = z.object({ DisplayName: z.string().nullable(), ID: z.string().nullable() });
export type Owner = z.output<typeof owner>;

/** An owner without what is absent; null where there is none. */
export function ownerOf(read: { readonly ID?: string; readonly DisplayName?: string } | undefined): Owner | null {
  const { ID = null, DisplayName = null } = read ?? {};
  return ID === null && DisplayName === null ? null : { DisplayName, ID };
}

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
