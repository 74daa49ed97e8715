import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { Upload } from "@/embedded/store/uploads.ts";
import { keyBytes, keyText, listingResponse, ownerElement, pageParameters } from "./listing_xml.ts";
import { signedUser } from "./permitted.ts";
import type { S3Call } from "./s3_operation.ts";
import { checksumKind } from "./upload_checksums.ts";
import { element, xmlTime } from "./xml.ts";

/** ListMultipartUploads: those under way, by their keys, those of one key in the order they were started. */
export function listMultipartUploads(call: S3Call): Response {
  const { store, request } = call;
  signedUser(call.caller);
  const { bucket, prefix, delimiter, bytes, limit, isEncoded } = pageParameters(call, "max-uploads");
  const keyMarker = request.parameter("key-marker") ?? "";
  // Without a key it has no meaning, and S3 ignores it.
  const uploadMarker = keyMarker === "" ? "" : request.parameter("upload-id-marker") ?? "";
  const after = { key: keyBytes(keyMarker), upload: uploadMarker };
  const page = store.uploads.list(bucket.id, bytes.prefix, bytes.delimiter, after, limit);
  const next = limit > 0 ? page.next : null;
  return listingResponse("ListMultipartUploadsResult", isEncoded, page.prefixes, ({ encodeKey, encoding }) => [
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
  ]);
}

function uploadElement(store: StoreContext, upload: Upload, encodeKey: (key: string) => string): string {
  return `<Upload>${element("Key", encodeKey(keyText(upload.key)))}${element("UploadId", upload.id)}` +
    ownerElement(store.accounts, "Initiator", upload.owner) + ownerElement(store.accounts, "Owner", upload.owner) +
    `${element("StorageClass", upload.storageClass ?? "STANDARD")}${element("Initiated", xmlTime(upload.startedMs))}` +
    `${checksumKind(upload.checksumAlgorithm, upload.checksumType)}</Upload>`;
}
