import type { Owner } from "./list_xml.ts";
import { MalformedXml, scanXml } from "./xml.ts";
import { count, mustBeUnder, timestamp, urlDecoded } from "./xml_values.ts";

/** A version of an object, members named as S3 names them. */
export interface ListedVersion extends ListedMarker {
  ETag: string | null;
  /** bytes */
  Size: number;
  StorageClass: string | null;
}

/** A delete marker. */
export interface ListedMarker {
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

const ROOT = "ListVersionsResult";

/** Reads a ListObjectVersions answer in one pass. @throws MalformedXml when it is no such answer */
export function parseVersionPage(xml: string): VersionPage {
  const versions: ListedVersion[] = [];
  const markers: ListedMarker[] = [];
  let truncated = false;
  let nextKey: string | null = null;
  let nextVersion: string | null = null;
  let encoded = false;
  let entry = emptyEntry();
  let keyed = false;
  scanXml(xml, {
    leaf(path, text) {
      switch (path) {
        case "ListVersionsResult/Version/Key":
        case "ListVersionsResult/DeleteMarker/Key":
          entry.Key = text;
          keyed = true;
          return;
        case "ListVersionsResult/Version/VersionId":
        case "ListVersionsResult/DeleteMarker/VersionId":
          entry.VersionId = text;
          return;
        case "ListVersionsResult/Version/IsLatest":
        case "ListVersionsResult/DeleteMarker/IsLatest":
          entry.IsLatest = text.trim() === "true";
          return;
        case "ListVersionsResult/Version/LastModified":
        case "ListVersionsResult/DeleteMarker/LastModified":
          entry.LastModified = timestamp(text);
          return;
        case "ListVersionsResult/Version/Owner/ID":
        case "ListVersionsResult/DeleteMarker/Owner/ID":
          entry.Owner = { DisplayName: entry.Owner?.DisplayName ?? null, ID: text };
          return;
        case "ListVersionsResult/Version/Owner/DisplayName":
        case "ListVersionsResult/DeleteMarker/Owner/DisplayName":
          entry.Owner = { DisplayName: text, ID: entry.Owner?.ID ?? null };
          return;
        case "ListVersionsResult/Version/ETag":
          entry.ETag = text;
          return;
        case "ListVersionsResult/Version/Size":
          entry.Size = count(text);
          return;
        case "ListVersionsResult/Version/StorageClass":
          entry.StorageClass = text || null;
          return;
        case "ListVersionsResult/IsTruncated":
          truncated = text.trim() === "true";
          return;
        case "ListVersionsResult/NextKeyMarker":
          nextKey = text || null;
          return;
        case "ListVersionsResult/NextVersionIdMarker":
          nextVersion = text || null;
          return;
        case "ListVersionsResult/EncodingType":
          encoded = text.trim() === "url";
          return;
        default:
          mustBeUnder(path, ROOT);
      }
    },
    close(path) {
      if (path !== "ListVersionsResult/Version" && path !== "ListVersionsResult/DeleteMarker") {
        return mustBeUnder(path, ROOT);
      }
      if (!keyed) throw new MalformedXml("an entry without a key");
      if (path === "ListVersionsResult/Version") versions.push(entry);
      else {
        const { Key, VersionId, IsLatest, LastModified, Owner } = entry;
        markers.push({ Key, VersionId, IsLatest, LastModified, Owner });
      }
      entry = emptyEntry();
      keyed = false;
    },
  });
  if (encoded) {
    for (const named of [...versions, ...markers]) named.Key = urlDecoded(named.Key);
    if (nextKey !== null) nextKey = urlDecoded(nextKey);
  }
  return {
    versions,
    delete_markers: markers,
    is_truncated: truncated,
    next_key_marker: nextKey,
    next_version_id_marker: nextVersion,
    key_count: versions.length + markers.length,
  };
}

function emptyEntry(): ListedVersion {
  return {
    Key: "",
    VersionId: null,
    IsLatest: false,
    LastModified: null,
    ETag: null,
    Size: 0,
    StorageClass: null,
    Owner: null,
  };
}
