import { Refusal } from "@/lib/embedded/store/refusal.ts";
import { permittedBucket } from "@/lib/embedded/store/s3/permitted.ts";
import { requestedAcl } from "@/lib/embedded/store/s3/requested_acl.ts";
import { checksumHeaders } from "@/lib/embedded/store/s3/checksums.ts";
import { DEFAULT_CONTENT_TYPE, keptHeaders } from "@/lib/embedded/store/s3/kept_headers.ts";
import { receiveObjectBody } from "@/lib/embedded/store/s3/object_body.ts";
import { writtenVersionHeader } from "@/lib/embedded/store/s3/object_version.ts";
import { demandRoom } from "@/lib/embedded/store/s3/quota_room.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import { writtenTags } from "@/lib/embedded/store/s3/written_tags.ts";
import { writeCondition } from "@/lib/embedded/store/s3/write_condition.ts";

/** Largest body of one PUT: 5 GiB (S3 API, PutObject). */
export const MAX_PUT_BYTES = 5 * 1024 ** 3;

/** Headers that would change the meaning of a write and are not provided: refusing is better than ignoring them. */
const REFUSED_ON_PUT = /^x-amz-(?:copy-source|server-side-|object-lock-|website-|write-offset)/;

/** PutObject: the body becomes the object when it arrived whole and its digests hold. */
export const putObject: S3Operation = { name: "PutObject", method: "PUT", level: "object", parameters: [], handle };

async function handle(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name, key } = call;
  const bucket = permittedBucket(call, name, "WRITE");
  for (const header of request.headers.keys()) {
    if (REFUSED_ON_PUT.test(header)) throw new S3Error("NotImplemented", `The header ${header} is not provided`);
  }
  const condition = writeCondition(request.headers);
  const tags = writtenTags(call);
  // What nobody signed belongs to the bucket's owner, who answers for letting everybody write.
  const owner = caller.user?.id ?? bucket.owner;
  const acl = requestedAcl(call, bucket.record, { owner, bucketOwner: bucket.owner });
  const { received, etag, checksums } = await receiveObjectBody(
    store.folder,
    request,
    caller,
    MAX_PUT_BYTES,
    [],
    (size) => demandRoom(store, bucket, key, size),
  );
  try {
    const { version } = await store.writer.change("putObject", {
      bucket: bucket.id,
      key: new TextEncoder().encode(key),
      body: received.body,
      size: received.size,
      etag,
      contentType: request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE,
      headers: keptHeaders(request.headers),
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
  } catch (error) {
    // After a fault of the disk nobody knows what it holds: such a file is left to the sweep at the next start.
    if (error instanceof S3Error || error instanceof Refusal) received.discard();
    throw error;
  }
}
