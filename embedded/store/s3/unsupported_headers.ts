import type { Tenant } from "@/embedded/store/accounts.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { S3Error } from "./s3_error.ts";
import { statedStorageClass } from "./stored_headers.ts";
import type { S3Request } from "./s3_request.ts";

/**
 * Rejects headers that no operation supports, and checks the expected owner of the bucket: a header that changes the
 * meaning of a request is never ignored.
 *
 * @throws {S3Error}
 */
export function checkHeaders(store: StoreContext, tenant: Tenant, { headers, bucket }: S3Request): void {
  rejectHeaders(headers, UNSUPPORTED);
  statedStorageClass(headers);
  const expected = headers.get("x-amz-expected-bucket-owner");
  if (expected !== null && bucket !== null) requireOwner(store, tenant, bucket, expected);
}

/** @throws {S3Error} NotImplemented for a header of these names, unless it has no effect */
export function rejectHeaders(headers: Headers, rejected: RegExp): void {
  for (const [name, value] of headers) {
    if (rejected.test(name) && !isWithoutEffect(name, value)) {
      throw new S3Error("NotImplemented", `The header ${name} is not provided`);
    }
  }
}

/** @throws {S3Error} AccessDenied where a bucket belongs to another user than the one of this id */
export function requireOwner(store: StoreContext, tenant: Pick<Tenant, "id">, bucket: string, guid: string): void {
  const found = store.buckets.bucket(tenant.id, bucket);
  if (!found) throw new S3Error("NoSuchBucket");
  const owner = found.owner === null ? null : store.accounts.userById(found.owner);
  if (owner?.guid !== guid) throw new S3Error("AccessDenied", "The bucket has another owner");
}

/** Encryption with keys of S3's or the sender's, locks, redirects, appending and conditions of deletes. */
const UNSUPPORTED =
  /^x-amz-(?:(?:copy-source-)?server-side-|object-lock-|bucket-object-lock-|object-ownership$|website-|write-offset|if-match-|rename-source)/;

/** Headers of a new bucket that are accepted with the value false. */
const BUCKET_SWITCH = /^x-amz-bucket-(?:object-lock-enabled|namespace)$/;

function isWithoutEffect(name: string, value: string): boolean {
  // The writer of an object always owns it here.
  if (name === "x-amz-object-ownership") return value === "ObjectWriter";
  return BUCKET_SWITCH.test(name) && value.toLowerCase() === "false";
}
