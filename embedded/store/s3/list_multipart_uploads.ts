import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { Upload } from "@/embedded/store/uploads.ts";
import {
  commonPrefixElement,
  keyBytes,
  keyText,
  listingResponse,
  ownerElement,
  pageParameters,
} from "./listing_xml.ts";
import { permittedBucket, signedUser } from "./permitted.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { checksumKind } from "./upload_checksums.ts";
import { element, xmlTime } from "./xml.ts";

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
  const { prefix, delimiter, limit, isEncoded } = pageParameters(request, "max-uploads");
  const keyMarker = request.parameter("key-marker") ?? "";
  // Without a key it has no meaning, and S3 ignores it.
  const uploadMarker = keyMarker === "" ? "" : request.parameter("upload-id-marker") ?? "";
  const after = { key: keyBytes(keyMarker), upload: uploadMarker };
  const page = store.uploads.list(bucket.id, keyBytes(prefix), keyBytes(delimiter), after, limit);
  const next = limit > 0 ? page.next : null;
  return listingResponse("ListMultipartUploadsResult", isEncoded, ({ encodeKey, encoding }) => [
    element("Bucket", bucket.name),
    element("KeyMarker", encodeKey(keyMarker)),
    element("UploadIdMarker", uploadMarker),
    next ? element("NextKeyMarker", encodeKey(keyText(next.key))) + element("NextUploadIdMarker", next.upload) : "",
    element("Prefix", encodeKey(prefix)),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("MaxUploads", limit),
    element("IsTruncated", next !== null),
    encoding,
    ...page.uploads.map((upload) => uploadElement(store, upload, encodeKey)),
    ...page.prefixes.map((common) => commonPrefixElement(common, encodeKey)),
  ]);
}

function uploadElement(store: StoreContext, upload: Upload, encodeKey: (key: string) => string): string {
  return `<Upload>${element("Key", encodeKey(keyText(upload.key)))}${element("UploadId", upload.id)}` +
    ownerElement(store.accounts, "Initiator", upload.owner) + ownerElement(store.accounts, "Owner", upload.owner) +
    `<StorageClass>STANDARD</StorageClass>${element("Initiated", xmlTime(upload.startedMs))}` +
    `${checksumKind(upload.checksumAlgorithm, upload.checksumType)}</Upload>`;
}
