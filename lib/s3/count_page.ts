import { Buffer } from "node:buffer";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { compareText } from "@/lib/std/text_order.ts";
import { unescapeXml } from "@/lib/std/unescape_xml.ts";
import type { S3 } from "./client.ts";
import { parseObjectPage } from "./list_xml.ts";
import { MAX_KEYS } from "./listing.ts";
import { callS3ForXml } from "./read_xml.ts";
import { urlDecoded } from "./xml_values.ts";

/** A page of a listing, as numbers. */
export interface CountPage {
  readonly keys: number;
  /** Sum of the sizes. */
  readonly bytes: number;
  readonly prefixes: readonly string[];
  /** The first and the last key or common prefix, in the order of UTF-8 bytes; null on an empty page. */
  readonly first: string | null;
  readonly last: string | null;
  readonly isTruncated: boolean;
  readonly token: string | null;
  /** The same page without what lies outside of (`after`, `end`]; null is no limit. Slower than reading the page. */
  within(after: string | null, end: string | null): CountPage;
}

interface CountPageOptions {
  readonly prefix: string;
  readonly delimiter: string;
  /** A continuation token; null: the page begins behind `after`. */
  readonly token: string | null;
  readonly after: string | null;
  /** 1 to {@link MAX_KEYS}, which it is when absent. */
  readonly maxKeys?: number;
}

/** One page of a bucket's keys, of which only what counting needs is read. @throws HttpError as {@link callS3ForXml} */
export async function readCountPage(
  s3: S3,
  caller: Caller,
  bucket: string,
  options: CountPageOptions,
): Promise<CountPage> {
  const { prefix, delimiter, token, after, maxKeys = MAX_KEYS } = options;
  const query: [string, string][] = [
    ["list-type", "2"],
    ["max-keys", String(maxKeys)],
    // Keys may hold characters that XML does not allow.
    ["encoding-type", "url"],
  ];
  if (prefix !== "") query.push(["prefix", prefix]);
  if (delimiter !== "") query.push(["delimiter", delimiter]);
  if (token !== null) query.push(["continuation-token", token]);
  else if (after !== null) query.push(["start-after", after]);
  return await callS3ForXml(s3, caller, { method: "GET", bucket, query }, parseCountPage);
}

/**
 * Reads the numbers of a ListObjectsV2 response. A document that is not written as stores write it is read by the
 * parser for all documents.
 *
 * @throws MalformedXml
 */
export function parseCountPage(xml: string): CountPage {
  return scanned(xml) ?? parsed(xml);
}

/** Neither comments nor CDATA sections, whose text may look like elements, and no prefixes of a namespace. */
const PLAIN_ROOT = /^\s*(?:<\?xml[^>]*\?>\s*)?<ListBucketResult[\s>]/;

/** A page in its usual form; null for any other document. */
function scanned(xml: string): CountPage | null {
  if (!PLAIN_ROOT.test(xml) || xml.includes("<!") || !xml.trimEnd().endsWith("</ListBucketResult>")) return null;
  let keys = 0;
  let bytes = 0;
  const firstEntry = xml.indexOf("<Contents>");
  let lastEntry = -1;
  for (let at = firstEntry; at >= 0;) {
    const end = xml.indexOf("</Contents>", at);
    const size = xml.indexOf("<Size>", at);
    if (end < 0 || size < 0 || size > end) return null;
    let value = 0;
    let digit = size + "<Size>".length;
    for (let code = xml.charCodeAt(digit); code >= 0x30 && code <= 0x39; code = xml.charCodeAt(++digit)) {
      value = value * 10 + code - 0x30;
    }
    if (xml.charCodeAt(digit) !== LESS_THAN) return null;
    keys++;
    bytes += value;
    lastEntry = at;
    at = xml.startsWith("<Contents>", end + "</Contents>".length)
      ? end + "</Contents>".length
      : xml.indexOf("<Contents>", end);
  }
  const isEncoded = valueOf(xml, "EncodingType", 0)?.trim() === "url";
  const nameAt = (element: string, at: number): string => {
    const text = valueOf(xml, element, at) ?? "";
    return isEncoded ? urlDecoded(text) : text;
  };
  const prefixes: string[] = [];
  for (let at = xml.indexOf("<CommonPrefixes>"); at >= 0; at = xml.indexOf("<CommonPrefixes>", at + 1)) {
    prefixes.push(nameAt("Prefix", at));
  }
  const ends = keys > 0 ? [nameAt("Key", firstEntry), nameAt("Key", lastEntry)] : [];
  return {
    keys,
    bytes,
    prefixes,
    first: least([...ends.slice(0, 1), ...prefixes.slice(0, 1)]),
    last: greatest([...ends.slice(1), ...prefixes.slice(-1)]),
    isTruncated: valueOf(xml, "IsTruncated", 0)?.trim() === "true",
    token: valueOf(xml, "NextContinuationToken", 0) || null,
    within: (after, end) => parsed(xml).within(after, end),
  };
}

/** The text of the next element of a name; null where there is none, or its entities are unknown. */
function valueOf(xml: string, name: string, from: number): string | null {
  const start = xml.indexOf(`<${name}>`, from);
  if (start < 0) return null;
  const text = xml.slice(start + name.length + 2, xml.indexOf("<", start + 1));
  return unescapeXml(ownText(text)) ?? null;
}

/** A text with memory of its own: V8 keeps all of a text alive for a slice of it, and a token lives longer than its page. */
function ownText(slice: string): string {
  return Buffer.from(slice, "utf8").toString("utf8");
}

const LESS_THAN = 0x3c;

function parsed(xml: string): CountPage {
  const { objects, common_prefixes: prefixes, is_truncated: isTruncated, next_continuation_token: token } =
    parseObjectPage(xml);
  return pageOf(objects, prefixes, { isTruncated, token });
}

function pageOf(
  objects: readonly { readonly Key: string; readonly Size: number }[],
  prefixes: readonly string[],
  rest: Pick<CountPage, "isTruncated" | "token">,
): CountPage {
  const names = [...objects.map(({ Key }) => Key), ...prefixes];
  return {
    keys: objects.length,
    bytes: objects.reduce((sum, { Size }) => sum + Size, 0),
    prefixes,
    first: least(names),
    last: greatest(names),
    ...rest,
    within(after, end) {
      const isIn = (name: string) =>
        (after === null || compareText(name, after) > 0) && (end === null || compareText(name, end) <= 0);
      return pageOf(objects.filter(({ Key }) => isIn(Key)), prefixes.filter(isIn), rest);
    },
  };
}

function least(names: readonly string[]): string | null {
  return names.reduce<string | null>(
    (found, name) => found === null || compareText(name, found) < 0 ? name : found,
    null,
  );
}

function greatest(names: readonly string[]): string | null {
  return names.reduce<string | null>(
    (found, name) => found === null || compareText(name, found) > 0 ? name : found,
    null,
  );
}
