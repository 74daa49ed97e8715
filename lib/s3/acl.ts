import type { AccessControlPolicy, Grantee as SdkGrantee, Permission } from "@aws-sdk/client-s3";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { S3 } from "./client.ts";
import { S3Failure } from "./errors.ts";
import { callSdk, callSdkForHeaders, PLACE, type Sdk } from "./sdk.ts";
import { requireXml } from "./write_xml.ts";
import { MalformedXml } from "./xml.ts";
import { type Owner, ownerOf } from "./xml_values.ts";

/** A bucket, or an object in it. */
interface AclTarget {
  readonly bucket: string;
  readonly key?: string;
}

/** Who has a grant, members named as in S3. */
export type Grantee =
  | { readonly Type: "CanonicalUser"; readonly ID: string | null; readonly DisplayName?: string | null }
  | { readonly Type: "Group"; readonly URI: string }
  | { readonly Type: "AmazonCustomerByEmail"; readonly EmailAddress: string };

export const PERMISSIONS = ["FULL_CONTROL", "READ", "WRITE", "READ_ACP", "WRITE_ACP"] as const;

export interface Grant {
  readonly Grantee: Grantee;
  readonly Permission: Permission;
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

/**
 * The codes for an ID, URI or address of an account or group that the store does not know (S3 API, PutBucketAcl).
 * Nothing else in a list can be an invalid argument, since the request was validated.
 */
const UNKNOWN_ACCOUNT: ReadonlySet<string | null> = new Set(["InvalidArgument", "UnresolvableGrantByEmailAddress"]);

/** The access control list of a bucket or object. @throws HttpError as {@link callSdk} */
export async function getAcl(s3: S3, caller: Caller, target: AclTarget): Promise<AccessList> {
  const call = { ...target, root: "AccessControlPolicy" };
  return target.key === undefined
    ? await callSdk(s3, caller, { ...call, command: (sdk: Sdk) => new sdk.GetBucketAclCommand(PLACE) }, listOf)
    : await callSdk(s3, caller, { ...call, command: (sdk: Sdk) => new sdk.GetObjectAclCommand(PLACE) }, listOf);
}

function listOf({ Owner, Grants = [] }: AccessControlPolicy): AccessList {
  const grants = Grants.map(({ Grantee, Permission }): Grant => {
    if (Permission === undefined) throw new MalformedXml("a grant without a permission");
    return { Grantee: granteeOf(Grantee), Permission };
  });
  return { owner: ownerOf(Owner), grants };
}

/** The members of a grantee show its type. */
function granteeOf({ URI, EmailAddress, ID, DisplayName }: Partial<SdkGrantee> = {}): Grantee {
  if (URI !== undefined) return { Type: "Group", URI };
  if (EmailAddress !== undefined) return { Type: "AmazonCustomerByEmail", EmailAddress };
  // A store without access control lists (MinIO) returns one grant, to a user without an ID.
  return { Type: "CanonicalUser", ID: ID ?? null, DisplayName: DisplayName ?? null };
}

/**
 * Sets an access control list. S3 expects owner and grants in one document, so a missing half is read first. A caller
 * who may write the list but not read it sends the document without that half.
 *
 * @throws HttpError as {@link callSdk}; 400 naming a member with a character that XML does not allow; 404 for an
 *   account or a group that the store does not know
 */
export async function putAcl(s3: S3, caller: Caller, target: AclTarget, list: NewAccessList): Promise<void> {
  requireXml({ Owner: list.owner, Grants: list.grants });
  const complete = list.owner && list.grants ? { owner: list.owner, grants: list.grants } : null;
  const AccessControlPolicy = policyOf(complete ?? await completed(s3, caller, target, list));
  const input = { ...PLACE, AccessControlPolicy };
  const sent = target.key === undefined
    ? callSdkForHeaders(s3, caller, { ...target, command: (sdk) => new sdk.PutBucketAclCommand(input) })
    : callSdkForHeaders(s3, caller, { ...target, command: (sdk) => new sdk.PutObjectAclCommand(input) });
  await sent.catch((error) => {
    throw error instanceof S3Failure && UNKNOWN_ACCOUNT.has(error.code) ? new HttpError(404, error.detail) : error;
  });
}

function policyOf({ owner, grants }: NewAccessList | AccessList): AccessControlPolicy {
  return {
    Owner: owner ? { ID: owner.ID ?? undefined, DisplayName: owner.DisplayName ?? undefined } : undefined,
    Grants: (grants ?? []).map(({ Grantee, Permission }) => ({
      Grantee: Grantee.Type === "CanonicalUser"
        ? { ...Grantee, ID: Grantee.ID ?? undefined, DisplayName: Grantee.DisplayName ?? undefined }
        : Grantee,
      Permission,
    })),
  };
}

async function completed(s3: S3, caller: Caller, target: AclTarget, list: NewAccessList): Promise<AccessList> {
  let present: AccessList = { owner: null, grants: [] };
  try {
    present = await getAcl(s3, caller, target);
  } catch (error) {
    // A document without the present grants would remove all of them.
    if (!(error instanceof HttpError) || error.status !== 403 || !list.grants) throw error;
  }
  const { owner, grants } = list;
  return {
    owner: owner ? { ID: owner.ID, DisplayName: owner.DisplayName ?? null } : present.owner,
    grants: grants ?? present.grants,
  };
}
