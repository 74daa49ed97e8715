import { aclsUsageOf } from "@/embedded/store/access.ts";
import { type Acl, defaultAcl, serializeAcl } from "@/embedded/store/acl.ts";
import { resolveGrants } from "./acl_grantees.ts";
import { type CannedAcl, type StatedAcl, statedAcl } from "./acl_headers.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";

/** The target of an access list: the ids of the users who own it and its bucket. */
export interface AclTarget {
  readonly owner: number | null;
  /** Null for a list of the bucket itself. */
  readonly bucketOwner: number | null;
}

/**
 * The access list in the headers of a write, as the index stores it; null where there is none, or where it equals the
 * default.
 *
 * @throws {S3Error}
 */
export function requestedAcl(
  call: S3Call,
  settings: Readonly<Record<string, unknown>>,
  target: AclTarget,
): string | null {
  const stated = statedAcl(call.request.headers);
  if (!stated) return null;
  requireAcls(settings);
  return aclOf(call, stated, target);
}

/**
 * A stated access list as the index stores it; null where it equals the default.
 *
 * @throws {S3Error}
 */
export function aclOf({ store, caller }: S3Call, stated: StatedAcl, target: AclTarget): string | null {
  if ("grants" in stated) return serializeAcl(resolveGrants(store, caller.tenant, stated.grants));
  const [owner, bucketOwner] = [target.owner, target.bucketOwner].map((id) =>
    id === null ? null : store.accounts.userById(id)?.guid ?? null
  );
  const further = cannedGrants(stated.canned, bucketOwner === owner ? null : bucketOwner);
  return further.length === 0 ? null : serializeAcl([...defaultAcl(owner), ...further]);
}

/** @throws {S3Error} AccessControlListNotSupported where a namespace has no access lists */
export function requireAcls(settings: Readonly<Record<string, unknown>>): void {
  if (aclsUsageOf(settings) === "none") throw new S3Error("AccessControlListNotSupported");
}

/** What a canned list grants beside full control to the owner. */
function cannedGrants(canned: CannedAcl, bucketOwner: string | null): Acl {
  switch (canned) {
    case "private":
      return [];
    case "public-read":
      return [{ grantee: "everybody", permission: "READ" }];
    case "public-read-write":
      return [{ grantee: "everybody", permission: "READ" }, { grantee: "everybody", permission: "WRITE" }];
    case "authenticated-read":
      return [{ grantee: "users", permission: "READ" }];
    case "bucket-owner-read":
      return bucketOwner === null ? [] : [{ grantee: { user: bucketOwner }, permission: "READ" }];
    case "bucket-owner-full-control":
      return bucketOwner === null ? [] : [{ grantee: { user: bucketOwner }, permission: "FULL_CONTROL" }];
  }
}
