import {
  aclsUsageOf,
  bucketMask,
  objectMask,
  type Permission,
  permits,
  type Requester,
} from "@/embedded/store/access.ts";
import { addressRules } from "@/embedded/store/address_rules.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { User } from "@/embedded/store/stored_accounts.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import type { StoredObject } from "@/embedded/store/stored_objects.ts";
import type { Caller } from "./caller.ts";

/** The rights of a request in the bucket that it names. */
export interface BucketAccess {
  readonly bucket: Bucket;
  readonly requester: Requester;
  /** The mask of the caller's data access permissions and its grants in the bucket's access list. */
  readonly mask: number;
}

type CallContext = { readonly store: StoreContext; readonly caller: Caller };

/**
 * The caller's rights in a bucket, possibly none.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function bucketAccess({ store, caller }: CallContext, name: string): BucketAccess {
  const bucket = store.buckets.bucket(caller.tenant, name);
  if (!bucket) throw new StoreError("NoSuchBucket");
  const { user } = caller;
  if (bucket.s3Access === "none") throw new StoreError("AccessDenied", "S3 is switched off for this namespace");
  if (!addressRules(bucket.addressRules)(caller.address)) {
    throw new StoreError("AccessDenied", "The namespace is closed to the address that the request comes from");
  }
  if (bucket.s3Access === "signed" && !user) throw new StoreError("AccessDenied");
  let groups: string[] | null = null;
  const requester: Requester = {
    user,
    dataAccess: user ? store.buckets.permissions(user.id, bucket.id) & bucket.allowed : 0,
    groups: () => groups ??= user ? store.accounts.groupsOf(user.id).map(({ guid }) => guid) : [],
  };
  return { bucket, requester, mask: bucketMask(requester, bucket, aclsUsageOf(bucket.record)) & bucket.allowed };
}

/**
 * The bucket that a request names.
 *
 * @throws {StoreError} NoSuchBucket, or AccessDenied without the permission
 */
export function permittedBucket(call: CallContext, name: string, permission: Permission | "any"): Bucket {
  const { bucket, mask } = bucketAccess(call, name);
  if (permission === "any" ? mask === 0 : !permits(mask, permission)) throw new StoreError("AccessDenied");
  return bucket;
}

/**
 * The bucket that a request names, for its owner.
 *
 * @throws {StoreError} NoSuchBucket, or AccessDenied for others
 */
export function ownBucket(call: CallContext, name: string): Bucket {
  const bucket = permittedBucket(call, name, "any");
  if (bucket.owner !== signedUser(call.caller).id) throw new StoreError("AccessDenied");
  return bucket;
}

/**
 * The same by data access permissions alone. An access list cannot grant deleting versions for good, or tags.
 */
export function bucketByDataAccess(call: CallContext, name: string, permission: Permission): Bucket {
  const { bucket, requester } = bucketAccess(call, name);
  if (!permits(requester.dataAccess, permission)) throw new StoreError("AccessDenied");
  return bucket;
}

/**
 * The object of a look-up, for a caller with the permission on it. `find` may throw {@link StoreError} for an absent
 * object; only callers that may list the bucket get that error.
 *
 * @throws {StoreError} AccessDenied
 */
export function permittedObject(
  { bucket, requester, mask }: BucketAccess,
  permission: Permission,
  find: () => StoredObject,
): StoredObject {
  let object: StoredObject;
  try {
    object = find();
  } catch (error) {
    throw error instanceof StoreError && !permits(mask, "BROWSE") ? new StoreError("AccessDenied") : error;
  }
  const allowed = objectMask(requester, object, aclsUsageOf(bucket.record)) & bucket.allowed;
  if (!permits(allowed, permission)) throw new StoreError("AccessDenied");
  return object;
}

/**
 * The user who signed a request.
 *
 * @throws {StoreError} AccessDenied for an unsigned one
 */
export function signedUser({ user }: Caller): User {
  if (!user) throw new StoreError("AccessDenied");
  return user;
}
