import type { ReceivedBody } from "@/embedded/store/bodies.ts";
import type { UploadName } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { type ChecksumAlgorithm, checksumHeaders } from "./checksums.ts";
import { receiveObjectBody, storeBody } from "./object_body.ts";
import { MAX_PUT_BYTES } from "./put_object.ts";
import { requireRoomForPart } from "./quota_room.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { statedDigests } from "./stated_digests.ts";
import { partChecksums } from "./upload_checksums.ts";
import { partNumber, presentUpload } from "./upload_parameters.ts";

/** UploadPart: replaces an earlier part of its number. */
export const uploadPart: S3Operation = {
  name: "UploadPart",
  method: "PUT",
  level: "object",
  marker: ["uploadId"],
  parameters: ["partNumber"],
  handle,
};

async function handle(call: S3Call): Promise<Response> {
  const { store, caller, request } = call;
  const number = partNumber(request);
  const { name, in: bucket, upload } = presentUpload(call);
  const requested = upload.checksumAlgorithm as ChecksumAlgorithm | null;
  const stated = statedDigests(request.headers, caller).checksum;
  if (requested && stated && stated !== requested) {
    throw new S3Error("InvalidRequest", `The upload was created with ${requested}; a part of it cannot have ${stated}`);
  }
  const { received } = await receiveObjectBody(
    store,
    request,
    caller,
    MAX_PUT_BYTES,
    requested ? [requested] : [],
    (size) => requireRoomForPart(store, bucket, upload.id, number, size),
  );
  // The SHA-256 of the signature was computed too, and is not a requested checksum.
  for (const name of [...received.digests.keys()]) {
    if (name !== "md5" && name !== (requested ?? stated)) received.digests.delete(name);
  }
  const { etag, checksums } = await storePart(store, name, number, received);
  return new Response(null, { headers: { etag: `"${etag}"`, ...checksumHeaders(checksums) } });
}

/**
 * Stores a received body as a part, with its checksums.
 *
 * @throws {StoreError}
 */
export function storePart(
  store: StoreContext,
  name: UploadName,
  number: number,
  received: ReceivedBody,
): Promise<{ etag: string; checksums: Record<string, string>; atMs: number }> {
  return storeBody(received, async () => {
    const etag = received.digests.get("md5") ?? "";
    const checksums = partChecksums(received.digests);
    const atMs = store.now();
    await store.writer.change("putPart", {
      ...name,
      number,
      body: received.body,
      size: received.size,
      etag,
      checksums,
      atMs,
    });
    return { etag, checksums: checksums === null ? {} : JSON.parse(checksums), atMs };
  });
}
