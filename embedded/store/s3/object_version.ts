import type { Bucket } from "@/embedded/store/buckets.ts";
import type { VersionId } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { StoredObject } from "@/embedded/store/objects.ts";
import { VERSION_ID } from "./issued_forms.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Request } from "./s3_request.ts";

/**
 * The version that a request names, null for the current one.
 *
 * @throws {S3Error} for what is no version id
 */
export function versionParameter(request: S3Request): string | null {
  const version = request.parameter("versionId");
  return version === null ? null : versionText(version);
}

const FORM = new RegExp(VERSION_ID);

/**
 * A text that has the characters of version ids, of which there may be none.
 *
 * @throws {S3Error} InvalidArgument
 */
export function versionText(text: string): string {
  if (FORM.test(text)) return text;
  throw new S3Error("InvalidArgument", text === "" ? "versionId must not be empty" : "Invalid version id specified");
}

/** The header that names a version that was written; the null version is not named (S3 API, PutObject). */
export function writtenVersionHeader(version: VersionId): Record<string, string> {
  return version === "null" ? {} : versionHeader(version);
}

/** The header that names a version; none while the bucket never had versioning. */
export function versionHeader(version: VersionId): Record<string, string> {
  return version === null ? {} : { "x-amz-version-id": version };
}

/**
 * The object that a read names, in its current version or a named one.
 *
 * @throws {S3Error} NoSuchKey, NoSuchVersion, or MethodNotAllowed for a version that is a delete marker
 */
export function findObject(store: StoreContext, bucket: Bucket, key: string, version: string | null): StoredObject {
  const found = store.objects.find(bucket.id, bucket.versioning, new TextEncoder().encode(key), version);
  if (!found) throw new S3Error(version === null ? "NoSuchKey" : "NoSuchVersion");
  if (!("marker" in found)) return found;
  const headers = { "x-amz-delete-marker": "true", ...versionHeader(found.marker) };
  throw new S3Error(version === null ? "NoSuchKey" : "MethodNotAllowed", undefined, headers);
}
