import type { AccessControlPolicy, Grantee as SdkGrantee, Permission } from "@aws-sdk/client-s3";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { S3 } from "./s3_client.ts";
import { S3Failure } from "./s3_errors.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { MalformedXml, type Owner, ownerOf, requireXml } from "./s3_xml.ts";

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

interface AccessList {
  readonly owner: Owner | null;
  readonly grants: readonly Grant[];
}

/** A list to set; an absent member stays as it is. */
export interface NewAccessList {
  readonly owner?: { readonly ID: string | null; readonly DisplayName?: string | null } | null;
  readonly grants?: readonly Grant[] | null;
}

/**
 * The codes for an ID, URI or address of an account or group that the store does not know (S3 API, PutBucketAcl).
 * Nothing else in a list can be an invalid argument, since the request was validated.
 */
const UNKNOWN_ACCOUNT: ReadonlySet<string | null> = new Set(["InvalidArgument", "UnresolvableGrantByEmailAddress"]);

/** The access control list of a bucket or object. @throws HttpError as {@link callSdk} */
export async function getAcl(s3: S3, caller: Caller, target: AclTarget): Promise<AccessList> {
  const operation = target.key === undefined ? "GetBucketAcl" : "GetObjectAcl";
  return await callSdk(s3, caller, { operation, ...target }, listOf);
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
  const { owner, grants } = list.owner && list.grants ? list : await completed(s3, caller, target, list);
  // Absent members may be null, which the SDK takes like undefined.
  const AccessControlPolicy = { Owner: owner, Grants: grants } as AccessControlPolicy;
  const operation = target.key === undefined ? "PutBucketAcl" : "PutObjectAcl";
  const sent = callSdkForHeaders(s3, caller, { operation, ...target, input: { AccessControlPolicy } });
  await sent.catch((error) => {
    throw error instanceof S3Failure && UNKNOWN_ACCOUNT.has(error.code) ? new HttpError(404, error.detail) : error;
  });
}

async function completed(s3: S3, caller: Caller, target: AclTarget, list: NewAccessList): Promise<NewAccessList> {
  let present: NewAccessList = { owner: null, grants: [] };
  try {
    present = await getAcl(s3, caller, target);
  } catch (error) {
    // A document without the present grants would remove all of them.
    if (!(error instanceof HttpError) || error.status !== 403 || !list.grants) throw error;
  }
  return { owner: list.owner ?? present.owner, grants: list.grants ?? present.grants };
}
