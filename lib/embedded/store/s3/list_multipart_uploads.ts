import { permittedBucket, signedUser } from "@/lib/embedded/store/s3/permitted.ts";
import { ownerElement } from "@/lib/embedded/store/s3/owner_element.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import { checksumKind } from "@/lib/embedded/store/s3/upload_checksums.ts";
import { pageSize } from "@/lib/embedded/store/s3/upload_parameters.ts";
import { element, xmlResponse, xmlTime } from "@/lib/embedded/store/s3/xml.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";
import type { Upload } from "@/lib/embedded/store/uploads.ts";

/** ListMultipartUploads: those under way, by their keys, those of one key in the order they were started. */
export const listMultipartUploads: S3Operation = {
  name: "ListMultipartUploads",
  method: "GET",
  level: "bucket",
  marker: ["uploads"],
  parameters: ["prefix", "delimiter", "key-marker", "upload-id-marker", "max-uploads", "encoding-type"],
  handle,
};

function handle(call: S3Call): Response {
  const { store, request, bucket: name } = call;
  signedUser(call.caller);
  const bucket = permittedBucket(call, name, "BROWSE");
  const prefix = request.parameter("prefix") ?? "";
  const delimiter = request.parameter("delimiter") ?? "";
  const keyMarker = request.parameter("key-marker") ?? "";
  // Without a key it has no meaning, and S3 reads over it.
  const uploadMarker = keyMarker === "" ? "" : request.parameter("upload-id-marker") ?? "";
  const limit = pageSize(request, "max-uploads");
  const encoding = request.parameter("encoding-type");
  if (encoding !== null && encoding !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  const shown = (key: string) => encoding === null ? key : encodeURIComponent(key).replaceAll("%2F", "/");
  const page = store.uploads.list(
    bucket.id,
    utf8(prefix),
    utf8(delimiter),
    { key: utf8(keyMarker), upload: uploadMarker },
    limit,
  );
  const next = limit > 0 ? page.next : null;
  const content = [
    element("Bucket", bucket.name),
    element("KeyMarker", shown(keyMarker)),
    element("UploadIdMarker", uploadMarker),
    next ? element("NextKeyMarker", shown(text(next.key))) + element("NextUploadIdMarker", next.upload) : "",
    element("Prefix", shown(prefix)),
    delimiter && element("Delimiter", shown(delimiter)),
    element("MaxUploads", limit),
    element("IsTruncated", next !== null),
    encoding ? element("EncodingType", "url") : "",
    ...page.uploads.map((upload) => uploadElement(store, upload, shown)),
    ...page.prefixes.map((common) => `<CommonPrefixes>${element("Prefix", shown(text(common)))}</CommonPrefixes>`),
  ];
  return xmlResponse("ListMultipartUploadsResult", content.join(""));
}

function uploadElement(store: StoreParts, upload: Upload, shown: (key: string) => string): string {
  return `<Upload>${element("Key", shown(text(upload.key)))}${element("UploadId", upload.id)}` +
    ownerElement(store.accounts, "Initiator", upload.owner) + ownerElement(store.accounts, "Owner", upload.owner) +
    `<StorageClass>STANDARD</StorageClass>${element("Initiated", xmlTime(upload.startedMs))}` +
    `${checksumKind(upload.checksumAlgorithm, upload.checksumType)}</Upload>`;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function text(key: Uint8Array): string {
  return new TextDecoder().decode(key);
}
