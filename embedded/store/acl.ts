/** The permissions that an access list gives (S3 API, access control lists). */
export const ACL_PERMISSIONS = ["FULL_CONTROL", "READ", "WRITE", "READ_ACP", "WRITE_ACP"] as const;

export type AclPermission = typeof ACL_PERMISSIONS[number];

/** Most grants of one access list (S3 API, access control lists). */
export const MAX_GRANTS = 100;

/** Whom a grant is to: a user or the members of a group by their GUIDs, everybody, or every user of the tenant. */
export type Grantee = { user: string } | { group: string } | "everybody" | "users";

export interface AclGrant {
  grantee: Grantee;
  permission: AclPermission;
}

/** The grants of a bucket or a version. GUIDs are never given out twice, so those of accounts that are gone grant nothing. */
export type Acl = readonly AclGrant[];

/** Reads what {@link serializeAcl} made; null where none was ever set. */
export function parseAcl(kept: string | null): Acl | null {
  return kept === null ? null : JSON.parse(kept);
}

/** An access list as the index keeps it. */
export function serializeAcl(acl: Acl): string {
  return JSON.stringify(acl);
}

/** What holds where no access list was set: the owner has full control. */
export function defaultAcl(owner: string | null): Acl {
  return owner === null ? [] : [{ grantee: { user: owner }, permission: "FULL_CONTROL" }];
}

/**
 * The access list of a bucket that gets another owner: what it granted to the owner before, by its GUID, goes to the next
 * one, or to nobody. Left as it was, it would let the former owner in without anybody seeing it.
 */
export function aclForNewOwner(acl: Acl, before: string, next: string | null): Acl {
  return acl.flatMap((grant) => {
    if (typeof grant.grantee === "string" || !("user" in grant.grantee) || grant.grantee.user !== before) return grant;
    return next === null ? [] : { ...grant, grantee: { user: next } };
  });
}
