import { type Owner, ownerIn } from "./owner.ts";
import { MalformedXml } from "./xml.ts";
import { readTree, type XmlElement } from "./xml_tree.ts";
import { count, isTrue, nameReader, timestamp } from "./xml_values.ts";

/** A version of an object, members named as in S3. */
interface ListedVersion extends ListedMarker {
  ETag: string | null;
  /** bytes */
  Size: number;
  StorageClass: string | null;
}

/** A delete marker. */
interface ListedMarker {
  Key: string;
  VersionId: string | null;
  IsLatest: boolean;
  /** ISO 8601 in UTC, a fraction only when it is not zero. */
  LastModified: string | null;
  Owner: Owner | null;
}

export interface VersionPage {
  versions: ListedVersion[];
  delete_markers: ListedMarker[];
  is_truncated: boolean;
  next_key_marker: string | null;
  next_version_id_marker: string | null;
  /** Versions and markers of this page. */
  key_count: number;
}

/** Reads a ListObjectVersions response. @throws MalformedXml for any other document */
export function parseVersionPage(xml: string): VersionPage {
  const root = readTree(xml, "ListVersionsResult");
  const name = nameReader(root);
  const markerOf = (entry: XmlElement): ListedMarker => {
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
  const versions = root.all("Version").map((version): ListedVersion => {
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
