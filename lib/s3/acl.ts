import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3, type S3 } from "./client.ts";
import type { Owner } from "./list_xml.ts";
import { readXml } from "./read_xml.ts";
import { xmlDocument, xmlElement, xmlHeaders } from "./write_xml.ts";
import { MalformedXml, scanXml } from "./xml.ts";
import { mustBeUnder } from "./xml_values.ts";

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

/** A bucket, or an object in it. */
export interface AclTarget {
  readonly bucket: string;
  readonly key?: string;
}

const QUERY = [["acl", ""]] as const;

/** Who may do what with a bucket or object. @throws HttpError as {@link callS3} */
export async function getAcl(s3: S3, caller: Caller, target: AclTarget): Promise<AccessList> {
  const resource = resourceOf(target);
  const response = await callS3(s3, caller, { method: "GET", ...target, query: QUERY, resource });
  return await readXml(response, parseAcl, resource);
}

/**
 * Sets an access control list. S3 wants owner and grants in one document, so a missing half is read first; where the
 * caller may write the list but not read it, the document goes without that half.
 *
 * @throws HttpError as {@link callS3}; 400 naming a member that XML cannot carry
 */
export async function putAcl(s3: S3, caller: Caller, target: AclTarget, list: NewAccessList): Promise<void> {
  const whole = list.owner && list.grants ? { owner: list.owner, grants: list.grants } : null;
  const { owner, grants } = whole ?? await completed(s3, caller, target, list);
  const body = aclDocument(owner, grants);
  const response = await callS3(s3, caller, {
    method: "PUT",
    ...target,
    query: QUERY,
    headers: xmlHeaders(body),
    body,
    resource: resourceOf(target),
  });
  await response.body?.cancel();
}

async function completed(s3: S3, caller: Caller, target: AclTarget, list: NewAccessList): Promise<AccessList> {
  let present: AccessList = { owner: null, grants: [] };
  try {
    present = await getAcl(s3, caller, target);
  } catch (error) {
    // Without the present grants, a list without grants would take all of them away.
    if (!(error instanceof HttpError) || error.status !== 403 || !list.grants) throw error;
  }
  const { owner, grants } = list;
  return {
    owner: owner ? { ID: owner.ID, DisplayName: owner.DisplayName ?? null } : present.owner,
    grants: grants ?? present.grants,
  };
}

function aclDocument(owner: NewAccessList["owner"] | Owner, grants: readonly Grant[]): string {
  const ownerXml = owner
    ? `<Owner>${xmlElement("ID", owner.ID, "Owner.ID")}${
      xmlElement("DisplayName", owner.DisplayName, "Owner.DisplayName")
    }</Owner>`
    : "";
  const list = grants.map((grant, index) => grantElement(grant, `Grants.${index}`)).join("");
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

/** The scanner drops attributes, and needs none here: what a grantee is shows in its members. */
function parseAcl(xml: string): AccessList {
  const root = "AccessControlPolicy";
  const owner: { DisplayName: string | null; ID: string | null } = { DisplayName: null, ID: null };
  const grants: Grant[] = [];
  let members: Record<string, string> = {};
  scanXml(xml, {
    leaf(path, text) {
      switch (path) {
        case "AccessControlPolicy/Owner/ID":
          owner.ID = text;
          return;
        case "AccessControlPolicy/Owner/DisplayName":
          owner.DisplayName = text;
          return;
        case "AccessControlPolicy/AccessControlList/Grant/Grantee/ID":
          members.ID = text;
          return;
        case "AccessControlPolicy/AccessControlList/Grant/Grantee/DisplayName":
          members.DisplayName = text;
          return;
        case "AccessControlPolicy/AccessControlList/Grant/Grantee/URI":
          members.URI = text;
          return;
        case "AccessControlPolicy/AccessControlList/Grant/Grantee/EmailAddress":
          members.EmailAddress = text;
          return;
        case "AccessControlPolicy/AccessControlList/Grant/Permission":
          members.Permission = text.trim();
          return;
        default:
          mustBeUnder(path, root);
      }
    },
    close(path) {
      mustBeUnder(path, root);
      if (path !== "AccessControlPolicy/AccessControlList/Grant") return;
      if (members.Permission === undefined) throw new MalformedXml("a grant without a permission");
      grants.push({ Grantee: granteeOf(members), Permission: members.Permission });
      members = {};
    },
  });
  return { owner: owner.ID === null && owner.DisplayName === null ? null : owner, grants };
}

function granteeOf(members: Readonly<Record<string, string>>): Grantee {
  if (members.URI !== undefined) return { Type: "Group", URI: members.URI };
  if (members.EmailAddress !== undefined) {
    return { Type: "AmazonCustomerByEmail", EmailAddress: members.EmailAddress };
  }
  // A store without lists of its own (MinIO) answers one grant, to a user without a name.
  return { Type: "CanonicalUser", ID: members.ID ?? null, DisplayName: members.DisplayName ?? null };
}

function resourceOf({ bucket, key }: AclTarget): string {
  return key === undefined ? `bucket '${bucket}'` : `object '${key}'`;
}
