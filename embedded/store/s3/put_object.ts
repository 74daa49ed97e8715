import { checksumHeaders } from "./checksums.ts";
import { writeCondition } from "./conditions.ts";
import { DEFAULT_CONTENT_TYPE, storedHeaders } from "./stored_headers.ts";
import { receiveObjectBody, storeBody } from "./object_body.ts";
import { writtenVersionHeader } from "./object_version.ts";
import { permittedBucket } from "./permitted.ts";
import { requireRoom } from "./quota_room.ts";
import { rejectHeaders } from "./unsupported_headers.ts";
import { requestedAcl } from "./requested_acl.ts";
import type { S3Call } from "./s3_operation.ts";
import { requestedTags } from "./tags.ts";

/** Largest body of one PUT: 5 GiB (S3 API, PutObject). */
export const MAX_PUT_BYTES = 5 * 1024 ** 3;

/** Headers of a copy, which have no meaning without its source. */
const UNSUPPORTED = /^x-amz-copy-source/;

/** PutObject: the body becomes the object once it arrived whole and its digests match. */
export async function putObject(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name, key } = call;
  const bucket = permittedBucket(call, name, "WRITE");
  rejectHeaders(request.headers, UNSUPPORTED);
  const condition = writeCondition(request.headers);
  const tags = requestedTags(call);
  // The object of an anonymous request belongs to the bucket's owner, who allowed everybody to write.
  const owner = caller.user?.id ?? bucket.owner;
  const acl = requestedAcl(call, bucket.record, { owner, bucketOwner: bucket.owner });
  const { received, etag, checksums } = await receiveObjectBody(
    store,
    request,
    caller,
    MAX_PUT_BYTES,
    [],
    (size) => requireRoom(store, bucket, key, size),
  );
  return await storeBody(received, async () => {
    const { version } = await store.writer.change("putObject", {
      bucket: bucket.id,
      key: new TextEncoder().encode(key),
      body: received.body,
      size: received.size,
      etag,
      contentType: request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE,
      headers: storedHeaders(request.headers, caller.repeated),
      checksums: checksums && JSON.stringify(checksums),
      tags,
      acl,
      owner,
      condition,
      atMs: store.now(),
    });
    return new Response(null, {
      headers: { etag: `"${etag}"`, ...checksumHeaders(checksums), ...writtenVersionHeader(version) },
    });
  });
}
