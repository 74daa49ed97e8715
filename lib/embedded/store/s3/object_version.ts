import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import type { VersionId } from "@/lib/embedded/store/writer/changes.ts";

/** The version that a request names, null for the current one. Throws {@link S3Error} when it is empty. */
export function versionParameter(request: S3Request): string | null {
  const version = request.parameter("versionId");
  if (version === "") throw new S3Error("InvalidArgument", "versionId must not be empty");
  return version;
}

/** The header that names a version; none while the bucket never kept versions. */
export function versionHeader(version: VersionId): Record<string, string> {
  return version === null ? {} : { "x-amz-version-id": version };
}
