import { xmlBody, xmlElement } from "./write_xml.ts";
import { MalformedXml } from "./xml.ts";
import { readTree, type XmlElement } from "./xml_tree.ts";
import { type Owner, ownerIn } from "./xml_values.ts";

/** Who has a grant, members named as in S3. */
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

/** A list to set; an absent member stays as it is. */
export interface NewAccessList {
  readonly owner?: { readonly ID: string; readonly DisplayName?: string | null } | null;
  readonly grants?: readonly Grant[] | null;
}

/** The request document that sets a list. @throws HttpError 400 naming a member with a character not allowed in XML */
export function aclDocument({ owner, grants }: NewAccessList | AccessList) {
  const ownerXml = owner
    ? `<Owner>${xmlElement("ID", owner.ID, "Owner.ID")}${
      xmlElement("DisplayName", owner.DisplayName, "Owner.DisplayName")
    }</Owner>`
    : "";
  const list = (grants ?? []).map((grant, index) => grantElement(grant, `Grants.${index}`)).join("");
  return xmlBody("AccessControlPolicy", `${ownerXml}<AccessControlList>${list}</AccessControlList>`);
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
 * Reads a GetBucketAcl or GetObjectAcl response. Attributes are not read: the members of a grantee show its type.
 *
 * @throws MalformedXml for any other document
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
  // A store without access control lists (MinIO) returns one grant, to a user without an ID.
  return { Type: "CanonicalUser", ID: member("ID"), DisplayName: member("DisplayName") };
}
