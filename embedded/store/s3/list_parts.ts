import type { UploadedPart } from "@/embedded/store/uploads.ts";
import { ownerElement } from "./listing_xml.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { checksumElements, checksumKind } from "./upload_checksums.ts";
import { pageSize, presentUpload, wholeNumber } from "./upload_parameters.ts";
import { element, xmlResponse, xmlTime } from "./xml.ts";

/** ListParts */
export const listParts: S3Operation = {
  name: "ListParts",
  method: "GET",
  level: "object",
  marker: ["uploadId"],
  parameters: ["max-parts", "part-number-marker"],
  handle,
};

function handle(call: S3Call): Response {
  const { store, request, key } = call;
  const { in: bucket, upload } = presentUpload(call);
  const limit = pageSize(request, "max-parts");
  const after = wholeNumber(request, "part-number-marker", 2 ** 31 - 1) ?? 0;
  const found = store.uploads.parts(upload.id, after, limit + 1);
  const parts = found.slice(0, limit);
  const isTruncated = limit > 0 && found.length > limit;
  const content = [
    element("Bucket", bucket.name),
    element("Key", key),
    element("UploadId", upload.id),
    ownerElement(store.accounts, "Initiator", upload.owner),
    ownerElement(store.accounts, "Owner", upload.owner),
    element("StorageClass", "STANDARD"),
    element("PartNumberMarker", after),
    isTruncated ? element("NextPartNumberMarker", parts[parts.length - 1].number) : "",
    element("MaxParts", limit),
    element("IsTruncated", isTruncated),
    checksumKind(upload.checksumAlgorithm, upload.checksumType),
    ...parts.map(partElement),
  ];
  return xmlResponse("ListPartsResult", content.join(""));
}

function partElement(part: UploadedPart): string {
  return `<Part>${element("PartNumber", part.number)}${element("LastModified", xmlTime(part.modifiedMs))}` +
    `${element("ETag", `"${part.etag}"`)}${element("Size", part.size)}${checksumElements(part.checksums)}</Part>`;
}
