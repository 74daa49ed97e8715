import { z } from "zod";
import { MalformedXml } from "./xml.ts";
import { readTree, type XmlElement } from "./xml_tree.ts";
import { count, isTrue, nameReader, owner, ownerIn, timestamp } from "./xml_values.ts";

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

/** Reads a ListObjectVersions response. @throws MalformedXml for any other document */
export function parseVersionPage(xml: string): VersionPage {
  const root = readTree(xml, "ListVersionsResult");
  const name = nameReader(root.text("EncodingType"));
  const versions = root.all("Version").map((entry) => versionOf(entry, name));
  const markers = root.all("DeleteMarker").map((entry) => markerOf(entry, name));
  return {
    versions,
    delete_markers: markers,
    is_truncated: root.read(isTrue, "IsTruncated") ?? false,
    next_key_marker: root.read(name, "NextKeyMarker") || null,
    next_version_id_marker: root.text("NextVersionIdMarker") || null,
    key_count: versions.length + markers.length,
  };
}

/** The entries of a ListObjectVersions response in its order. @throws MalformedXml for any other document */
export function parseVersionEntries(xml: string): {
  readonly entries: readonly KeyVersion[];
  readonly isTruncated: boolean;
  readonly nextVersionIdMarker: string | null;
} {
  const root = readTree(xml, "ListVersionsResult");
  const name = nameReader(root.text("EncodingType"));
  const entries = root.children.filter(({ children }) => children.length > 0).flatMap((entry): KeyVersion[] => {
    if (entry.name === "Version") return [{ ...versionOf(entry, name), IsDeleteMarker: false }];
    if (entry.name !== "DeleteMarker") return [];
    return [{ ...markerOf(entry, name), IsDeleteMarker: true, ETag: null, Size: null, StorageClass: null }];
  });
  return {
    entries,
    isTruncated: root.read(isTrue, "IsTruncated") ?? false,
    nextVersionIdMarker: root.text("NextVersionIdMarker") || null,
  };
}

function markerOf(entry: XmlElement, name: (text: string) => string): z.output<typeof marker> {
  const key = entry.text("Key");
  if (key === null) throw new MalformedXml("an entry without a key");
  return {
    Key: name(key),
    VersionId: entry.text("VersionId"),
    IsLatest: entry.read(isTrue, "IsLatest") ?? false,
    LastModified: entry.read(timestamp, "LastModified"),
    Owner: ownerIn(entry),
  };
}

function versionOf(entry: XmlElement, name: (text: string) => string): VersionPage["versions"][number] {
  const { Owner, ...marker } = markerOf(entry, name);
  return {
    ...marker,
    ETag: entry.text("ETag"),
    Size: entry.read(count, "Size") ?? 0,
    StorageClass: entry.text("StorageClass") || null,
    Owner,
  };
}
