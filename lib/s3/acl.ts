import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { type AccessList, aclDocument, type NewAccessList, parseAcl } from "./acl_xml.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { S3Failure } from "./errors.ts";
import { callS3ForXml } from "./read_xml.ts";

/** A bucket, or an object in it. */
interface AclTarget {
  readonly bucket: string;
  readonly key?: string;
}

const QUERY = [["acl", ""]] as const;

/**
 * The codes for an ID, URI or address of an account or group that the store does not know (S3 API, PutBucketAcl).
 * Nothing else in a list can be an invalid argument, since the request was validated.
 */
const UNKNOWN_ACCOUNT: ReadonlySet<string | null> = new Set(["InvalidArgument", "UnresolvableGrantByEmailAddress"]);

/** The access control list of a bucket or object. @throws HttpError as {@link callS3} */
export async function getAcl(s3: S3, caller: Caller, target: AclTarget): Promise<AccessList> {
  return await callS3ForXml(s3, caller, { method: "GET", ...target, query: QUERY }, parseAcl);
}

/**
 * Sets an access control list. S3 expects owner and grants in one document, so a missing half is read first. A caller
 * who may write the list but not read it sends the document without that half.
 *
 * @throws HttpError as {@link callS3}; 400 naming a member with a character that XML does not allow; 404 for an
 *   account or a group that the store does not know
 */
export async function putAcl(s3: S3, caller: Caller, target: AclTarget, list: NewAccessList): Promise<void> {
  const complete = list.owner && list.grants ? { owner: list.owner, grants: list.grants } : null;
  const document = aclDocument(complete ?? await completed(s3, caller, target, list));
  await callS3ForHeaders(s3, caller, { method: "PUT", ...target, query: QUERY, ...document }).catch((error) => {
    throw error instanceof S3Failure && UNKNOWN_ACCOUNT.has(error.code) ? new HttpError(404, error.detail) : error;
  });
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
