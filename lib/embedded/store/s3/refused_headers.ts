import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";

/**
 * Refuses what a request asks for by headers that no operation provides, and judges whose bucket its sender expects: a
 * header that changes the meaning of a request is never read over. Throws {@link S3Error}.
 */
export function checkHeaders(store: StoreParts, tenant: Tenant, { headers, bucket }: S3Request): void {
  for (const [name, value] of headers) {
    if (REFUSED.test(name) && !isWithoutEffect(name, value)) {
      throw new S3Error("NotImplemented", `The header ${name} is not provided`);
    }
  }
  const storageClass = headers.get("x-amz-storage-class");
  if (storageClass !== null && storageClass !== "STANDARD") {
    throw new S3Error("InvalidStorageClass");
  }
  const expected = headers.get("x-amz-expected-bucket-owner");
  if (expected !== null && bucket !== null) requireOwner(store, tenant, bucket, expected);
}

/** Throws {@link S3Error} AccessDenied where a bucket belongs to another user than the one of this id. */
export function requireOwner(store: StoreParts, tenant: Pick<Tenant, "id">, bucket: string, guid: string): void {
  const found = store.buckets.bucket(tenant.id, bucket);
  if (!found) throw new S3Error("NoSuchBucket");
  const owner = found.owner === null ? null : store.accounts.userById(found.owner);
  if (owner?.guid !== guid) throw new S3Error("AccessDenied", "The bucket has another owner");
}

/** Encryption with keys of S3's or the sender's, locks, redirects, appending and conditions of deletes. */
const REFUSED =
  /^x-amz-(?:server-side-encryption|copy-source-server-side-encryption|object-lock-|bucket-object-lock-|object-ownership$|website-redirect-|write-offset-|if-match-|rename-source)/;

function isWithoutEffect(name: string, value: string): boolean {
  return name === "x-amz-bucket-object-lock-enabled" && value.toLowerCase() === "false";
}
