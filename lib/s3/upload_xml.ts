import { z } from "zod";
import { MalformedXml } from "./xml.ts";
import { readTree } from "./xml_tree.ts";
import { count, isTrue, nameReader, timestamp } from "./xml_values.ts";

/** A page of multipart uploads that are neither completed nor aborted, members of its entries named as in S3. */
export const uploadPage = z.object({
  uploads: z.array(z.object({
    Key: z.string(),
    UploadId: z.string(),
    /** ISO 8601 in UTC. */
    Initiated: z.string().nullable(),
    StorageClass: z.string().nullable(),
  })),
  is_truncated: z.boolean(),
  next_key_marker: z.string().nullable(),
  next_upload_id_marker: z.string().nullable(),
});
export type UploadPage = z.output<typeof uploadPage>;

/** A page of the parts that an upload has, likewise. */
export const partPage = z.object({
  parts: z.array(z.object({
    PartNumber: z.int(),
    ETag: z.string().nullable(),
    Size: z.int().meta({ description: "bytes" }),
    LastModified: z.string().nullable(),
    ChecksumSHA256: z.string().optional().meta({ description: "base64; absent where the store states none" }),
  })),
  is_truncated: z.boolean(),
  next_part_number_marker: z.int().nullable(),
});
export type PartPage = z.output<typeof partPage>;

/** Reads a ListMultipartUploads response. @throws MalformedXml for any other document */
export function parseUploadPage(xml: string): UploadPage {
  const root = readTree(xml, "ListMultipartUploadsResult");
  const name = nameReader(root);
  const uploads = root.all("Upload").map((upload) => {
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
  const parts = root.all("Part").map((part) => {
    const number = part.read(count, "PartNumber");
    if (!number) throw new MalformedXml("a part without a number");
    const ChecksumSHA256 = part.text("ChecksumSHA256");
    return {
      PartNumber: number,
      ETag: part.text("ETag"),
      Size: part.read(count, "Size") ?? 0,
      LastModified: part.read(timestamp, "LastModified"),
      ...ChecksumSHA256 ? { ChecksumSHA256 } : {},
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
