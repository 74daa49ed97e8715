import { type Accounts, isEnabled, type Tenant, type User } from "@/lib/embedded/store/accounts.ts";
import type { Bucket, Buckets } from "@/lib/embedded/store/buckets.ts";
import { type Permission, permits } from "@/lib/embedded/store/permissions.ts";
import type { ChunkedFraming } from "@/lib/embedded/store/s3/aws_chunked.ts";
import { ChunkSignatures } from "@/lib/embedded/store/s3/chunk_signatures.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import { signatureHolds, statedSignature } from "@/lib/embedded/store/s3/sigv4.ts";

/** Who sent a request, and what stands for its body in the signature. */
export interface Caller {
  user: User;
  /** A hexadecimal SHA-256 of the body, or null where the body is not under the signature. */
  payloadSha256: string | null;
  /** How the body is cut into aws-chunked pieces; null where it is sent as it is. */
  chunked: ChunkedFraming | null;
}

/** Checks the signature of a request against the users of a tenant. Throws {@link S3Error}; anonymous requests are refused. */
export function authenticate(request: S3Request, accounts: Accounts, tenant: Tenant, nowMs: number): Caller {
  const stated = statedSignature(request, nowMs);
  if (!stated) throw new S3Error("AccessDenied");
  const user = accounts.user(tenant.id, usernameOf(stated.accessKey));
  if (!user || !isEnabled(user)) throw new S3Error("InvalidAccessKeyId");
  if (!signatureHolds(request, stated, user.passwordMd5)) throw new S3Error("SignatureDoesNotMatch");
  if (/^[0-9a-f]{64}$/.test(stated.payload)) return { user, payloadSha256: stated.payload, chunked: null };
  const chunked = (isSigned: boolean, hasTrailer: boolean) => ({
    user,
    payloadSha256: null,
    chunked: { signatures: isSigned ? new ChunkSignatures(stated, user.passwordMd5) : null, hasTrailer },
  });
  switch (stated.payload) {
    case "UNSIGNED-PAYLOAD":
      return { user, payloadSha256: null, chunked: null };
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return chunked(false, true);
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
      return chunked(true, false);
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      return chunked(true, true);
  }
  if (stated.payload.startsWith("STREAMING-")) {
    throw new S3Error("NotImplemented", "This way of signing the pieces of a body is not provided");
  }
  throw new S3Error("InvalidArgument", "x-amz-content-sha256 is neither a digest nor one of S3's words for a body");
}

/** The bucket that a request names. Throws {@link S3Error} NoSuchBucket, or AccessDenied without the permission. */
export function permittedBucket(
  buckets: Buckets,
  user: User,
  name: string,
  permission: Permission | "any",
): Bucket {
  const bucket = buckets.bucket(user.tenant, name);
  if (!bucket) throw new S3Error("NoSuchBucket");
  const mask = buckets.permissions(user.id, bucket.id);
  if (permission === "any" ? mask === 0 : !permits(mask, permission)) throw new S3Error("AccessDenied");
  return bucket;
}

/** The user name of an access key, which is its base64; nobody's name when it is not base64 of UTF-8. */
function usernameOf(accessKey: string): string {
  try {
    const bytes = Uint8Array.from(atob(accessKey), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return "";
  }
}
