import { type BodyFolder, BrokenBody, receiveBody, type ReceivedBody } from "@/embedded/store/bodies.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import type { StoredObject } from "@/embedded/store/objects.ts";
import { utf8Text } from "@/lib/std/header_encoding.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { checkReadConditions } from "./conditions.ts";
import { versionText } from "./object_version.ts";
import { type BucketAccess, permittedObject } from "./permitted.ts";
import { requireOwner } from "./unsupported_headers.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";

/** What an `x-amz-copy-source` header names. */
interface CopySource {
  bucket: string;
  key: string;
  version: string | null;
}

/**
 * Reads the header x-amz-copy-source: a percent-encoded bucket and key, with or without a slash before them, and
 * perhaps a version. As in S3, a plus is a blank, and the slash after the bucket may be encoded.
 *
 * @throws {S3Error} InvalidArgument
 */
export function parseCopySource(header: string): CopySource {
  const [, path = "", version] = /^([^]*?)(?:\?versionId=([^&?]*))?$/.exec(utf8Text(header)) ?? [];
  const [, bucket, key] = /^\/?([^/?]+)\/([^]+)$/.exec(decoded(path)) ?? invalid();
  if (version === "") invalid();
  return { bucket, key, version: version === undefined ? null : versionText(decoded(version)) };
}

/**
 * Looks up the source of a copy. The caller must be allowed to read it, and the copy's own conditions must hold.
 *
 * @returns a look-up that may be repeated
 * @throws {S3Error}
 */
export function findCopySource(
  { store, caller, request }: S3Call,
  source: CopySource,
  access: BucketAccess,
): () => StoredObject {
  const owner = request.headers.get("x-amz-source-expected-bucket-owner");
  if (owner !== null) requireOwner(store, { id: caller.tenant }, source.bucket, owner);
  const key = new TextEncoder().encode(source.key);
  const { bucket } = access;
  const look = () => {
    const found = store.objects.find(bucket.id, bucket.versioning, key, source.version);
    if (!found) throw new S3Error(source.version === null ? "NoSuchKey" : "NoSuchVersion");
    if ("marker" in found) {
      if (source.version === null) throw new S3Error("NoSuchKey");
      throw new S3Error("InvalidRequest", "The source of the copy is a delete marker");
    }
    return found;
  };
  return () => {
    const found = permittedObject(access, "READ", look);
    checkCopyConditions(request.headers, found);
    return found;
  };
}

/**
 * Receives the bytes of a source, `size` of them, as a new body with these digests. On an error nothing remains.
 *
 * @throws what reading the source threw
 */
export async function receiveCopy(
  folder: BodyFolder,
  bytes: ReadableStream<Uint8Array> | Uint8Array | null,
  size: number,
  algorithms: readonly DigestAlgorithm[],
): Promise<ReceivedBody> {
  const source = bytes instanceof Uint8Array ? new Response(new Uint8Array(bytes)).body : bytes;
  const received = await receiveBody(folder, source, algorithms).catch(async (error) => {
    // An error such as a full disk does not end the source by itself, whose files would stay open.
    await source?.cancel(error).catch(() => {});
    throw error instanceof BrokenBody ? error.cause : error;
  });
  if (received.size === size) return received;
  received.discard();
  throw new S3Error("InternalError", "The source of the copy could not be read whole");
}

/** The conditions of a copy are those of a read, with one error for all that fail. */
function checkCopyConditions(headers: Headers, object: StoredObject): void {
  const conditions = new Headers();
  for (const name of ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]) {
    const value = headers.get(`x-amz-copy-source-${name}`);
    if (value !== null) conditions.set(name, value);
  }
  try {
    checkReadConditions(conditions, object, {});
  } catch (error) {
    if (error instanceof S3Error && error.code === "NotModified") throw new S3Error("PreconditionFailed");
    throw error;
  }
}

function decoded(text: string): string {
  return percentDecoded(text.replaceAll("+", " ")) ?? invalid();
}

function invalid(): never {
  throw new S3Error("InvalidArgument", "The header x-amz-copy-source must be a bucket, a slash and an encoded key");
}
