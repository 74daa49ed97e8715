import { isObject } from "@/lib/std/untrusted.ts";
import type { MetadataEntry } from "./manifest.ts";

/** A JSON object of a manifest. Nothing about its members is known. */
export type Json = Readonly<Record<string, unknown>>;

/** Context for reading any part of a manifest. */
export interface Reading {
  /** Address of the manifest: relative addresses are resolved against it. */
  readonly base: string;
  /** The reader's languages as BCP 47 tags, the best first. */
  readonly languages: readonly string[];
}

/** Longest address that is read. */
const MAX_ADDRESS_CHARACTERS = 4096;

/** A list of at most `limit` entries: an array's own, none for null, otherwise the value alone. */
export function listOf(value: unknown, limit: number): readonly unknown[] {
  if (Array.isArray(value)) return value.length > limit ? value.slice(0, limit) : value;
  return value === null || value === undefined ? NOTHING : [value];
}

/** Most properties of most resources are missing, so the list of them is one for all. */
const NOTHING: readonly never[] = [];

/** The objects among the entries of a list. */
export function objectsOf(value: unknown, limit: number): readonly Json[] {
  const list = listOf(value, limit);
  return list.length === 0 ? NOTHING : list.filter(isObject);
}

/** The identifier of a resource that is named by its address alone or is an object; "" without one. */
export function idOf(value: unknown): string {
  const id = isObject(value) ? value.id ?? value["@id"] : value;
  return typeof id === "string" && id.length <= MAX_ADDRESS_CHARACTERS ? id.trim() : "";
}

/** The type of a resource without its prefix: `sc:Canvas` is `Canvas`. "" without one. */
export function typeOf(node: Json): string {
  const type = node.type ?? node["@type"];
  const first = typeof type === "string" ? type : listOf(type, 10).find((own) => typeof own === "string");
  return first === undefined ? "" : withoutPrefix(first);
}

const withoutPrefix = (name: string) => name.slice(name.indexOf(":") + 1);

/** A word such as a media type, in lower case; null for anything that is none. */
export function wordOf(value: unknown): string | null {
  return typeof value === "string" && value.length > 0 && value.length <= 200 ? value.trim().toLowerCase() : null;
}

/** Addresses that a parser leaves as they are. Parsing every address costs more than all else of a large manifest. */
const PLAIN_ADDRESS =
  /^https?:\/\/(?:[a-z\d](?:[a-z\d-]{0,62})\.){0,10}[a-z]{2,63}(?::\d{1,4})?\/[\w\-.~!$&'()*+,;=:@%/?#]*$/;

/** The absolute address of a resource that is fetched or linked; null unless it is of http or https. */
export function addressOf(value: unknown, { base }: Reading): string | null {
  const id = idOf(value);
  if (id === "") return null;
  if (PLAIN_ADDRESS.test(id) && !id.includes("xn--")) return id;
  const url = URL.parse(id, base);
  // Browsers fetch no address with a password, and a user name hides the host from the reader.
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? url.href : null;
}

/** A width or a height: positive, also where it is written as a string. */
export function extentOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,8}(?:\.\d{1,8})?$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number > 0 && number <= MAX_EXTENT ? number : null;
}

/** Largest width and height that are taken for such. */
const MAX_EXTENT = 10_000_000;

/** Most entries that are read of the lists of a manifest; further ones are ignored. */
export const LIMITS = {
  sequences: 50,
  ranges: 20_000,
  /** Sum over all ranges. */
  rangeEntries: 200_000,
  /** Ranges within ranges. */
  rangeDepth: 32,
  /** Painting annotations of a canvas. */
  paintings: 200,
  /** Bodies of an annotation, and options of a choice. */
  choices: 100,
  /** Selectors of one part of an image or a canvas. */
  selectors: 10,
  annotationPages: 50,
  /** Annotations of one annotation page. */
  annotations: 10_000,
  /** Bodies of an annotation that is not painted. */
  supplements: 10,
  metadata: 200,
  /** Values of a text. */
  values: 100,
  links: 100,
  providers: 20,
  /** Thumbnails and logos. */
  images: 20,
  /** Words such as behaviors and motivations. */
  words: 20,
} as const;

/** Longest text that is read of one value, in UTF-16 code units. */
const MAX_TEXT = 10_000;

interface Worded {
  readonly language: string | null;
  readonly text: string;
}

