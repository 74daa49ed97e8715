import { receiveBody } from "@/lib/embedded/store/bodies.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";
import { permittedBucket } from "@/lib/embedded/store/s3/caller.ts";
import { DEFAULT_CONTENT_TYPE, keptHeaders } from "@/lib/embedded/store/s3/kept_headers.ts";
import { versionHeader } from "@/lib/embedded/store/s3/object_version.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Call, S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import { statedDigests } from "@/lib/embedded/store/s3/stated_digests.ts";
import { writeCondition } from "@/lib/embedded/store/s3/write_condition.ts";

/** Largest body of one PUT: 5 GiB (S3 API, PutObject). */
const MAX_PUT_BYTES = 5 * 1024 ** 3;

/** Headers that would change the meaning of a write and are not provided: refusing is better than ignoring them. */
const REFUSED_ON_PUT = /^x-amz-(?:acl|copy-source|grant-|tagging|server-side-|object-lock-|website-|write-offset)/;

/** PutObject: the body becomes the object when it arrived whole and its digests hold. */
export const putObject: S3Operation = { name: "PutObject", method: "PUT", level: "object", parameters: [], handle };

async function handle({ store, caller, request, bucket: name, key }: S3Call): Promise<Response> {
  const bucket = permittedBucket(store.buckets, caller.user, name, "WRITE");
  const length = contentLength(request);
  for (const header of request.headers.keys()) {
    if (REFUSED_ON_PUT.test(header)) throw new S3Error("NotImplemented", `The header ${header} is not provided`);
  }
  const condition = writeCondition(request.headers);
  const digests = statedDigests(request.headers, caller);
  const received = await receiveBody(store.folder, request.body, digests.map((digest) => digest.algorithm));
  try {
    if (received.size !== length) throw new S3Error("IncompleteBody");
    for (const { algorithm, hex, code } of digests) {
      if (received.digests.get(algorithm) !== hex) throw new S3Error(code);
    }
    const etag = received.digests.get("md5") ?? "";
    const { version } = await store.writer.change("putObject", {
      bucket: bucket.id,
      key: new TextEncoder().encode(key),
      body: received.body,
      size: received.size,
      etag,
      contentType: request.headers.get("content-type") ?? DEFAULT_CONTENT_TYPE,
      headers: keptHeaders(request.headers),
      checksums: null,
      tags: null,
      acl: null,
      owner: caller.user.id,
      condition,
      atMs: store.now(),
    });
    return new Response(null, { headers: { etag: `"${etag}"`, ...versionHeader(version) } });
  } catch (error) {
    // After a fault of the disk nobody knows what it holds: such a file is left to the sweep at the next start.
    if (error instanceof S3Error || error instanceof Refusal) received.discard();
    throw error;
  }
}

function contentLength(request: S3Request): number {
  const text = request.headers.get("content-length");
  if (text === null && request.body === null) return 0;
  if (text === null || !/^[0-9]{1,15}$/.test(text)) throw new S3Error("MissingContentLength");
  if (Number(text) > MAX_PUT_BYTES) throw new S3Error("InvalidRequest", "A single write is limited to 5 GiB");
  return Number(text);
}
