import { MalformedXml, scanXml } from "./xml.ts";
import { count, mustBeUnder, timestamp, urlDecoded } from "./xml_values.ts";

/** An upload in progress, members named as S3 names them. */
export interface ListedUpload {
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
export interface ListedPart {
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

/** Reads a ListMultipartUploads answer. @throws MalformedXml when it is no such answer */
export function parseUploadPage(xml: string): UploadPage {
  const root = "ListMultipartUploadsResult";
  const page: UploadPage = { uploads: [], is_truncated: false, next_key_marker: null, next_upload_id_marker: null };
  let encoded = false;
  let entry: ListedUpload = emptyUpload();
  scanXml(xml, {
    leaf(path, text) {
      switch (path) {
        case "ListMultipartUploadsResult/Upload/Key":
          entry.Key = text;
          return;
        case "ListMultipartUploadsResult/Upload/UploadId":
          entry.UploadId = text;
          return;
        case "ListMultipartUploadsResult/Upload/Initiated":
          entry.Initiated = timestamp(text);
          return;
        case "ListMultipartUploadsResult/Upload/StorageClass":
          entry.StorageClass = text || null;
          return;
        case "ListMultipartUploadsResult/IsTruncated":
          page.is_truncated = text.trim() === "true";
          return;
        case "ListMultipartUploadsResult/NextKeyMarker":
          page.next_key_marker = text === "" ? null : text;
          return;
        case "ListMultipartUploadsResult/NextUploadIdMarker":
          page.next_upload_id_marker = text === "" ? null : text;
          return;
        case "ListMultipartUploadsResult/EncodingType":
          encoded = text.trim() === "url";
          return;
        default:
          mustBeUnder(path, root);
      }
    },
    close(path) {
      if (path !== "ListMultipartUploadsResult/Upload") return mustBeUnder(path, root);
      if (entry.Key === "" || entry.UploadId === "") throw new MalformedXml("an upload without a name");
      page.uploads.push(entry);
      entry = emptyUpload();
    },
  });
  if (encoded) {
    for (const upload of page.uploads) upload.Key = urlDecoded(upload.Key);
    if (page.next_key_marker !== null) page.next_key_marker = urlDecoded(page.next_key_marker);
  }
  return page;
}

/** Reads a ListParts answer. @throws MalformedXml when it is no such answer */
export function parsePartPage(xml: string): PartPage {
  const root = "ListPartsResult";
  const page: PartPage = { parts: [], is_truncated: false, next_part_number_marker: null };
  let entry: ListedPart = emptyPart();
  scanXml(xml, {
    leaf(path, text) {
      switch (path) {
        case "ListPartsResult/Part/PartNumber":
          entry.PartNumber = count(text);
          return;
        case "ListPartsResult/Part/ETag":
          entry.ETag = text;
          return;
        case "ListPartsResult/Part/Size":
          entry.Size = count(text);
          return;
        case "ListPartsResult/Part/LastModified":
          entry.LastModified = timestamp(text);
          return;
        case "ListPartsResult/IsTruncated":
          page.is_truncated = text.trim() === "true";
          return;
        case "ListPartsResult/NextPartNumberMarker":
          page.next_part_number_marker = text === "" ? null : count(text);
          return;
        default:
          mustBeUnder(path, root);
      }
    },
    close(path) {
      if (path !== "ListPartsResult/Part") return mustBeUnder(path, root);
      if (entry.PartNumber === 0) throw new MalformedXml("a part without a number");
      page.parts.push(entry);
      entry = emptyPart();
    },
  });
  return page;
}

/** A reader of one leaf of a small answer, such as `["CopyPartResult", "ETag"]`; null where it is not there. */
export function leafOf(root: string, name: string): (xml: string) => string | null {
  return (xml) => {
    let found: string | null = null;
    scanXml(xml, {
      leaf(path, text) {
        mustBeUnder(path, root);
        if (path === `${root}/${name}`) found = text;
      },
      close: (path) => mustBeUnder(path, root),
    });
    return found;
  };
}

function emptyUpload(): ListedUpload {
  return { Key: "", UploadId: "", Initiated: null, StorageClass: null };
}

function emptyPart(): ListedPart {
  return { PartNumber: 0, ETag: null, Size: 0, LastModified: null };
}
