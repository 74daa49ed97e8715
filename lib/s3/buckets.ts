import type {
  AccessControlPolicy,
  BucketLocationConstraint,
  CORSConfiguration,
  Grantee as SdkGrantee,
  Permission,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3ForHeaders, type S3 } from "./s3_client.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { isoTime, MalformedXml, type Owner, owner, ownerOf, requireXml, whole } from "./s3_xml.ts";
import { S3Failure } from "./s3_errors.ts";

const DEFAULT_REGION = "us-east-1";

export const bucketList = z.object({
  buckets: z.array(z.object({ Name: z.string(), CreationDate: z.string().nullable() })),
  owner: owner.nullable(),
});
export type BucketList = z.output<typeof bucketList>;

/** The buckets the caller may see. @throws HttpError as {@link callSdk} */
export async function listBuckets(s3: S3, caller: Caller): Promise<BucketList> {
  return await callSdk(s3, caller, { operation: "ListBuckets", resource: "buckets" }, ({ Buckets = [], Owner }) => ({
    buckets: Buckets.map(({ Name, CreationDate }) => {
      if (Name === undefined) throw new MalformedXml("a bucket without a name");
      return { Name, CreationDate: isoTime(CreationDate) };
    }),
    owner: ownerOf(Owner),
  }));
}

/** Creates a bucket. @throws HttpError 409 when the name is taken, 400 when it is not a bucket name */
export async function createBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  const LocationConstraint = s3.region as BucketLocationConstraint;
  const input = s3.region === DEFAULT_REGION ? {} : { CreateBucketConfiguration: { LocationConstraint } };
  await callSdkForHeaders(s3, caller, { operation: "CreateBucket", bucket, input });
}

/** Resolves when the bucket exists. @throws HttpError 404, 403 */
export async function headBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  await callSdkForHeaders(s3, caller, { operation: "HeadBucket", bucket });
}

/** Deletes an empty bucket. @throws HttpError 404, 409 when it is not empty */
export async function deleteBucket(s3: S3, caller: Caller, bucket: string): Promise<void> {
  await callSdkForHeaders(s3, caller, { operation: "DeleteBucket", bucket });
}

/** The states of a bucket's versioning; before it is first set it has none. */
export const VERSIONING_STATES = ["Enabled", "Suspended"] as const;
type VersioningState = typeof VERSIONING_STATES[number];

export const versioning = z.object({
  status: z.enum(VERSIONING_STATES).nullable().meta({ description: "Null if versioning was never enabled" }),
  mfa_delete: z.string().nullable(),
});
type Versioning = z.output<typeof versioning>;

/** A bucket's versioning. @throws HttpError as {@link callSdk} */
export async function getVersioning(s3: S3, caller: Caller, bucket: string): Promise<Versioning> {
  return await callSdk(s3, caller, { operation: "GetBucketVersioning", bucket }, ({ Status, MFADelete }) => ({
    status: VERSIONING_STATES.find((known) => known === Status) ?? null,
    mfa_delete: MFADelete || null,
  }));
}

/** Sets a bucket's versioning. @throws HttpError as {@link callSdk} */
export async function setVersioning(s3: S3, caller: Caller, bucket: string, Status: VersioningState): Promise<void> {
  const input = { VersioningConfiguration: { Status } };
  await callSdkForHeaders(s3, caller, { operation: "PutBucketVersioning", bucket, input });
}

/** A CORS rule, members named as in S3; null where the rule has none. */
interface CorsRule {
  ID?: string;
  AllowedHeaders: string[] | null;
  AllowedMethods: string[] | null;
  AllowedOrigins: string[] | null;
  ExposeHeaders: string[] | null;
  /** How long a browser may cache the response to a preflight, s. */
  MaxAgeSeconds: number | null;
}

/** A rule to set. */
type NewCorsRule = { readonly [Member in keyof CorsRule]?: Readonly<CorsRule[Member]> | null };

/** A bucket's CORS rules. @throws HttpError 404 where it has none, else as {@link callSdk} */
export async function getCors(s3: S3, caller: Caller, bucket: string): Promise<CorsRule[]> {
  return await callSdk(
    s3,
    caller,
    { operation: "GetBucketCors", bucket },
    ({ CORSRules = [] }) =>
      CORSRules.map((rule) => ({
        AllowedHeaders: rule.AllowedHeaders ?? null,
        AllowedMethods: rule.AllowedMethods ?? null,
        AllowedOrigins: rule.AllowedOrigins ?? null,
        ExposeHeaders: rule.ExposeHeaders ?? null,
        MaxAgeSeconds: whole(rule.MaxAgeSeconds),
        ...rule.ID === undefined ? {} : { ID: rule.ID },
      })),
  );
}

/** Replaces a bucket's CORS rules. @throws HttpError 400 naming a text with a character not allowed in XML */
export async function putCors(
  s3: S3,
  caller: Caller,
  bucket: string,
  CORSRules: readonly NewCorsRule[],
): Promise<void> {
  requireXml({ CORSRules });
  // Absent members may be null, which the SDK takes like undefined.
  const CORSConfiguration = { CORSRules } as CORSConfiguration;
  await callSdkForHeaders(s3, caller, { operation: "PutBucketCors", bucket, input: { CORSConfiguration } });
}

/**
 * Deletes a bucket's CORS rules. S3 reports success also where there are none, so the rules are looked up first: a
 * second delete is 404 (spec, Errors). For a caller who may not read them the store's response decides.
 *
 * @throws HttpError 404 where there are none
 */
export async function deleteCors(s3: S3, caller: Caller, bucket: string): Promise<void> {
  try {
    await callS3ForHeaders(s3, caller, { operation: "GetBucketCors", method: "GET", bucket, query: [["cors", ""]] });
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 403) throw error;
  }
  await callSdkForHeaders(s3, caller, { operation: "DeleteBucketCors", bucket });
}

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
