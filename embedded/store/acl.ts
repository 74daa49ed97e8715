/** The permissions that an access list grants (S3 API, access control lists). */
export const ACL_PERMISSIONS = ["FULL_CONTROL", "READ", "WRITE", "READ_ACP", "WRITE_ACP"] as const;

export type AclPermission = typeof ACL_PERMISSIONS[number];

/** Most grants of one access list (S3 API, access control lists). */
export const MAX_GRANTS = 100;

/**
 * The grantee of a grant: a user or the members of a group by their GUIDs, all users (anonymous requests included), or
 * every user of the tenant.
 */
export type Grantee = { user: string } | { group: string } | "everybody" | "users";

export interface AclGrant {
  grantee: Grantee;
  permission: AclPermission;
}

/** The grants of a bucket or a version. GUIDs are never reused, so those of deleted accounts grant nothing. */
export type Acl = readonly AclGrant[];

/** Parses the result of {@link serializeAcl}; null where none was ever set. */
export function parseAcl(stored: string | null): Acl | null {
  return stored === null ? null : JSON.parse(stored);
}

/** An access list as the index stores it. */
export function serializeAcl(acl: Acl): string {
  return JSON.stringify(acl);
}

/** The access list of what has none: the owner has full control. */
export function defaultAcl(owner: string | null): Acl {
  return owner === null ? [] : [{ grantee: { user: owner }, permission: "FULL_CONTROL" }];
}

/**
 * The access list of a bucket after a change of its owner: grants to the former owner become grants to the new one, or
 * are removed where there is none. Otherwise the former owner would keep its access unnoticed.
 */
export function aclForNewOwner(acl: Acl, before: string, next: string | null): Acl {
  return acl.flatMap((grant) => {
    if (typeof grant.grantee === "string" || !("user" in grant.grantee) || grant.grantee.user !== before) return grant;
    return next === null ? [] : { ...grant, grantee: { user: next } };
  });
}
