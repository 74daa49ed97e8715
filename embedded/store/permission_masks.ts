import { type Permission, permissionBits } from "./permissions.ts";

/** What a tenant or a namespace may allow at all (management API, permissions), and the permissions that go with each. */
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
