import { compareBytes } from "@/embedded/store/objects.ts";
import { afterMarker } from "@/embedded/store/versions.ts";
import { contentsElement, keyBytes, keyText, listingResponse, ownerElements, pageParameters } from "./listing_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { element, fitsXml } from "./xml.ts";

/** ListObjects, the first version: pages go on by the last entry of the page before. */
export function listObjects(call: S3Call): Response {
  const { store, request } = call;
  const { bucket, prefix, delimiter, bytes, limit, isEncoded } = pageParameters(call, "max-keys");
  const marker = request.parameter("marker") ?? "";
  const from = afterMarker(keyBytes(marker), bytes.prefix, bytes.delimiter);
  const page = store.objects.list(bucket.id, bytes.prefix, bytes.delimiter, from, limit);
  const isTruncated = page.next !== null && limit > 0;
  const owners = ownerElements(store);
  return listingResponse("ListBucketResult", isEncoded, page.prefixes, ({ encodeKey, encoding }) => [
    element("Name", bucket.name),
    // Plain wherever XML can hold it: botocore decodes all of a listing of this version but this.
    element("Prefix", fitsXml(prefix) ? prefix : encodeKey(prefix)),
    element("Marker", encodeKey(marker)),
    // Without a delimiter the last key of the page is the next marker already.
    isTruncated && delimiter && element("NextMarker", encodeKey(keyText(lastEntry(page)))),
    element("MaxKeys", limit),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("IsTruncated", isTruncated),
    encoding,
    ...page.objects.map((object) => contentsElement(object, encodeKey, owners)),
  ]);
}

function lastEntry({ objects, prefixes }: { objects: { key: string }[]; prefixes: Uint8Array[] }): Uint8Array {
  const key = keyBytes(objects.at(-1)?.key ?? "");
  const common = prefixes.at(-1) ?? new Uint8Array();
  return compareBytes(key, common) > 0 ? key : common;
}

/** ListObjectsV2 */
export function listObjectsV2(call: S3Call): Response {
  const { store, request } = call;
  const { bucket, prefix, delimiter, bytes, limit, isEncoded } = pageParameters(call, "max-keys");
  const startAfter = request.parameter("start-after") ?? "";
  const token = request.parameter("continuation-token");
  // An empty token is that of the first page.
  const from = !token ? afterMarker(keyBytes(startAfter), bytes.prefix, bytes.delimiter) : fromToken(token);
  const page = store.objects.list(bucket.id, bytes.prefix, bytes.delimiter, from, limit);
  const isTruncated = page.next !== null && limit > 0;
  const owners = request.parameter("fetch-owner") === "true" ? ownerElements(store) : () => "";
  return listingResponse("ListBucketResult", isEncoded, page.prefixes, ({ encodeKey, encoding }) => [
    element("Name", bucket.name),
    element("Prefix", encodeKey(prefix)),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("MaxKeys", limit),
    element("KeyCount", page.objects.length + page.prefixes.length),
    element("IsTruncated", isTruncated),
    token !== null && element("ContinuationToken", token),
    isTruncated && page.next && element("NextContinuationToken", toToken(page.next)),
    startAfter && element("StartAfter", encodeKey(startAfter)),
    encoding,
    ...page.objects.map((object) => contentsElement(object, encodeKey, owners)),
  ]);
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
    // Not base64: rejected below like any token that was not issued here.
  }
  throw new S3Error("InvalidArgument", "The continuation token is not valid");
}
