import type { ListedObject } from "@/lib/embedded/store/objects.ts";
import { permittedBucket } from "@/lib/embedded/store/s3/caller.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import { element, xmlResponse, xmlTime } from "@/lib/embedded/store/s3/xml.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";

/** Most entries of one page. */
const MAX_KEYS = 1000;

/** ListObjectsV2 */
export const listObjectsV2: S3Operation = {
  name: "ListObjectsV2",
  method: "GET",
  level: "bucket",
  marker: ["list-type", "2"],
  parameters: [
    "prefix",
    "delimiter",
    "continuation-token",
    "start-after",
    "max-keys",
    "fetch-owner",
    "encoding-type",
  ],
  handle,
};

function handle({ store, caller: { user }, request, bucket: name }: S3Call): Response {
  const bucket = permittedBucket(store.buckets, user, name, "BROWSE");
  const prefix = request.parameter("prefix") ?? "";
  const delimiter = request.parameter("delimiter") ?? "";
  const startAfter = request.parameter("start-after") ?? "";
  const token = request.parameter("continuation-token");
  const limit = pageSize(request.parameter("max-keys"));
  const shown = keyEncoding(request.parameter("encoding-type"));
  const from = token === null ? behind(startAfter) : fromToken(token);
  const page = store.objects.list(bucket.id, utf8(prefix), utf8(delimiter), from, limit);
  const isTruncated = page.next !== null && limit > 0;
  const owners = request.parameter("fetch-owner") === "true" ? ownerElements(store) : () => "";
  const content = [
    element("Name", bucket.name),
    element("Prefix", shown(prefix)),
    delimiter && element("Delimiter", shown(delimiter)),
    element("MaxKeys", limit),
    element("KeyCount", page.objects.length + page.prefixes.length),
    element("IsTruncated", isTruncated),
    token !== null && element("ContinuationToken", token),
    isTruncated && page.next && element("NextContinuationToken", toToken(page.next)),
    startAfter && element("StartAfter", shown(startAfter)),
    request.parameter("encoding-type") && element("EncodingType", "url"),
    ...page.objects.map((object) => contents(object, shown, owners)),
    ...page.prefixes.map((common) => `<CommonPrefixes>${element("Prefix", shown(text(common)))}</CommonPrefixes>`),
  ];
  return xmlResponse("ListBucketResult", content.filter((part) => part).join(""));
}

function contents(object: ListedObject, shown: (key: string) => string, owner: (id: number | null) => string): string {
  return `<Contents>${element("Key", shown(text(object.key)))}${element("LastModified", xmlTime(object.modifiedMs))}` +
    `${element("ETag", `"${object.etag}"`)}${element("Size", object.size)}<StorageClass>STANDARD</StorageClass>` +
    `${owner(object.owner)}</Contents>`;
}

/** Owners of one page: few users own many objects, so each is looked up once. */
function ownerElements(store: StoreParts): (id: number | null) => string {
  const known = new Map<number, string>();
  return (id) => {
    if (id === null) return "";
    let xml = known.get(id);
    if (xml === undefined) {
      const user = store.accounts.userById(id);
      xml = user ? `<Owner>${element("ID", user.guid)}${element("DisplayName", user.name)}</Owner>` : "";
      known.set(id, xml);
    }
    return xml;
  };
}

function pageSize(text: string | null): number {
  if (text === null || text === "") return MAX_KEYS;
  if (!/^[0-9]{1,9}$/.test(text)) throw new S3Error("InvalidArgument", "max-keys must be a whole number from 0");
  return Math.min(Number(text), MAX_KEYS);
}

function keyEncoding(type: string | null): (key: string) => string {
  if (type === null) return (key) => key;
  if (type !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  return (key) => encodeURIComponent(key).replaceAll("%2F", "/");
}

/** The first key behind one that is left out. */
function behind(key: string): Uint8Array {
  return key === "" ? new Uint8Array() : utf8(`${key}\0`);
}

/** A token is the first key of the next page, in base64url. */
function toToken(key: Uint8Array): string {
  return btoa(String.fromCharCode(...key)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromToken(token: string): Uint8Array {
  try {
    const bytes = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    const key = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
    if (key.length > 0 && toToken(key) === token) return key;
  } catch {
    // Not base64: answered below like any token that was not made here.
  }
  throw new S3Error("InvalidArgument", "The continuation token is not valid");
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function text(key: Uint8Array): string {
  return new TextDecoder().decode(key);
}
