import { Buffer } from "node:buffer";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { compareText } from "@/lib/std/text_order.ts";
import type { S3 } from "./client.ts";
import { parseObjectPage } from "./list_xml.ts";
import { MAX_KEYS } from "./listing.ts";
import { callS3ForXml } from "./read_xml.ts";

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
  /** The same page without what lies outside of (`after`, `end`]; null is no limit. */
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
  return await callS3ForXml(s3, caller, { operation: "ListObjectsV2", method: "GET", bucket, query }, parseCountPage);
}

/** Reads the numbers of a ListObjectsV2 response. @throws MalformedXml */
export function parseCountPage(xml: string): CountPage {
  const { objects, common_prefixes: prefixes, is_truncated: isTruncated, next_continuation_token: token } =
    parseObjectPage(xml);
  return pageOf(objects, prefixes, { isTruncated, token: ownText(token) });
}

/** A copy of a text that outlives its page: V8 holds all of a page for a slice of it. */
function ownText(slice: string | null): string | null {
  return slice && Buffer.from(slice, "utf8").toString("utf8");
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
    last: ownText(greatest(names)),
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
