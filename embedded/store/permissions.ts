/** Data access permissions in their order on the wire; each is one bit of a mask in the index. */
export const PERMISSIONS = [
  "BROWSE",
  "READ",
  "WRITE",
  "DELETE",
  "PURGE",
  "SEARCH",
  "PRIVILEGED",
  "READ_ACL",
  "WRITE_ACL",
  "CHOWN",
] as const;

export type Permission = typeof PERMISSIONS[number];

/** Permissions of the creator of a bucket. */
export const OWNER_PERMISSIONS: readonly Permission[] = ["BROWSE", "READ", "WRITE", "DELETE", "READ_ACL", "WRITE_ACL"];

/** The permissions that a permission includes. */
const IMPLIED: Partial<Record<Permission, readonly Permission[]>> = {
  PURGE: ["DELETE"],
  READ: ["BROWSE"],
  SEARCH: ["BROWSE", "READ"],
};

/** The mask of a list of permissions with those they imply. */
export function permissionMask(permissions: readonly Permission[]): number {
  let mask = 0;
  for (const permission of permissions) {
    mask |= bit(permission);
    for (const implied of IMPLIED[permission] ?? []) mask |= bit(implied);
  }
  return mask;
}

/** The mask of just these permissions. */
export function permissionBits(permissions: readonly Permission[]): number {
  return permissions.reduce((mask, permission) => mask | bit(permission), 0);
}

/** The permissions of a mask, in their order. */
export function permissionsOf(mask: number): Permission[] {
  return PERMISSIONS.filter((permission) => mask & bit(permission));
}

/** Whether a mask holds a permission. */
export function permits(mask: number, permission: Permission): boolean {
  return (mask & bit(permission)) !== 0;
}

function bit(permission: Permission): number {
  return 1 << PERMISSIONS.indexOf(permission);
}

/** Which S3 requests may reach a bucket: none, signed ones only, or all. */
export type S3Access = "none" | "signed" | "all";

/** The index stores positions in this list. */
export const S3_ACCESS: readonly S3Access[] = ["none", "signed", "all"];

/** The S3 part of a namespace's settings of the protocol HTTP (management API, protocols/http). */
export function s3AccessOf(document: Readonly<Record<string, unknown>>): S3Access {
  if (document.hs3Enabled === false) return "none";
  return document.hs3RequiresAuthentication === true ? "signed" : "all";
}

/** The switches of a tenant or a namespace (management API, permissions), and the permissions that each allows. */
const MASKED = {
  DELETE: ["DELETE"],
  PRIVILEGED: ["PRIVILEGED"],
  PURGE: ["PURGE"],
  READ: ["BROWSE", "READ", "READ_ACL"],
  SEARCH: ["SEARCH"],
  WRITE: ["WRITE", "WRITE_ACL"],
} as const satisfies Record<string, readonly Permission[]>;

/** The names of a mask, all of which are allowed where nothing was set. */
export const MASK_NAMES = Object.keys(MASKED) as (keyof typeof MASKED)[];

/** The other form of the document: a member for each permission, true or false. */
export const MASK_FLAGS: Readonly<Record<string, readonly Permission[]>> = {
  readAllowed: ["BROWSE", "READ"],
  writeAllowed: ["WRITE"],
  deleteAllowed: ["DELETE"],
  purgeAllowed: ["PURGE"],
  searchAllowed: ["SEARCH"],
  privilegedAllowed: ["PRIVILEGED"],
  readAclAllowed: ["READ_ACL"],
  writeAclAllowed: ["WRITE_ACL"],
};

/** The mask of a permissions document: -1 less what it does not name, and what it says is not allowed. */
export function maskOf(document: Readonly<Record<string, unknown>>): number {
  let mask = -1;
  const { permission } = document;
  if (Array.isArray(permission)) {
    for (const name of MASK_NAMES) if (!permission.includes(name)) mask &= ~permissionBits(MASKED[name]);
  }
  for (const [flag, permissions] of Object.entries(MASK_FLAGS)) {
    if (document[flag] === false) mask &= ~permissionBits(permissions);
  }
  return mask;
}