/**
 * Reads a text of a manifest: a language map, or strings and JSON-LD values (`@value` with `@language`), which manifests
 * written by hand or upgraded by others have in its stead.
 *
 * @returns the values in the first of the reader's languages that is there, otherwise those without a language,
 * otherwise those of the first language
 */
function textsOf(value: unknown, { languages }: Reading): readonly string[] {
  if (value === undefined || value === null) return [];
  const all = wordedOf(value);
  return inLanguage(all, languages).map(({ text }) => plainText(text)).filter((text) => text !== "");
}

/** The values as one text, a line each; null where there is none. */
export function textOf(value: unknown, reading: Reading): string | null {
  const texts = textsOf(value, reading);
  return texts.length === 0 ? null : texts.join("\n");
}

/** The values as a label on one line; null where there is none. */
export function labelOf(value: unknown, reading: Reading): string | null {
  const label = textsOf(value, reading).join("; ").replace(/\s+/g, " ");
  return label === "" ? null : shortened(label, 1000);
}

/** Reads pairs of label and value; those without any text are left out. */
export function metadataOf(value: unknown, reading: Reading): readonly MetadataEntry[] {
  return listOf(value, LIMITS.metadata).flatMap((entry) => {
    const read = isObject(entry) ? metadataEntry(entry, reading) : null;
    return read === null ? [] : [read];
  });
}

/** Reads one pair of label and value; null without any text. */
export function metadataEntry(node: Json, reading: Reading): MetadataEntry | null {
  const label = labelOf(node.label, reading) ?? "";
  const values = textsOf(node.value, reading);
  return label === "" && values.length === 0 ? null : { label, values };
}

function wordedOf(value: unknown): readonly Worded[] {
  const all: Worded[] = [];
  const add = (value: unknown, language: string, depth: number) => {
    for (const entry of listOf(value, LIMITS.values)) {
      if (all.length >= MAX_WORDED || depth > MAX_TEXT_DEPTH) return;
      if (isText(entry)) all.push({ language: languageOf(language), text: String(entry) });
      else if (!isObject(entry)) continue;
      else if ("@value" in entry) {
        const { "@value": own, "@language": stated } = entry;
        add(own, typeof stated === "string" ? stated : language, depth + 1);
      } else for (const key of Object.keys(entry).slice(0, LIMITS.values)) add(entry[key], key, depth + 1);
    }
  };
  add(value, "none", 0);
  return all;
}

/** Values of one text in all its languages. */
const MAX_WORDED = 1000;
/** Lists and objects within one another. */
const MAX_TEXT_DEPTH = 3;

/** Manifests written by hand may have numbers in place of text. */
const isText = (value: unknown) => typeof value === "string" || typeof value === "number";

function languageOf(name: string): string | null {
  const language = name.toLowerCase();
  return /^(?:none|@none|@set|@list|und)?$/.test(language) ? null : language;
}

function inLanguage(all: readonly Worded[], languages: readonly string[]): readonly Worded[] {
  const first = all[0]?.language ?? null;
  if (all.every(({ language }) => language === first)) return all;
  for (const wanted of [...languages.map((language) => language.toLowerCase()), null, first]) {
    const found = all.filter(({ language }) => language === wanted);
    if (found.length > 0) return found;
    const related = wanted === null ? undefined : all.find(({ language }) => primary(language) === primary(wanted));
    if (related) return all.filter(({ language }) => language === related.language);
  }
  return all;
}

/** `sv` of `sv-FI`. */
const primary = (language: string | null) => language?.split("-", 1)[0];

/** The name is bounded so that a tag without an end costs no more than its length. */
const TAG = /<(\/?)([a-z][a-z0-9]{0,9})(?=[\s/>])[^<>]*>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi;
const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "],
]);
/** Elements that end a line. */
const BREAKING = /^(?:br|p|div|li|tr|h[1-6]|dd|dt)$/i;

/** The text of a value that may be HTML, without its markup. Control characters other than line ends are left out. */
function plainText(value: string): string {
  const text = shortened(value.trim(), MAX_TEXT);
  const isMarkup = text.startsWith("<") && /<\/?[a-z]/i.test(text);
  const bare = isMarkup
    ? text.replace(TAG, (_, closing, name) => BREAKING.test(name) && (closing || /^br$/i.test(name)) ? "\n" : "")
      .replace(ENTITY, decodedEntity)
    : text;
  // deno-lint-ignore no-control-regex
  return bare.replace(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, "").trim();
}

function decodedEntity(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? entity;
  const code = decimal !== undefined ? Number(decimal) : parseInt(hexadecimal ?? "", 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
