import { compareBytes } from "@/embedded/store/objects.ts";
import { afterMarker } from "@/embedded/store/versions.ts";
import {
  commonPrefixElement,
  contentsElement,
  keyBytes,
  keyText,
  listingResponse,
  ownerElements,
  pageParameters,
  UNORDERED,
} from "./listing_xml.ts";
import { permittedBucket } from "./permitted.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { element, fitsXml } from "./xml.ts";

/** ListObjects, the first version: pages go on by the last entry of the page before. */
export const listObjects: S3Operation = {
  name: "ListObjects",
  method: "GET",
  level: "bucket",
  parameters: ["prefix", "delimiter", "marker", "max-keys", "encoding-type", UNORDERED],
  handle,
};

function handle(call: S3Call): Response {
  const { store, request, bucket: name } = call;
  const bucket = permittedBucket(call, name, "BROWSE");
  const { prefix, delimiter, limit, isEncoded } = pageParameters(request, "max-keys");
  const marker = request.parameter("marker") ?? "";
  const [under, cut] = [keyBytes(prefix), keyBytes(delimiter)];
  const from = afterMarker(keyBytes(marker), under, cut);
  const page = from
    ? store.objects.list(bucket.id, under, cut, from, limit)
    : { objects: [], prefixes: [], next: null };
  const isTruncated = page.next !== null && limit > 0;
  const owners = ownerElements(store);
  return listingResponse("ListBucketResult", isEncoded, ({ encodeKey, encoding }) => [
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
    ...page.prefixes.map((common) => commonPrefixElement(common, encodeKey)),
  ]);
}

function lastEntry({ objects, prefixes }: { objects: { key: Uint8Array }[]; prefixes: Uint8Array[] }): Uint8Array {
  const key = objects.at(-1)?.key ?? new Uint8Array();
  const common = prefixes.at(-1) ?? new Uint8Array();
  return compareBytes(key, common) > 0 ? key : common;
}
