import type { ListedVersion } from "@/embedded/store/versions.ts";
import { VERSION_ID_MARKER } from "./issued_forms.ts";
import { checksumKindOf, keyBytes, keyText, listingResponse, ownerElements, pageParameters } from "./listing_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { element, xmlTime } from "./xml.ts";

/** ListObjectVersions */
export function listObjectVersions(call: S3Call): Response {
  const { store, request } = call;
  const { bucket, prefix, delimiter, bytes, limit, isEncoded } = pageParameters(call, "max-keys");
  const keyMarker = request.parameter("key-marker") ?? "";
  const versionMarker = request.parameter("version-id-marker") || null;
  checkMarkers(keyMarker, versionMarker);
  const { versions, prefixes, next } = store.versions.list(bucket.id, {
    ...bytes,
    keyMarker: keyBytes(keyMarker),
    versionMarker,
    limit,
  });
  const following = limit > 0 ? next : null;
  const owners = ownerElements(store);
  return listingResponse("ListVersionsResult", isEncoded, prefixes, ({ encodeKey, encoding }) => [
    element("Name", bucket.name),
    element("Prefix", encodeKey(prefix)),
    element("KeyMarker", encodeKey(keyMarker)),
    element("VersionIdMarker", versionMarker ?? ""),
    following && element("NextKeyMarker", encodeKey(keyText(following.key))),
    following?.version && element("NextVersionIdMarker", following.version),
    element("MaxKeys", limit),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("IsTruncated", following !== null),
    encoding,
    ...versions.map((version) => versionElement(version, encodeKey, owners)),
  ]);
}

const MARKER = new RegExp(VERSION_ID_MARKER);

function checkMarkers(keyMarker: string, versionMarker: string | null): void {
  if (versionMarker === null) return;
  if (keyMarker === "") throw new S3Error("InvalidArgument", "version-id-marker needs a key-marker");
  if (!MARKER.test(versionMarker)) {
    throw new S3Error("InvalidArgument", "version-id-marker is not a version id");
  }
}

function versionElement(
  version: ListedVersion,
  encodeKey: (key: string) => string,
  owner: (id: number | null) => string,
): string {
  const named = `${element("Key", encodeKey(keyText(version.key)))}${element("VersionId", version.version)}` +
    `${element("IsLatest", version.isLatest)}${element("LastModified", xmlTime(version.modifiedMs))}`;
  if (version.isMarker) return `<DeleteMarker>${named}${owner(version.owner)}</DeleteMarker>`;
  return `<Version>${named}${element("ETag", `"${version.etag}"`)}${checksumKindOf(version.checksums)}` +
    `${element("Size", version.size)}${element("StorageClass", version.storageClass ?? "STANDARD")}` +
    `${owner(version.owner)}</Version>`;
}
