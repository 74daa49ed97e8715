import { ACL_PERMISSIONS, type AclPermission, MAX_GRANTS } from "@/embedded/store/acl.ts";
import { S3Error } from "./s3_error.ts";

/** The canned access lists that are supported (S3 API, canned ACL). */
export const CANNED_ACLS = [
  "private",
  "public-read",
  "public-read-write",
  "authenticated-read",
  "bucket-owner-read",
  "bucket-owner-full-control",
] as const;

export type CannedAcl = typeof CANNED_ACLS[number];

/** The access list in the headers of a request: a canned one by its name, or grants. */
export type StatedAcl = { canned: CannedAcl } | { grants: NamedGrant[] };

const GRANT_HEADER = "x-amz-grant-";

const PERMISSIONS: Readonly<Record<string, AclPermission>> = {
  "full-control": "FULL_CONTROL",
  read: "READ",
  write: "WRITE",
  "read-acp": "READ_ACP",
  "write-acp": "WRITE_ACP",
};

/**
 * Reads x-amz-acl and the x-amz-grant- headers, null where there is none.
 *
 * @throws {S3Error} InvalidArgument for what is not one of theirs, InvalidRequest for both kinds at once,
 *   UnresolvableGrantByEmailAddress, MalformedACLError for too many grants
 */
export function statedAcl(headers: Headers): StatedAcl | null {
  const name = headers.get("x-amz-acl");
  const grants: NamedGrant[] = [];
  let hasGrants = false;
  for (const [header, value] of headers) {
    if (!header.startsWith(GRANT_HEADER)) continue;
    const word = header.slice(GRANT_HEADER.length);
    if (!Object.hasOwn(PERMISSIONS, word)) throw new S3Error("InvalidArgument", `The header ${header} is not valid`);
    hasGrants = true;
    for (const grantee of grantees(header, value)) grants.push({ grantee, permission: PERMISSIONS[word] });
  }
  if (grants.length > MAX_GRANTS) throw tooManyGrants();
  if (name === null) return hasGrants ? { grants } : null;
  if (hasGrants) throw new S3Error("InvalidRequest", "x-amz-acl and x-amz-grant- headers do not go together");
  const canned = CANNED_ACLS.find((known) => known === name);
  if (!canned) throw new S3Error("InvalidArgument", `x-amz-acl must be one of ${CANNED_ACLS.join(", ")}`);
  return { canned };
}

/** One grantee of a list such as `id="…", uri="…"`; clients leave the quotes out, too. */
const GRANTEE = /[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^",\s]+))[ \t]*(,|$)/y;

function grantees(header: string, value: string): NamedGrantee[] {
  const found: NamedGrantee[] = [];
  GRANTEE.lastIndex = 0;
  for (let more = true; more;) {
    const match = GRANTEE.exec(value);
    if (!match) throw new S3Error("InvalidArgument", `The header ${header} must be a list of id="…" and uri="…"`);
    const [, kind, quoted, plain, separator] = match;
    found.push(granteeOf(header, kind.toLowerCase(), quoted ?? plain));
    more = separator === ",";
  }
  return found;
}

function granteeOf(header: string, kind: string, value: string): NamedGrantee {
  if (kind === "id") return { id: value };
  if (kind === "uri") return { uri: value };
  if (kind === "emailaddress") throw unresolvable();
  throw new S3Error("InvalidArgument", `The header ${header} may name an id or a uri`);
}

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
