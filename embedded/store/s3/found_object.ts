import type { Bucket } from "@/embedded/store/buckets.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { StoredObject } from "@/embedded/store/objects.ts";
import { versionHeader } from "./object_version.ts";
import { S3Error } from "./s3_error.ts";

/**
 * The object that a read names, in its current version or a given one. Throws {@link S3Error} NoSuchKey, NoSuchVersion,
 * or MethodNotAllowed for a version that is a delete marker.
 */
export function findObject(store: StoreContext, bucket: Bucket, key: string, version: string | null): StoredObject {
  const found = store.objects.find(bucket.id, bucket.versioning, new TextEncoder().encode(key), version);
  if (!found) throw new S3Error(version === null ? "NoSuchKey" : "NoSuchVersion");
  if (!("marker" in found)) return found;
  const headers = { "x-amz-delete-marker": "true", ...versionHeader(found.marker) };
  throw new S3Error(version === null ? "NoSuchKey" : "MethodNotAllowed", undefined, headers);
}
