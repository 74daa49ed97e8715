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

/** Reads a ListObjectVersions response. @throws MalformedXml for any other document */
export function parseVersionPage(xml: string): VersionPage {
  const root = readTree(xml, "ListVersionsResult");
  const name = nameReader(root);
  const markerOf = (entry: XmlElement): z.output<typeof marker> => {
    const key = entry.text("Key");
    if (key === null) throw new MalformedXml("an entry without a key");
    return {
      Key: name(key),
      VersionId: entry.text("VersionId"),
      IsLatest: entry.read(isTrue, "IsLatest") ?? false,
      LastModified: entry.read(timestamp, "LastModified"),
      Owner: ownerIn(entry),
    };
  };
  const versions = root.all("Version").map((version) => {
    const { Owner, ...marker } = markerOf(version);
    return {
      ...marker,
      ETag: version.text("ETag"),
      Size: version.read(count, "Size") ?? 0,
      StorageClass: version.text("StorageClass") || null,
      Owner,
    };
  });
  const markers = root.all("DeleteMarker").map(markerOf);
  return {
    versions,
    delete_markers: markers,
    is_truncated: root.read(isTrue, "IsTruncated") ?? false,
    next_key_marker: root.read(name, "NextKeyMarker") || null,
    next_version_id_marker: root.text("NextVersionIdMarker") || null,
    key_count: versions.length + markers.length,
  };
}
