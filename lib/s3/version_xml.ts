import { z } from "zod";
import { MalformedXml, readListing, type XmlMembers } from "./xml.ts";
import { count, isTrue, nameReader, optionalTime, owner, ownerOf } from "./xml_values.ts";

const marker = z.object({
  Key: z.string(),
  VersionId: z.string().nullable(),
  IsLatest: z.boolean(),
  /** ISO 8601 in UTC, a fraction only when it is not zero. */
  LastModified: z.string().nullable(),
  Owner: owner.nullable(),
});

/** A page of versions and delete markers, members of its entries named as in S3. */
export const versionPage = z.object({
  versions: z.array(marker.extend({
    ETag: z.string().nullable(),
    Size: z.int().meta({ description: "bytes" }),
    StorageClass: z.string().nullable(),
  })),
  delete_markers: z.array(marker),
  is_truncated: z.boolean(),
  next_key_marker: z.string().nullable(),
  next_version_id_marker: z.string().nullable(),
  key_count: z.int().meta({ description: "Versions and delete markers of this page" }),
});
export type VersionPage = z.output<typeof versionPage>;

/** One version of a key, or a delete marker of it, members named as in S3. */
export const keyVersion = marker.extend({
  IsDeleteMarker: z.boolean(),
  ETag: z.string().nullable(),
  Size: z.int().nullable().meta({ description: "bytes; null for a delete marker" }),
  StorageClass: z.string().nullable(),
});
export type KeyVersion = z.output<typeof keyVersion>;

/** A page of versions in the order of the store. */
interface VersionEntries {
  readonly entries: readonly KeyVersion[];
  readonly isTruncated: boolean;
  readonly nextKeyMarker: string | null;
  readonly nextVersionIdMarker: string | null;
}

/** Reads a ListObjectVersions response. @throws MalformedXml for any other document */
export function parseVersionEntries(xml: string): VersionEntries {
  const { entries, members } = readListing(xml, "ListVersionsResult", ["Version", "DeleteMarker"]);
  const decoded = nameReader(members.get("EncodingType"));
  return {
    entries: entries.map(({ name, members }) => entryOf(members, name === "DeleteMarker", decoded)),
    isTruncated: isTrue(members.get("IsTruncated")),
    nextKeyMarker: decoded(members.get("NextKeyMarker") ?? "") || null,
    nextVersionIdMarker: members.get("NextVersionIdMarker") || null,
  };
}

/** The same, versions and delete markers apart. */
export function parseVersionPage(xml: string): VersionPage {
  const { entries, isTruncated, nextKeyMarker, nextVersionIdMarker } = parseVersionEntries(xml);
  const versions: VersionPage["versions"] = [];
  const markers: VersionPage["delete_markers"] = [];
  for (const { IsDeleteMarker, ETag, Size, StorageClass, ...marker } of entries) {
    if (IsDeleteMarker) markers.push(marker);
    else versions.push({ ...marker, ETag, Size: Size ?? 0, StorageClass });
  }
  return {
    versions,
    delete_markers: markers,
    is_truncated: isTruncated,
    next_key_marker: nextKeyMarker,
    next_version_id_marker: nextVersionIdMarker,
    key_count: entries.length,
  };
}

function entryOf(members: XmlMembers, IsDeleteMarker: boolean, decoded: (name: string) => string): KeyVersion {
  const key = members.get("Key");
  if (key === undefined) throw new MalformedXml("an entry without a key");
  return {
    Key: decoded(key),
    VersionId: members.get("VersionId") ?? null,
    IsLatest: isTrue(members.get("IsLatest")),
    LastModified: optionalTime(members.get("LastModified")),
    Owner: ownerOf({ ID: members.get("Owner/ID"), DisplayName: members.get("Owner/DisplayName") }),
    IsDeleteMarker,
    ETag: IsDeleteMarker ? null : members.get("ETag") ?? null,
    Size: IsDeleteMarker ? null : count(members.get("Size") ?? "0"),
    StorageClass: IsDeleteMarker ? null : members.get("StorageClass") || null,
  };
}
