import { isObject } from "@/lib/std/untrusted.ts";

/** A JSON object of a manifest. Nothing about its members is known. */
export type Json = Readonly<Record<string, unknown>>;

/** What every part of a manifest is read with. */
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
