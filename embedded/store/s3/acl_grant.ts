import { ACL_PERMISSIONS, type AclPermission, MAX_GRANTS } from "@/embedded/store/acl.ts";
import { S3Error } from "./s3_error.ts";

/** The grantee of a grant on the wire: a user by GUID, or a group by URI. */
export type NamedGrantee = { id: string } | { uri: string };

/** A grant as it is on the wire, in a header or in XML. */
export interface NamedGrant {
  grantee: NamedGrantee;
  permission: AclPermission;
}

/** Whether a word is one of S3's permissions. */
export function isAclPermission(word: string): word is AclPermission {
  return ACL_PERMISSIONS.some((permission) => permission === word);
}

/** The error for an access list with more grants than S3 allows. */
export function tooManyGrants(): S3Error {
  return new S3Error("MalformedACLError", `An access list may have ${MAX_GRANTS} grants at most`);
}

/** The error for a grant by e-mail address: accounts here have none. */
export function unresolvable(): S3Error {
  return new S3Error("UnresolvableGrantByEmailAddress");
}
