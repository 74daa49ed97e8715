import { type Owner, ownerIn } from "./owner.ts";
import { xmlDocument, xmlElement } from "./write_xml.ts";
import { MalformedXml } from "./xml.ts";
import { readTree, type XmlElement } from "./xml_tree.ts";

/** Who is granted something, members named as S3 names them. */
export type Grantee =
  | { readonly Type: "CanonicalUser"; readonly ID: string | null; readonly DisplayName?: string | null }
  | { readonly Type: "Group"; readonly URI: string }
  | { readonly Type: "AmazonCustomerByEmail"; readonly EmailAddress: string };

export const PERMISSIONS = ["FULL_CONTROL", "READ", "WRITE", "READ_ACP", "WRITE_ACP"] as const;

export interface Grant {
  readonly Grantee: Grantee;
  readonly Permission: string;
}

export interface AccessList {
  readonly owner: Owner | null;
  readonly grants: readonly Grant[];
}

/** What is to be set; the part that is absent stays as it is. */
export interface NewAccessList {
  readonly owner?: { readonly ID: string; readonly DisplayName?: string | null } | null;
  readonly grants?: readonly Grant[] | null;
}

/** The document that sets a list. @throws HttpError 400 naming a member that XML cannot carry */
export function aclDocument({ owner, grants }: NewAccessList | AccessList): string {
  const ownerXml = owner
    ? `<Owner>${xmlElement("ID", owner.ID, "Owner.ID")}${
      xmlElement("DisplayName", owner.DisplayName, "Owner.DisplayName")
    }</Owner>`
    : "";
  const list = (grants ?? []).map((grant, index) => grantElement(grant, `Grants.${index}`)).join("");
  return xmlDocument("AccessControlPolicy", `${ownerXml}<AccessControlList>${list}</AccessControlList>`);
}

function grantElement({ Grantee: grantee, Permission }: Grant, field: string): string {
  const inside = grantee.Type === "CanonicalUser"
    ? xmlElement("ID", grantee.ID, `${field}.Grantee.ID`) +
      xmlElement("DisplayName", grantee.DisplayName, `${field}.Grantee.DisplayName`)
    : grantee.Type === "Group"
    ? xmlElement("URI", grantee.URI, `${field}.Grantee.URI`)
    : xmlElement("EmailAddress", grantee.EmailAddress, `${field}.Grantee.EmailAddress`);
  return `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${grantee.Type}">${inside}` +
    `</Grantee>${xmlElement("Permission", Permission, `${field}.Permission`)}</Grant>`;
}

/**
 * Reads a GetBucketAcl or GetObjectAcl answer. Attributes are not read, and not needed: the members of a grantee show
 * what it is.
 *
 * @throws MalformedXml when it is no such answer
 */
export function parseAcl(xml: string): AccessList {
  const root = readTree(xml, "AccessControlPolicy");
  const grants = root.all("AccessControlList", "Grant").map((grant): Grant => {
    const Permission = grant.text("Permission");
    if (Permission === null) throw new MalformedXml("a grant without a permission");
    return { Grantee: granteeOf(grant), Permission: Permission.trim() };
  });
  return { owner: ownerIn(root), grants };
}

function granteeOf(grant: XmlElement): Grantee {
  const member = (name: string) => grant.text("Grantee", name);
  const URI = member("URI");
  if (URI !== null) return { Type: "Group", URI };
  const EmailAddress = member("EmailAddress");
  if (EmailAddress !== null) return { Type: "AmazonCustomerByEmail", EmailAddress };
  // A store without lists of its own (MinIO) returns one grant, to a user without a name.
  return { Type: "CanonicalUser", ID: member("ID"), DisplayName: member("DisplayName") };
}
