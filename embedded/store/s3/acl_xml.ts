import { MAX_GRANTS } from "@/embedded/store/acl.ts";
import { isAclPermission, type NamedGrant, type NamedGrantee, tooManyGrants, unresolvable } from "./acl_headers.ts";
import { childText, type XmlElement } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import { element } from "./xml.ts";

/** An account as S3's XML shows one. */
interface DisplayedAccount {
  id: string;
  displayName: string;
}

/** A grant for display: users with their names. */
export type DisplayedGrant = NamedGrant & { displayName?: string };

/** The inside of an AccessControlPolicy element. */
export function aclContent(owner: DisplayedAccount | null, grants: readonly DisplayedGrant[]): string {
  const ownerXml = owner ? `<Owner>${element("ID", owner.id)}${element("DisplayName", owner.displayName)}</Owner>` : "";
  return `${ownerXml}<AccessControlList>${grants.map(grantElement).join("")}</AccessControlList>`;
}

/**
 * Reads an AccessControlPolicy element: the GUID of the owner that it names, if it names one, and its grants. The
 * element that names a grantee determines its type; `xsi:type` repeats it and is ignored.
 *
 * @throws {S3Error} MalformedACLError, UnresolvableGrantByEmailAddress
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
  if (!isAclPermission(permission)) throw malformed("Permission is not one of S3's");
  return { grantee: readGrantee(grantee), permission };
}

function readGrantee(grantee: XmlElement): NamedGrantee {
  const [id, uri, email] = ["ID", "URI", "EmailAddress"].map((name) => text(grantee, name));
  if ([id, uri, email].filter((one) => one !== null).length !== 1) {
    throw malformed("A Grantee must have an ID or a URI");
  }
  if (email !== null) throw unresolvable();
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

function malformed(what: string): S3Error {
  return new S3Error("MalformedACLError", what);
}
