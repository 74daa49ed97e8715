import { MalformedXml } from "./xml.ts";
import { readTree } from "./xml_tree.ts";
import { count, isTrue, nameReader, timestamp } from "./xml_values.ts";

/** An open multipart upload, members named as in S3. */
interface ListedUpload {
  Key: string;
  UploadId: string;
  /** ISO 8601 in UTC. */
  Initiated: string | null;
  StorageClass: string | null;
}

export interface UploadPage {
  uploads: ListedUpload[];
  is_truncated: boolean;
  next_key_marker: string | null;
  next_upload_id_marker: string | null;
}

/** A part that was uploaded. */
interface ListedPart {
  PartNumber: number;
  ETag: string | null;
  /** bytes */
  Size: number;
  LastModified: string | null;
}

export interface PartPage {
  parts: ListedPart[];
  is_truncated: boolean;
  next_part_number_marker: number | null;
}

/** Reads a ListMultipartUploads response. @throws MalformedXml for any other document */
export function parseUploadPage(xml: string): UploadPage {
  const root = readTree(xml, "ListMultipartUploadsResult");
  const name = nameReader(root);
  const uploads = root.all("Upload").map((upload): ListedUpload => {
    const key = upload.text("Key");
    const uploadId = upload.text("UploadId");
    if (!key || !uploadId) throw new MalformedXml("an upload without a name");
    return {
      Key: name(key),
      UploadId: uploadId,
      Initiated: upload.read(timestamp, "Initiated"),
      StorageClass: upload.text("StorageClass") || null,
    };
  });
  return {
    uploads,
    is_truncated: root.read(isTrue, "IsTruncated") ?? false,
    next_key_marker: root.read(name, "NextKeyMarker") || null,
    next_upload_id_marker: root.text("NextUploadIdMarker") || null,
  };
}

/** Reads a ListParts response. @throws MalformedXml for any other document */
export function parsePartPage(xml: string): PartPage {
  const root = readTree(xml, "ListPartsResult");
  const parts = root.all("Part").map((part): ListedPart => {
    const number = part.read(count, "PartNumber");
    if (!number) throw new MalformedXml("a part without a number");
    return {
      PartNumber: number,
      ETag: part.text("ETag"),
      Size: part.read(count, "Size") ?? 0,
      LastModified: part.read(timestamp, "LastModified"),
    };
  });
  const next = root.text("NextPartNumberMarker");
  return {
    parts,
    is_truncated: root.read(isTrue, "IsTruncated") ?? false,
    next_part_number_marker: next ? count(next) : null,
  };
}

/** A reader of one child of a small document, such as `ETag` of `CopyPartResult`; null where it is absent. */
export function childReader(root: string, name: string): (xml: string) => string | null {
  return (xml) => readTree(xml, root).text(name);
}
