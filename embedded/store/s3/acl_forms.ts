import { ACL_PERMISSIONS, type AclPermission, MAX_GRANTS } from "@/embedded/store/access.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { childText, element, type XmlElement } from "./xml.ts";

/**
 * The supported canned access lists (S3 API, canned ACL), with the grants of each beside full control for the owner.
 */
export const CANNED_GRANTS = {
  private: [],
  "public-read": [["everybody", "READ"]],
  "public-read-write": [["everybody", "READ"], ["everybody", "WRITE"]],
  "authenticated-read": [["users", "READ"]],
  "bucket-owner-read": [["bucket owner", "READ"]],
  "bucket-owner-full-control": [["bucket owner", "FULL_CONTROL"]],
} as const satisfies Record<string, readonly (readonly ["everybody" | "users" | "bucket owner", AclPermission])[]>;

export type CannedAcl = keyof typeof CANNED_GRANTS;

export const CANNED_ACLS = Object.keys(CANNED_GRANTS) as CannedAcl[];

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
 * @throws {StoreError} InvalidArgument for an unknown list or header, InvalidRequest for both kinds at once,
 *   UnresolvableGrantByEmailAddress, MalformedACLError for too many grants
 */
export function statedAcl(headers: Headers): StatedAcl | null {
  const name = headers.get("x-amz-acl");
  const grants: NamedGrant[] = [];
  let hasGrants = false;
  for (const [header, value] of headers) {
    if (!header.startsWith(GRANT_HEADER)) continue;
    const word = header.slice(GRANT_HEADER.length);
    if (!Object.hasOwn(PERMISSIONS, word)) throw new StoreError("InvalidArgument", `The header ${header} is not valid`);
    hasGrants = true;
    for (const grantee of grantees(header, value)) grants.push({ grantee, permission: PERMISSIONS[word] });
  }
  if (grants.length > MAX_GRANTS) throw tooManyGrants();
  if (name === null) return hasGrants ? { grants } : null;
  if (hasGrants) throw new StoreError("InvalidRequest", "x-amz-acl and x-amz-grant- headers do not go together");
  const canned = CANNED_ACLS.find((known) => known === name);
  if (!canned) throw new StoreError("InvalidArgument", `x-amz-acl must be one of ${CANNED_ACLS.join(", ")}`);
  return { canned };
}

/** One grantee of a list such as `id="…", uri="…"`; clients leave the quotes out, too. */
const GRANTEE = /[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^",\s]+))[ \t]*(,|$)/y;

function grantees(header: string, value: string): NamedGrantee[] {
  const found: NamedGrantee[] = [];
  GRANTEE.lastIndex = 0;
  for (let more = true; more;) {
    const match = GRANTEE.exec(value);
    if (!match) throw new StoreError("InvalidArgument", `The header ${header} must be a list of id="…" and uri="…"`);
    const [, kind, quoted, plain, separator] = match;
    found.push(granteeOf(header, kind.toLowerCase(), quoted ?? plain));
    more = separator === ",";
  }
  return found;
}

function granteeOf(header: string, kind: string, value: string): NamedGrantee {
  if (kind === "id") return { id: value };
  if (kind === "uri") return { uri: value };
  if (kind === "emailaddress") throw new StoreError("UnresolvableGrantByEmailAddress");
  throw new StoreError("InvalidArgument", `The header ${header} may name an id or a uri`);
}

/** The grantee of a grant on the wire: a user by GUID, or a group by URI. */
export type NamedGrantee = { id: string } | { uri: string };

/** A grant as it is on the wire, in a header or in XML. */
export interface NamedGrant {
  grantee: NamedGrantee;
  permission: AclPermission;
}

/** The error for an access list with more grants than S3 allows. */
function tooManyGrants(): StoreError {
  return new StoreError("MalformedACLError", `An access list may have ${MAX_GRANTS} grants at most`);
}

/** A grant for display: users with their names. */
export type DisplayedGrant = NamedGrant & { displayName?: string };

/** The inside of an AccessControlPolicy element. */
export function aclContent(
  owner: { readonly id: string; readonly displayName: string } | null,
  grants: readonly DisplayedGrant[],
): string {
  const ownerXml = owner ? `<Owner>${element("ID", owner.id)}${element("DisplayName", owner.displayName)}</Owner>` : "";
  return `${ownerXml}<AccessControlList>${grants.map(grantElement).join("")}</AccessControlList>`;
}

/**
 * Reads an AccessControlPolicy element: the GUID of the owner that it names, if it names one, and its grants. The
 * element that names a grantee determines its type; `xsi:type` repeats it and is ignored.
 *
 * @throws {StoreError} MalformedACLError, UnresolvableGrantByEmailAddress
 */
export function readAclXml(policy: XmlElement): { owner: string | null; grants: NamedGrant[] } {
  const owner = only(policy, "Owner");
  const list = only(policy, "AccessControlList");
  if (!list) throw malformed("AccessControlPolicy must hold an AccessControlList");
  if (list.children.length > MAX_GRANTS) throw tooManyGrants();
  return { owner: owner && ownerId(owner), grants: list.children.map(readGrant) };
}

function ownerId(owner: XmlElement): string {
  const id = text(owner, "ID");
  if (id === null) throw malformed("Owner must have an ID");
  return id;
}

function readGrant(grant: XmlElement): NamedGrant {
  const grantee = only(grant, "Grantee");
  const permission = text(grant, "Permission");
  if (grant.name !== "Grant" || !grantee || permission === null) {
    throw malformed("An AccessControlList must hold Grant elements with Grantee and Permission");
  }
  const known = ACL_PERMISSIONS.find((one) => one === permission);
  if (!known) throw malformed("Permission is not one of S3's");
  return { grantee: readGrantee(grantee), permission: known };
}

function readGrantee(grantee: XmlElement): NamedGrantee {
  const [id, uri, email] = ["ID", "URI", "EmailAddress"].map((name) => text(grantee, name));
  if ([id, uri, email].filter((one) => one !== null).length !== 1) {
    throw malformed("A Grantee must have an ID or a URI");
  }
  if (email !== null) throw new StoreError("UnresolvableGrantByEmailAddress");
  return id !== null ? { id } : { uri: uri ?? "" };
}

function grantElement({ grantee, permission, displayName }: DisplayedGrant): string {
  const [type, content] = "id" in grantee
    ? ["CanonicalUser", element("ID", grantee.id) + (displayName ? element("DisplayName", displayName) : "")]
    : ["Group", element("URI", grantee.uri)];
  return `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}">${content}</Grantee>` +
    `${element("Permission", permission)}</Grant>`;
}

function only(parent: XmlElement, name: string): XmlElement | null {
  const found = parent.children.filter((child) => child.name === name);
  if (found.length > 1) throw malformed(`${name} may occur once`);
  return found[0] ?? null;
}

function text(parent: XmlElement, name: string): string | null {
  try {
    return childText(parent, name)?.trim() ?? null;
  } catch {
    throw malformed(`${name} must be one text`);
  }
}

function malformed(what: string): StoreError {
  return new StoreError("MalformedACLError", what);
}
