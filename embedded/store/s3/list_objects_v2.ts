import { afterMarker } from "@/embedded/store/versions.ts";
import {
  commonPrefixElement,
  contentsElement,
  keyBytes,
  listingResponse,
  ownerElements,
  pageParameters,
  UNORDERED,
} from "./listing_xml.ts";
import { permittedBucket } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { element } from "./xml.ts";

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
    UNORDERED,
  ],
  handle,
};

function handle(call: S3Call): Response {
  const { store, request, bucket: name } = call;
  const bucket = permittedBucket(call, name, "BROWSE");
  const { prefix, delimiter, limit, isEncoded } = pageParameters(request, "max-keys");
  const startAfter = request.parameter("start-after") ?? "";
  const token = request.parameter("continuation-token");
  const [under, cut] = [keyBytes(prefix), keyBytes(delimiter)];
  // An empty token is that of the first page.
  const from = !token ? afterMarker(keyBytes(startAfter), under, cut) : fromToken(token);
  const page = from
    ? store.objects.list(bucket.id, under, cut, from, limit)
    : { objects: [], prefixes: [], next: null };
  const isTruncated = page.next !== null && limit > 0;
  const owners = request.parameter("fetch-owner") === "true" ? ownerElements(store) : () => "";
  return listingResponse("ListBucketResult", isEncoded, ({ encodeKey, encoding }) => [
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
    ...page.prefixes.map((common) => commonPrefixElement(common, encodeKey)),
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
